//! Numbers as people read them: counts, times, sizes, shares. Digits follow the width of the interval.

/// `1 game`, `2 games`, `1,234 games`.
pub fn plural(noun: &str, n: u64) -> String {
    let ending = match (n, noun) {
        (1, _) => "",
        (_, noun) if noun.ends_with('s') || noun.ends_with("ch") || noun.ends_with('x') => "es",
        _ => "s",
    };
    match noun {
        "ply" if n != 1 => format!("{} plies", thousands(n)),
        _ => format!("{} {noun}{ending}", thousands(n)),
    }
}

/// `1,234,567`.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `35 ms`, `4.2 s`, `2 min 5 s`, `3 h 20 min`, `2 d 4 h`.
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "–".to_owned();
    }
    if seconds < 0.9995 {
        return format!("{:.0} ms", seconds * 1e3);
    }
    if seconds < 9.95 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round() as u64;
    let (first, second) = match whole {
        0..60 => return format!("{whole} s"),
        60..3_600 => ((whole / 60, "min"), (whole % 60, "s")),
        3_600..86_400 => ((whole / 3_600, "h"), (whole % 3_600 / 60, "min")),
        _ => ((whole / 86_400, "d"), (whole % 86_400 / 3_600, "h")),
    };
    match second.0 {
        0 => format!("{} {}", first.0, first.1),
        _ => format!("{} {} {} {}", first.0, first.1, second.0, second.1),
    }
}

/// `512 B`, `18.5 GiB`.
pub fn bytes(n: u64) -> String {
    let mut size = n as f64;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if size < 999.5 {
            return if unit == "B" { format!("{n} B") } else { format!("{} {unit}", significant(size, 3)) };
        }
        size /= 1024.0;
    }
    format!("{} TiB", significant(size, 3))
}

/// `0`, `950`, `127 k`, `803.8 M`, `62.9 T`: three digits and more where they are whole.
pub fn si(x: f64) -> String {
    if !x.is_finite() {
        return "–".to_owned();
    }
    let mut size = x;
    for unit in ["", " k", " M", " G", " T"] {
        if size.abs() < 999.5 {
            return format!("{}{unit}", significant(size, 3));
        }
        size /= 1e3;
    }
    format!("{} P", significant(size, 3))
}

/// A figure in its unit: `s` as a duration, `bytes` and `bytes/s` as a size, all else counted: `186 k games/s`.
pub fn in_unit(value: f64, unit: &str) -> String {
    let (of, per) = unit.split_once('/').map_or((unit, String::new()), |(of, per)| (of, format!("/{per}")));
    match of {
        "s" if per.is_empty() => duration(value),
        "bytes" if value.is_finite() => bytes(value.max(0.0).round() as u64) + &per,
        _ => format!("{} {unit}", si(value)).trim_end().to_owned(),
    }
}

/// `1.0`, `0.6`, `0.25`.
pub fn temperature(t: f64) -> String {
    let text = significant(t, 3);
    if text.contains('.') { text } else { text + ".0" }
}

/// So many decimals; a dash for what is no number.
pub fn fixed(x: f64, decimals: usize) -> String {
    if x.is_finite() { minus(&format!("{x:.decimals$}")) } else { "–".to_owned() }
}

