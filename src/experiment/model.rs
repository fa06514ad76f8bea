//! `[model]`: the shape of the decoder.

use crate::model::config::ModelConfig;

use super::kind::Integer;
use super::table::Section;

pub(super) fn model(s: &mut Section) -> Option<ModelConfig> {
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
