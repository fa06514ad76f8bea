//! What a run means: its results as tables, charts and one page. Always redrawn, from JSON files alone.
//!
//! Nothing here needs libtorch. What is missing leaves out a chart or a line; it never invents one.

mod charts;
pub mod compare;
#[cfg(test)]
pub(crate) mod fixture;
mod page;
mod published;
pub mod results;
mod settings;
mod tables;
mod tensorboard;
#[cfg(test)]
mod tests;
mod words;

use std::path::{Path, PathBuf};

use anyhow::Result;
use fs_err as fs;

use crate::store::Store;
use page::{Drawn, Page};

use results::Results;

pub use tensorboard::tensorboard;

/// Where the report went.
#[derive(Debug)]
pub struct Written {
    pub html: PathBuf,
    pub markdown: PathBuf,
    pub tables: PathBuf,
    pub charts: PathBuf,
}

/// Writes the report of a run, finished or not, into its folder: `report.html`, `report.md`, `tables/`, `charts/`.
///
/// # Errors
///
/// Where the folder is no run's, or cannot be written.
pub fn write(run_dir: &Path, store: &Store) -> Result<Written> {
    let results = Results::load(run_dir, store)?;
    let written = Written {
        html: run_dir.join("report.html"),
        markdown: run_dir.join("report.md"),
        tables: run_dir.join("tables"),
        charts: run_dir.join("charts"),
    };
    let drawn = draw(&results);
    // Tables and pictures are the dear parts, and independent of each other.
    let tables = std::thread::scope(|scope| {
        let tables = scope.spawn(|| tables::write(&results, &written.tables));
        let pictures = pictures(&drawn, &written.charts);
        let tables = tables.join().expect("a panic in a table is a bug, and is passed on");
        pictures.and(tables)
    })?;
    let page = Page::new(&results, &drawn, &tables);
    replace(&written.html, &page.html(false)?)?;
    replace(&written.markdown, &page.markdown()?)?;
    Ok(written)
}

/// The page of a run as it is now, which keeps itself up to date where it is served; nothing is written.
///
/// # Errors
///
/// As [`write()`].
pub fn live(run_dir: &Path, store: &Store) -> Result<String> {
    let results = Results::load(run_dir, store)?;
    Page::new(&results, &draw(&results), &[]).html(true)
}

/// Writes a file that is old or new, and never half. It can be drawn again, so nothing waits for the disk.
fn replace(path: &Path, text: &str) -> Result<()> {
    let beside = path.with_extension("new");
    fs::write(&beside, text)?;
    Ok(fs::rename(beside, path)?)
}

/// Every chart that has its numbers, at both widths. One that equals an earlier one, of another point, is not drawn again.
fn draw(results: &Results) -> Vec<Drawn> {
    let mut all: Vec<Drawn> = Vec::new();
    let overview =
        charts::OVERVIEW.iter().filter_map(|chart| Some((chart.name, chart.table, None, None, (chart.draw)(results)?)));
    let by_point = results.points.iter().enumerate().flat_map(|(i, point)| {
        charts::CHARTS
            .iter()
            .filter_map(move |chart| Some((chart.name, chart.table, Some(chart.section), Some(i), (chart.draw)(results, point)?)))
    });
    for (name, table, section, point, drawing) in overview.chain(by_point) {
        let wide = charts::svg(&drawing, charts::WIDE);
        let same = all.iter().find(|drawn| drawn.wide == wide).and_then(|drawn| drawn.point);
        let file = match point {
            Some(i) if results.points.len() > 1 => format!("{name}-{}", i + 1),
            _ => name.to_owned(),
        };
        let narrow = if same.is_some() { String::new() } else { charts::svg(&drawing, charts::NARROW) };
        all.push(Drawn { name, file, table, section, point, same, narrow, wide, title: drawing.title, alt: drawing.alt });
    }
    for (i, point) in results.points.iter().enumerate() {
        for charts::Card { name, svg, title } in charts::cards(results, point) {
            let file = if results.points.len() > 1 { format!("{name}-{}", i + 1) } else { name.to_owned() };
            let (narrow, alt) = (String::new(), String::new());
            all.push(Drawn {
                name,
                file,
                table: "metrics",
                section: None,
                point: Some(i),
                same: None,
                narrow,
                wide: svg,
                title,
                alt,
            });
        }
    }
    all
}

/// A chart that belongs to no run.
fn drawn(name: &'static str, table: &'static str, drawing: charts::Drawing) -> Drawn {
    let [wide, narrow] = [charts::WIDE, charts::NARROW].map(|width| charts::svg(&drawing, width));
    let (title, alt) = (drawing.title, drawing.alt);
    Drawn { name, file: name.to_owned(), table, section: None, point: None, same: None, wide, narrow, title, alt }
}

/// Writes the charts as SVG and PNG, on all cores; what an earlier report left, and this one does not draw, goes.
fn pictures(drawn: &[Drawn], dir: &Path) -> Result<()> {
    fs::create_dir_all(dir)?;
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let known = drawn.iter().any(|drawn| drawn.same.is_none() && path.file_stem().is_some_and(|stem| *stem == *drawn.file));
        if !known && path.extension().is_some_and(|ending| ending == "svg" || ending == "png") {
            fs::remove_file(path)?;
        }
    }
    let fonts = charts::Fonts::load();
    let fresh: Vec<&Drawn> = drawn.iter().filter(|drawn| drawn.same.is_none()).collect();
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(fresh.len().max(1));
    std::thread::scope(|scope| {
        let (fresh, fonts) = (&fresh, &fonts);
        let workers: Vec<_> = (0..threads)
            .map(|first| {
                scope.spawn(move || {
                    for drawn in fresh.iter().skip(first).step_by(threads) {
                        picture(drawn, dir, fonts)?;
                    }
                    Ok(())
                })
            })
            .collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a panic in a chart is a bug, and is passed on"))
    })
}

/// A picture is made of nothing but its SVG, and is written before it: where that is there and the same, so is the picture.
fn picture(drawn: &Drawn, dir: &Path, fonts: &charts::Fonts) -> Result<()> {
    let [svg, png] = ["svg", "png"].map(|ending| dir.join(format!("{}.{ending}", drawn.file)));
    let alone = charts::alone(&drawn.wide);
    if png.exists() && fs::read(&svg).is_ok_and(|old| old == alone.as_bytes()) {
        return Ok(());
    }
    if svg.exists() {
        fs::remove_file(&svg)?;
    }
    fs::write(png, charts::png(&drawn.wide, fonts)?)?;
    Ok(fs::write(svg, alone)?)
}