/// So many significant digits, without trailing zeros and without an exponent.
pub fn significant(x: f64, digits: i32) -> String {
    if x == 0.0 || !x.is_finite() {
        return if x == 0.0 { "0".to_owned() } else { "–".to_owned() };
    }
    let decimals = (digits - 1 - x.abs().log10().floor() as i32).max(0) as usize;
    let text = format!("{x:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text };
    minus(&text)
}

/// `97.86 %`, from a share.
pub fn percent(share: f64, decimals: usize) -> String {
    if !share.is_finite() {
        return "–".to_owned();
    }
    minus(&format!("{:.decimals$} %", share * 100.0))
}

/// `97.86 % [97.65, 98.05]`, from shares, with the digits that the interval carries.
pub fn percent_within(share: f64, low: Option<f64>, high: Option<f64>) -> String {
    let Some([low, high]) = interval(low, high) else { return percent(share, 1) };
    let decimals = decimals_of((high - low) * 50.0);
    format!("{} {}", percent(share, decimals), bounds(low * 100.0, high * 100.0, decimals))
}

/// `48.2 [46.1, 50.3]`, with the digits that the interval carries.
pub fn number_within(value: f64, low: Option<f64>, high: Option<f64>) -> String {
    let Some([low, high]) = interval(low, high) else { return significant(value, 4) };
    let decimals = decimals_of((high - low) / 2.0);
    format!("{} {}", fixed(value, decimals), bounds(low, high, decimals))
}

fn interval(low: Option<f64>, high: Option<f64>) -> Option<[f64; 2]> {
    Some([low?, high?]).filter(|bounds| bounds.iter().all(|bound| !bound.is_nan()))
}

/// `[97.65, 98.05]`; an open bound is `∞`.
fn bounds(low: f64, high: f64, decimals: usize) -> String {
    let bound =
        |bound: f64| if bound.is_finite() { format!("{bound:.decimals$}") } else { bound.to_string().replace("inf", "∞") };
    minus(&format!("[{}, {}]", bound(low), bound(high)))
}

/// Decimals so that half an interval shows about two digits, as in 60.4 ± 4.3 and 97.86 ± 0.20.
pub fn decimals_of(half_width: f64) -> usize {
    match half_width {
        x if x.is_infinite() => 1,
        x if x >= 10.0 => 0,
        x if x >= 1.0 => 1,
        x if x >= 0.05 => 2,
        x if x > 0.0 => 3,
        _ => 2,
    }
}

fn minus(text: &str) -> String {
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_carry_their_noun() {
        assert_eq!(plural("game", 1), "1 game");
        assert_eq!(plural("game", 89_288_421), "89,288,421 games");
        assert_eq!(plural("ply", 2), "2 plies");
        assert_eq!(plural("match", 3), "3 matches");
        assert_eq!(thousands(999), "999");
    }

    #[test]
    fn times_and_sizes_show_two_units_at_most() {
        let shown = [0.0351, 4.2, 9.96, 59.6, 125.0, 3_600.0, 12_034.0, 187_200.0].map(duration);
        assert_eq!(shown, ["35 ms", "4.2 s", "10 s", "1 min", "2 min 5 s", "1 h", "3 h 20 min", "2 d 4 h"]);
        assert_eq!(duration(f64::NAN), "–");
        assert_eq!([0, 512, 1_048_576, 19_864_223_744].map(bytes), ["0 B", "512 B", "1 MiB", "18.5 GiB"]);
    }

    #[test]
    fn figures_are_shown_in_their_units() {
        let figures =
            [(4.2, "s"), (19_864_223_744.0, "bytes"), (404e6, "bytes/s"), (186_400.0, "games/s"), (2.0, ""), (f64::NAN, "bytes")];
        let shown = figures.map(|(value, unit)| in_unit(value, unit));
        assert_eq!(shown, ["4.2 s", "18.5 GiB", "385 MiB/s", "186 k games/s", "2", "– bytes"]);
    }

    #[test]
    fn digits_follow_the_interval() {
        assert_eq!(percent_within(0.9786, Some(0.9765), Some(0.9805)), "97.86 % [97.65, 98.05]");
        assert_eq!(percent_within(0.604, Some(0.5605), Some(0.6459)), "60.4 % [56.0, 64.6]");
        assert_eq!(percent_within(0.5, Some(0.2), Some(0.8)), "50 % [20, 80]");
        assert_eq!(number_within(48.2, Some(46.1), Some(50.3)), "48.2 [46.1, 50.3]");
        assert_eq!(percent_within(0.5, Some(0.2), Some(f64::INFINITY)), "50.0 % [20.0, ∞]");
        assert_eq!(number_within(-1.5, Some(f64::NEG_INFINITY), Some(2.0)), "−1.5 [−∞, 2.0]");
        assert_eq!(number_within(3.0, Some(f64::NAN), Some(2.0)), "3");
        assert_eq!(si(803_780_147.0), "804 M");
        assert_eq!(si(-1_500.0), "−1.5 k");
        assert_eq!(significant(0.000_123_4, 2), "0.00012");
    }
}
