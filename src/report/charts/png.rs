//! A picture of a chart, with the embedded font: the same bytes on every machine.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::canvas::on_surface;

/// Pixels of the picture in one of the chart.
const SCALE: f32 = 2.0;

/// The embedded faces; loaded once, shared by threads.
pub(crate) struct Fonts(Arc<fontdb::Database>);

impl Fonts {
    pub(crate) fn load() -> Self {
        let mut database = fontdb::Database::new();
        for face in [notosans::REGULAR_TTF, notosans::BOLD_TTF] {
            database.load_font_data(face.to_vec());
        }
        database.set_sans_serif_family("Noto Sans");
        Self(Arc::new(database))
    }
}

pub(crate) fn png(svg: &str, fonts: &Fonts) -> Result<Vec<u8>> {
    let options = Options { fontdb: Arc::clone(&fonts.0), font_family: "Noto Sans".to_owned(), ..Options::default() };
    let tree = Tree::from_str(&on_surface(svg), &options).context("reading a chart's own SVG")?;
    let size = tree.size().to_int_size().scale_by(SCALE).context("a chart without an area")?;
    let mut pixels = Pixmap::new(size.width(), size.height()).context("a chart without an area")?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().context("packing a chart as PNG")
}
