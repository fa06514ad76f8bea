//! `[model]`: the shape of the decoder, or the folder of one that was trained elsewhere.

use crate::corpus::config::Source;
use crate::error::Fixable;
use crate::export::folder::ModelFolder;
use crate::model::config::ModelConfig;

use super::asked::Weights;
use super::files::Files;
use super::kind::{Integer, Kind as _, TEXT};
use super::problem::Problem;
use super::source::Place;
use super::table::Section;

/// The shape, and the weights where they are not to be trained: then `imported` is the place that names their folder.
pub(super) fn model(s: &mut Section, files: &Files, imported: Option<&Place>) -> Option<(ModelConfig, Option<Weights>)> {
    let path = s.peek("weights", &TEXT);
    let Some(place) = imported else { return shape(s).map(|shape| (shape, None)) };
    for key in ["layers", "heads", "width", "hidden", "context"] {
        s.idle(key, place, "the shape of a model comes with its weights");
    }
    let path = files.beside_place(&path?, place);
    s.record("weights", TEXT.toml(&path.to_string_lossy().into_owned()));
    let read = ModelFolder::open(&path).and_then(|folder| match files.source(&folder.weights) {
        Ok(Source::File { blake3, .. }) => Ok((folder.model, Weights::Import { name: folder.name, blake3 })),
        Ok(Source::Month { .. }) => unreachable!("a file is no month"),
        Err(problem) => Err(Fixable::usage(problem).into()),
    });
    match read {
        Ok((shape, weights)) => Some((shape, Some(weights))),
        Err(error) => {
            let hint = crate::error::hint_of(&error);
            s.report(Problem::new(place, s.name("weights"), format!("{error:#}")), hint);
            None
        }
    }
}

fn shape(s: &mut Section) -> Option<ModelConfig> {
    let layers = s.get("layers", &Integer::between(1, 1024));
    let heads = s.get("heads", &Integer::between(1, 1024));
    let width = s.get("width", &Integer::between(2, 65_536));
    let hidden = s.get("hidden", &Integer::between(1, 1 << 20));
    let context = s.get("context", &Integer::between(8, 65_536));
    if let (Some(heads), Some(width)) = (heads, width) {
        heads_fit(s, heads, width);
    }
    Some(ModelConfig { layers: layers?, heads: heads?, width: width?, hidden: hidden?, context: context? })
}

/// Rotary positions turn pairs of numbers, so a head is a whole and even number wide.
fn heads_fit(s: &Section, heads: u32, width: u32) {
    let fits = |heads: &u32| width.is_multiple_of(*heads) && (width / heads).is_multiple_of(2);
    if fits(&heads) {
        return;
    }
    let below = (1..heads).rev().find(fits);
    let above = (heads + 1..=width).find(fits);
    let message = if width.is_multiple_of(heads) {
        format!("`model.width` {width} over {heads} heads makes a head {} wide, which is odd", width / heads)
    } else {
        format!("`model.heads` is {heads}, but `model.width` {width} is not a multiple of it")
    };
    let hint = match (below, above) {
        (Some(below), Some(above)) => format!("try heads = {below} or {above}"),
        (Some(one), None) | (None, Some(one)) => format!("try heads = {one}"),
        (None, None) => "an even width can be cut into heads".to_owned(),
    };
    s.refuse("heads", &["width"], message, &hint);
}
