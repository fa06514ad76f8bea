//! The charts of a run, drawn and written: those of all points on all cores, and none twice.

use std::collections::HashMap;
use std::path::Path;

use anyhow::Result;
use fs_err as fs;

use super::charts::{self, Drawing, Section};
use super::cores::on_all_cores;
use super::page::Drawn;
use super::results::Results;

/// What the page of a sweep takes up of single points, in bytes, so that it stays below 3 MB: the charts of later points are left
/// to their files.
const MOST_OF_POINTS: usize = 1_300_000;
/// Of that, what each point takes up without its charts.
const WITHOUT_CHARTS: usize = 16_000;

/// A chart that has its numbers.
struct Asked {
    name: &'static str,
    table: &'static str,
    section: Option<Section>,
    point: Option<usize>,
    drawing: Drawing,
    wide: String,
}

/// Every chart that has its numbers, at both widths. One that equals an earlier one, of another point, is not drawn again.
pub(super) fn draw(results: &Results) -> Vec<Drawn> {
    let of_run = charts::OVERVIEW.iter().map(|chart| (chart.name, chart.table, None, None));
    let of_points = (0..results.points.len())
        .flat_map(|i| charts::CHARTS.iter().map(move |chart| (chart.name, chart.table, Some(chart.section), Some(i))));
    let all: Vec<_> = of_run.chain(of_points).collect();
    let asked = on_all_cores(&all, |at, &(name, table, section, point)| {
        let drawing = match point {
            None => (charts::OVERVIEW[at].draw)(results)?,
            Some(i) => (charts::CHARTS[(at - charts::OVERVIEW.len()) % charts::CHARTS.len()].draw)(results, &results.points[i])?,
        };
        let wide = charts::svg(&drawing, charts::WIDE);
        Some(Asked { name, table, section, point, drawing, wide })
    });
    let asked: Vec<Asked> = asked.into_iter().flatten().collect();
    let same = repeated(&asked);
    let linked = linked(&asked, &same, results.points.len());
    let narrow = on_all_cores(&asked, |at, asked| {
        let is_needed = same[at].is_none() && !linked[at];
        if is_needed { charts::svg(&asked.drawing, charts::NARROW) } else { String::new() }
    });
    let with_charts: Vec<bool> = (0..results.points.len())
        .map(|i| !asked.iter().zip(&linked).any(|(asked, linked)| *linked && asked.point == Some(i)))
        .collect();
    let drawn = asked.into_iter().zip(same).zip(linked.into_iter().zip(narrow));
    let cards = (0..results.points.len()).filter(|i| with_charts[*i]).flat_map(|i| cards(results, i));
    drawn
        .map(|((asked, same), (linked, narrow))| {
            let Asked { name, table, section, point, drawing, wide } = asked;
            let file = file(results, name, point);
            Drawn { name, file, table, section, point, same, linked, wide, narrow, title: drawing.title, alt: drawing.alt }
        })
        .chain(cards)
        .collect()
}

/// The name of its files, without the ending: of several points, each has its number.
fn file(results: &Results, name: &str, point: Option<usize>) -> String {
    match point {
        Some(i) if results.points.len() > 1 => format!("{name}-{}", i + 1),
        _ => name.to_owned(),
    }
}

/// The pictures of a point that are shared.
fn cards(results: &Results, point: usize) -> Vec<Drawn> {
    let card = |charts::Card { name, svg, title }| {
        let file = file(results, name, Some(point));
        let (table, section, narrow, alt) = ("metrics", None, String::new(), String::new());
        Drawn { name, file, table, section, point: Some(point), same: None, linked: false, narrow, wide: svg, title, alt }
    };
    charts::cards(results, &results.points[point]).into_iter().map(card).collect()
}

/// The earlier point that has the very same chart.
fn repeated(asked: &[Asked]) -> Vec<Option<usize>> {
    let mut known: HashMap<&str, Option<usize>> = HashMap::new();
    asked
        .iter()
        .map(|asked| {
            let point = known.get(asked.wide.as_str()).copied();
            point.unwrap_or_else(|| {
                known.insert(&asked.wide, asked.point);
                None
            })
        })
        .collect()
}

/// Which charts are left to their files: those of whole points, once the page has enough.
fn linked(asked: &[Asked], same: &[Option<usize>], points: usize) -> Vec<bool> {
    let mut of_points = vec![0; points];
    for (asked, same) in asked.iter().zip(same) {
        if let (Some(i), None) = (asked.point, same) {
            // The narrow one is about as long.
            of_points[i] += 2 * asked.wide.len();
        }
    }
    let mut before = 0;
    let is_left: Vec<bool> = of_points
        .into_iter()
        .enumerate()
        .map(|(i, bytes)| {
            before += bytes;
            i > 0 && before > MOST_OF_POINTS.saturating_sub(points * WITHOUT_CHARTS)
        })
        .collect();
    asked.iter().map(|asked| asked.point.is_some_and(|i| is_left[i])).collect()
}

/// A chart that belongs to no run.
pub(super) fn drawn(name: &'static str, table: &'static str, drawing: Drawing) -> Drawn {
    let [wide, narrow] = [charts::WIDE, charts::NARROW].map(|width| charts::svg(&drawing, width));
    let (title, alt) = (drawing.title, drawing.alt);
    let file = name.to_owned();
    Drawn { name, file, table, section: None, point: None, same: None, linked: false, wide, narrow, title, alt }
}

/// Writes the charts as SVG and PNG, on all cores; what an earlier report left, and this one does not draw, goes.
pub(super) fn pictures(drawn: &[Drawn], dir: &Path) -> Result<()> {
    fs::create_dir_all(dir)?;
    let known: HashMap<&str, bool> =
        drawn.iter().filter(|drawn| drawn.same.is_none()).map(|drawn| (drawn.file.as_str(), drawn.linked)).collect();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let linked = path.file_stem().and_then(|stem| known.get(stem.to_str()?));
        let gone = match path.extension().and_then(|ending| ending.to_str()) {
            Some("svg") => linked.is_none(),
            Some("png") => linked.is_none_or(|linked| *linked),
            _ => false,
        };
        if gone {
            fs::remove_file(path)?;
        }
    }
    let fonts = charts::Fonts::load();
    let fresh: Vec<&Drawn> = drawn.iter().filter(|drawn| drawn.same.is_none()).collect();
    on_all_cores(&fresh, |_, drawn| picture(drawn, dir, &fonts)).into_iter().collect()
}

/// A picture is made of nothing but its SVG, and is written before it: where that is there and the same, so is the picture.
fn picture(drawn: &Drawn, dir: &Path, fonts: &charts::Fonts) -> Result<()> {
    let [svg, png] = ["svg", "png"].map(|ending| dir.join(format!("{}.{ending}", drawn.file)));
    let alone = charts::alone(&drawn.wide);
    if (drawn.linked || png.exists()) && fs::read(&svg).is_ok_and(|old| old == alone.as_bytes()) {
        return Ok(());
    }
    if svg.exists() {
        fs::remove_file(&svg)?;
    }
    if !drawn.linked {
        let beside = png.with_extension("png.new");
        fs::write(&beside, charts::png(&drawn.wide, fonts)?)?;
        fs::rename(beside, png)?;
    }
    Ok(fs::write(svg, alone)?)
}
