//! How every chart looks: two palettes, four sizes of type, and the width of text in the embedded font.
//!
//! The light palette is the published one. The dark one is held to the same tests: series at least 3 : 1 on the
//! surface, and as far apart for a colour-deficient eye as the published pair.

use std::sync::LazyLock;

use ttf_parser::Face;

/// The family that the embedded font calls itself, with what stands in where an SVG is looked at alone.
pub(crate) const FAMILY: &str = "Noto Sans, sans-serif";
/// Of titles, panel headings, labels and ticks, in pixels at a chart's own width.
pub(crate) const TITLE: f64 = 17.0;
pub(crate) const TEXT: f64 = 13.0;
pub(crate) const TICK: f64 = 12.0;
/// From one baseline to the next, in multiples of the size.
pub(crate) const LEADING: f64 = 1.35;

/// A colour by its role; each has a value in either theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hue {
    Surface,
    Ink,
    Soft,
    Faint,
    Grid,
    Blue,
    Orange,
}

impl Hue {
    pub(crate) const ALL: [Self; 7] = [Self::Surface, Self::Ink, Self::Soft, Self::Faint, Self::Grid, Self::Blue, Self::Orange];

    /// The name in style sheets.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Surface => "surface",
            Self::Ink => "ink",
            Self::Soft => "soft",
            Self::Faint => "faint",
            Self::Grid => "grid",
            Self::Blue => "blue",
            Self::Orange => "orange",
        }
    }

    pub(crate) const fn light(self) -> u32 {
        match self {
            Self::Surface => 0x00fc_fcfb,
            Self::Ink => 0x000b_0b0b,
            Self::Soft => 0x0052_514e,
            Self::Faint => 0x008a_8984,
            Self::Grid => 0x00e6_e5e1,
            Self::Blue => 0x002a_78d6,
            Self::Orange => 0x00eb_6834,
        }
    }

    pub(crate) const fn dark(self) -> u32 {
        match self {
            Self::Surface => 0x0016_1614,
            Self::Ink => 0x00f4_f3ef,
            Self::Soft => 0x00bd_bbb4,
            Self::Faint => 0x008a_8984,
            Self::Grid => 0x0032_312e,
            Self::Blue => 0x004b_98f2,
            Self::Orange => 0x00f5_7f3a,
        }
    }
}

/// `#2a78d6`.
pub(crate) fn hex(colour: u32) -> String {
    format!("#{colour:06x}")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    Bold,
}

/// The width of `text` in pixels. Kerning, which only ever tightens here, is left out: labels have room.
pub(crate) fn width(text: &str, size: f64, weight: Weight) -> f64 {
    static FACES: LazyLock<[Face<'static>; 2]> = LazyLock::new(|| {
        [notosans::REGULAR_TTF, notosans::BOLD_TTF].map(|bytes| Face::parse(bytes, 0).expect("the embedded font is a font"))
    });
    let face = &FACES[usize::from(weight == Weight::Bold)];
    let units: f64 = text
        .chars()
        .map(|letter| {
            let glyph = face.glyph_index(letter).unwrap_or_default();
            face.glyph_hor_advance(glyph).map_or(f64::from(face.units_per_em()), f64::from)
        })
        .sum();
    units * size / f64::from(face.units_per_em())
}

/// `text` in lines of at most `most` pixels; a word that is wider is cut with an ellipsis. A number stays with its sign, and an
/// interval whole: `95 %`, `T = 1.0` and `[2.4, 4.3]` are one word each.
pub(crate) fn wrap(text: &str, size: f64, weight: Weight, most: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut words: Vec<String> = Vec::new();
    for word in text.split([' ', '\n']).filter(|word| !word.is_empty()) {
        let is_open = |last: &String| last.rfind('[').is_some_and(|at| !last[at..].contains(']'));
        let is_glued = words.last().is_some_and(is_open)
            || word.starts_with('%')
            || word == "="
            || words.last().is_some_and(|last| last.ends_with(" ="));
        match words.last_mut() {
            Some(last) if is_glued => *last = format!("{last} {word}"),
            _ => words.push(word.to_owned()),
        }
    }
    for word in &words {
        if let Some(line) = lines.last_mut()
            && width(&format!("{line} {word}"), size, weight) <= most
        {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(fit(word, size, weight, most));
        }
    }
    lines
}

