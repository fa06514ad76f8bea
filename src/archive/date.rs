//! Dates as HTTP writes them, to seconds since 1970.

use chrono::{NaiveDate, NaiveTime};

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Reads `Sun, 06 Nov 1994 08:49:37 GMT`, the one form that RFC 9110 (5.6.7) lets anybody write.
pub(super) fn unix_seconds(text: &str) -> Option<u64> {
    let (_, rest) = text.trim().split_once(", ")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    let [day, month, year, time, "GMT"] = fields[..] else { return None };
    let month = MONTHS.iter().position(|name| *name == month)? as u32 + 1;
    let time: Vec<u64> = time.split(':').map(str::parse).collect::<Result<_, _>>().ok()?;
    let [hours, minutes, seconds] = time[..] else { return None };
    let day = NaiveDate::from_ymd_opt(year.parse().ok()?, month, day.parse().ok()?)?.and_time(NaiveTime::MIN).and_utc();
    // 60 is a leap second.
    let fits = hours < 24 && minutes < 60 && seconds <= 60;
    let midnight = u64::try_from(day.timestamp()).ok().filter(|_| fits)?;
    Some(midnight + hours * 3_600 + minutes * 60 + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_seconds_since_1970() {
        assert_eq!(unix_seconds("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(unix_seconds("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        assert_eq!(unix_seconds("Thu, 29 Feb 2024 23:59:60 GMT"), Some(1_709_251_200));
        assert_eq!(unix_seconds("Wed, 01 Mar 2000 00:00:00 GMT"), Some(951_868_800));
    }

    #[test]
    fn what_is_no_such_date_is_none() {
        for text in [
            "",
            "tomorrow",
            "120",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37",
            "Sun, 06 Now 1994 08:49:37 GMT",
        ] {
            assert_eq!(unix_seconds(text), None, "{text}");
        }
        assert_eq!(unix_seconds("Sun, 06 Nov 1994 24:00:00 GMT"), None);
        assert_eq!(unix_seconds("Sun, 00 Nov 99999999999999999999 04:00:00 GMT"), None);
    }
}
