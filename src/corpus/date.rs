//! A day, as PGN writes it (`2013.01.31`) and as experiments do (`2013-01-31`).

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A day of the Gregorian calendar, from the year 1 to 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// Nothing where it is no day of the calendar.
    fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let days = match month {
            2 => 28 + u8::from(leap),
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        (year > 0 && (1..=days).contains(&day)).then_some(Self { year, month, day })
    }

    /// From a tag: four digits, two and two, with dots; `1997.??.??` is no day.
    pub(super) fn of_tag(text: &[u8]) -> Option<Self> {
        Self::read(text.trim_ascii(), b'.')
    }

    /// As in `2013-01-31`.
    pub fn of_iso(text: &str) -> Option<Self> {
        Self::read(text.as_bytes(), b'-')
    }

    fn read(text: &[u8], separator: u8) -> Option<Self> {
        if text.len() != 10 || text[4] != separator || text[7] != separator {
            return None;
        }
        let number = |digits: &[u8]| {
            digits.iter().try_fold(0, |sum, digit| digit.is_ascii_digit().then(|| sum * 10 + u16::from(digit - b'0')))
        };
        Self::new(number(&text[..4])?, number(&text[5..7])? as u8, number(&text[8..])? as u8)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::of_iso(&text).ok_or_else(|| de::Error::custom(format!("`{text}` is no day")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_days_of_the_calendar_are_read() {
        for text in ["2013.01.31", "2024.02.29", "2000.02.29", "0001.01.01", "9999.12.31", " 2013.01.31 "] {
            let date = Date::of_tag(text.as_bytes()).expect(text);
            assert_eq!(date.to_string(), text.trim().replace('.', "-"));
        }
        for text in [
            "",
            "?",
            "????.??.??",
            "1997.??.??",
            "1959",
            "2013-01-31",
            "2013.13.01",
            "2013.00.01",
            "2013.01.00",
            "2013.04.31",
            "2023.02.29",
            "1900.02.29",
            "0000.01.01",
            "2013.1.31",
            "31.01.2013",
            "2013.01.311",
            "+013.01.31",
        ] {
            assert_eq!(Date::of_tag(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_later_day_is_greater() {
        let day = |text| Date::of_iso(text).expect("a day");
        assert!(day("2012-12-31") < day("2013-01-01") && day("2013-01-31") < day("2013-02-01"));
    }

    #[test]
    fn a_date_is_text_in_json() {
        let date = Date::of_iso("2013-01-31").expect("a day");
        assert_eq!(serde_json::to_string(&date).expect("JSON"), "\"2013-01-31\"");
        assert_eq!(serde_json::from_str::<Date>("\"2013-01-31\"").expect("a day"), date);
        assert!(serde_json::from_str::<Date>("\"2013-02-31\"").is_err());
    }
}