/// `text`, or its beginning and an ellipsis where it is wider than `most` pixels.
pub(crate) fn fit(text: &str, size: f64, weight: Weight, most: f64) -> String {
    if width(text, size, weight) <= most {
        return text.to_owned();
    }
    let mut letters: Vec<char> = text.chars().collect();
    while letters.pop().is_some() {
        let cut: String = letters.iter().collect::<String>().trim_end().to_owned() + "…";
        if width(&cut, size, weight) <= most {
            return cut;
        }
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(colour: u32) -> [f64; 3] {
        [16, 8, 0].map(|shift| {
            let part = f64::from((colour >> shift) & 0xff) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        })
    }

    /// The contrast ratio of WCAG 2.
    fn contrast(a: u32, b: u32) -> f64 {
        let luminance = |colour| {
            let [r, g, b] = linear(colour);
            0.05 + 0.2126 * r + 0.7152 * g + 0.0722 * b
        };
        let (a, b) = (luminance(a), luminance(b));
        a.max(b) / a.min(b)
    }

    /// The distance in Oklab (× 100), the least over protanopia and deuteranopia as simulated by Machado et al. 2009.
    fn apart(a: u32, b: u32) -> f64 {
        const SEEN: [[[f64; 3]; 3]; 2] = [
            [[0.152_286, 1.052_583, -0.204_868], [0.114_503, 0.786_281, 0.099_216], [-0.003_882, -0.048_116, 1.051_998]],
            [[0.367_322, 0.860_646, -0.227_968], [0.280_085, 0.672_501, 0.047_413], [-0.011_820, 0.042_940, 0.968_881]],
        ];
        let times = |m: [[f64; 3]; 3], v: [f64; 3]| m.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2]);
        let oklab = |rgb: [f64; 3]| {
            let lms = times(
                [
                    [0.412_221_470_8, 0.536_332_536_3, 0.051_445_992_9],
                    [0.211_903_498_2, 0.680_699_545_1, 0.107_396_956_6],
                    [0.088_302_461_9, 0.281_718_837_6, 0.629_978_700_5],
                ],
                rgb.map(|part| part.clamp(0.0, 1.0)),
            );
            times(
                [
                    [0.210_454_255_3, 0.793_617_785_0, -0.004_072_046_8],
                    [1.977_998_495_1, -2.428_592_205_0, 0.450_593_709_9],
                    [0.025_904_037_1, 0.782_771_766_2, -0.808_675_766_0],
                ],
                lms.map(f64::cbrt),
            )
        };
        let distance = |m| {
            let (a, b) = (oklab(times(m, linear(a))), oklab(times(m, linear(b))));
            100.0 * (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>().sqrt()
        };
        SEEN.into_iter().map(distance).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn both_themes_pass_the_tests_of_the_published_palette() {
        assert!((apart(Hue::Blue.light(), Hue::Orange.light()) - 24.7).abs() < 0.05, "the measure is the published one");
        for theme in [Hue::light, Hue::dark] {
            let surface = theme(Hue::Surface);
            for series in [Hue::Blue, Hue::Orange, Hue::Faint] {
                assert!(contrast(theme(series), surface) >= 3.0, "{series:?}");
            }
            for text in [Hue::Ink, Hue::Soft] {
                assert!(contrast(theme(text), surface) >= 7.0, "{text:?}");
            }
            assert!(apart(theme(Hue::Blue), theme(Hue::Orange)) >= 24.7);
            assert!(contrast(theme(Hue::Grid), surface) < 1.6, "the grid is quiet");
        }
    }

    #[test]
    fn the_font_has_every_sign_that_charts_write() {
        let face = Face::parse(notosans::REGULAR_TTF, 0).expect("a font");
        for sign in "–−×·±≥≤½%[],…²σ∞".chars() {
            assert!(face.glyph_index(sign).is_some(), "`{sign}`");
        }
    }

    #[test]
    fn a_number_is_never_torn_from_its_sign() {
        for most in 20..200 {
            let lines = wrap("guessing, ln\u{a0}1971; 95 % [9, 99] at T = 1.0, n = 5", TICK, Weight::Regular, f64::from(most));
            for line in &lines {
                let torn = ["%", "=", "1971"].iter().any(|begin| line.starts_with(begin)) || line.ends_with('=');
                assert!(!torn, "{most}: {lines:?}");
            }
        }
    }

    #[test]
    fn wrapped_and_fitted_text_is_never_wider_than_its_room() {
        let text = "how the legal share grows with an_extraordinarily_long_name_of_something tokens";
        for line in wrap(text, TEXT, Weight::Regular, 120.0) {
            assert!(width(&line, TEXT, Weight::Regular) <= 120.0, "{line}");
        }
        assert_eq!(fit("short", TEXT, Weight::Bold, 120.0), "short");
        assert_eq!(fit("anything", TEXT, Weight::Bold, 1.0), "");
    }
}
