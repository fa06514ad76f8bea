//! Looks for texts of a chart that lie over each other or leave the sheet.

use crate::report::charts;

/// Text of an SVG of ours with its box in pixels: left, top, right, bottom.
fn texts(svg: &str) -> Vec<(String, [f64; 4])> {
    let attribute = |tag: &str, name: &str| {
        let from = tag.find(&format!(" {name}=\"")).map(|at| at + name.len() + 3)?;
        Some(tag[from..].split('"').next()?.to_owned())
    };
    let number = |tag: &str, name: &str| attribute(tag, name).and_then(|text| text.parse::<f64>().ok()).expect("a number") / 4.0;
    svg.split("<text")
        .skip(1)
        .map(|rest| {
            let (tag, content) = rest.split_once('>').expect("a tag ends");
            // The backend breaks the line before a text; a viewer does not show it.
            let content = content.split("</text>").next().expect("a text ends").trim_matches('\n');
            let content = content
                .replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&quot;", "\"")
                .replace("&apos;", "'")
                .replace("&amp;", "&");
            let bold = attribute(tag, "font-weight").is_some();
            let (x, y, size) = (number(tag, "x"), number(tag, "y"), number(tag, "font-size"));
            let width = charts::width(&content, size, bold);
            // Capitals and digits reach 0.72 em above the baseline, and tails 0.2 em below.
            let baseline = y + 0.76 * size;
            (content, [x, baseline - 0.72 * size, x + width, baseline + 0.2 * size])
        })
        .collect()
}

/// Texts that lie over each other, or outside of the sheet.
pub(super) fn collisions(svg: &str) -> Vec<String> {
    let size = |name: &str| {
        svg.split(&format!(" {name}=\"")).nth(1).and_then(|rest| rest.split('"').next()).and_then(|text| text.parse().ok())
    };
    let (width, height): (f64, f64) = (size("width").expect("a width"), size("height").expect("a height"));
    let texts = texts(svg);
    let mut found = Vec::new();
    for (i, (text, a)) in texts.iter().enumerate() {
        if a[0] < 0.0 || a[1] < 0.0 || a[2] > width + 0.5 || a[3] > height {
            found.push(format!("`{text}` leaves the sheet: {a:?} of {width} × {height}"));
        }
        for (other, b) in &texts[i + 1..] {
            if a[0].max(b[0]) + 0.3 < a[2].min(b[2]) && a[1].max(b[1]) + 0.3 < a[3].min(b[3]) {
                found.push(format!("`{text}` lies over `{other}`: {a:?} {b:?}"));
            }
        }
    }
    found
}

#[test]
fn the_check_finds_text_over_text_and_text_outside() {
    let sheet = |texts: &str| format!(r#"<svg xmlns="x" width="100" height="50" viewBox="0 0 400 200">{texts}</svg>"#);
    let text = |x: f64, y: f64| format!(r#"<text x="{x}" y="{y}" font-size="48">word</text>"#);
    assert!(collisions(&sheet(&(text(40.0, 10.0) + &text(40.0, 90.0)))).is_empty());
    assert_eq!(collisions(&sheet(&(text(40.0, 10.0) + &text(60.0, 30.0)))).len(), 1);
    assert_eq!(collisions(&sheet(&text(380.0, 10.0))).len(), 1);
}
