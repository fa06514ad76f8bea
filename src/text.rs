//! Numbers as people read them: plurals, thousands, durations, bytes, percentages. A leaf.

/// `1 game`, `2 games`, `1,234 games`.
pub fn plural(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", thousands(count))
}

/// `1,234,567`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `0.3 s`, `12 s`, `3 min 05 s`, `2 h 07 min`, `3 d 04 h`.
pub fn duration(seconds: f64) -> String {
    if seconds < 9.95 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round() as u64;
    let (days, hours, minutes) = (whole / 86_400, whole / 3_600, whole / 60);
    if whole < 60 {
        format!("{whole} s")
    } else if whole < 3_600 {
        format!("{minutes} min {:02} s", whole % 60)
    } else if whole < 86_400 {
        format!("{hours} h {:02} min", minutes % 60)
    } else {
        format!("{days} d {:02} h", hours % 24)
    }
}

/// `512 B`, `1.5 KiB`, `12.3 MiB`.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut size = bytes as f64;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{size:.1} {}", UNITS[unit]) }
}

/// `97.86 %`, from a share between 0 and 1.
pub fn percent(share: f64) -> String {
    format!("{:.2} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([plural(1, "game"), plural(2_000, "game")], ["1 game", "2,000 games"]);
        assert_eq!([0.34, 12.0, 185.0, 7_620.0, 273_600.0].map(duration), ["0.3 s", "12 s", "3 min 05 s", "2 h 07 min", "3 d 04 h"]);
        assert_eq!([512, 1_536, 12_897_485].map(bytes), ["512 B", "1.5 KiB", "12.3 MiB"]);
        assert_eq!(percent(0.9786), "97.86 %");
    }
}
