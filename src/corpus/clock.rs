//! How much time players had: the `TimeControl` tag, and the speeds that the archive's site makes of it.

use std::fmt;

/// Time for the whole game, and more for each move. Thousandths of a second, since engines play by such.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeControl {
    pub base_ms: u32,
    pub increment_ms: u32,
}

impl TimeControl {
    /// From a tag: `180+2` or `300`, in seconds. Nothing for `-` (no clock), `?`, and controls in several parts.
    pub(super) fn of_tag(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?.trim();
        let (base, increment) = text.split_once('+').unwrap_or((text, "0"));
        let control = Self { base_ms: thousandths(base)?, increment_ms: thousandths(increment)? };
        (control.base_ms > 0 || control.increment_ms > 0).then_some(control)
    }

    /// What a player's game may take, as lichess.org estimates it: the base and 40 increments.
    pub fn estimated_ms(self) -> u64 {
        u64::from(self.base_ms) + 40 * u64::from(self.increment_ms)
    }
}

/// A number of seconds in thousandths; what comes after the third digit is dropped.
fn thousandths(text: &str) -> Option<u32> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    let fraction: u32 = format!("{fraction:0<3.3}").parse().ok()?;
    whole.parse::<u32>().ok()?.checked_mul(1000)?.checked_add(fraction)
}

/// The six speeds of lichess.org, quickest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Speed {
    UltraBullet,
    Bullet,
    Blitz,
    Rapid,
    Classical,
    Correspondence,
}

impl Speed {
    pub const ALL: [Self; 6] = [Self::UltraBullet, Self::Bullet, Self::Blitz, Self::Rapid, Self::Classical, Self::Correspondence];

    /// As in tables: `ultraBullet`.
    pub fn name(self) -> &'static str {
        match self {
            Self::UltraBullet => "ultraBullet",
            Self::Bullet => "bullet",
            Self::Blitz => "blitz",
            Self::Rapid => "rapid",
            Self::Classical => "classical",
            Self::Correspondence => "correspondence",
        }
    }

    /// The first word of an event that names a speed, as in `Rated Blitz game`.
    pub(super) fn of_event(event: &[u8]) -> Option<Self> {
        let named = |word: &[u8]| Self::ALL.into_iter().find(|speed| word.eq_ignore_ascii_case(speed.name().as_bytes()));
        event.split(|byte| !byte.is_ascii_alphanumeric()).find_map(named)
    }

    /// By the estimated seconds, as lichess.org divides them.
    pub fn of(control: TimeControl) -> Self {
        match control.estimated_ms() / 1000 {
            ..30 => Self::UltraBullet,
            30..180 => Self::Bullet,
            180..480 => Self::Blitz,
            480..1500 => Self::Rapid,
            1500..21_600 => Self::Classical,
            _ => Self::Correspondence,
        }
    }
}

/// As in the `Event` tag: `UltraBullet`.
impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(text: &str) -> Option<(u32, u32)> {
        TimeControl::of_tag(text.as_bytes()).map(|control| (control.base_ms, control.increment_ms))
    }

    #[test]
    fn a_base_with_or_without_increment_is_read() {
        assert_eq!(control("180+2"), Some((180_000, 2_000)));
        assert_eq!(control("0+1"), Some((0, 1_000)));
        assert_eq!(control("300"), Some((300_000, 0)));
        assert_eq!(control("10.931+0.109"), Some((10_931, 109)));
        assert_eq!(control("10+0.05"), Some((10_000, 50)));
        for text in
            ["", "-", "?", "0", "0+0", "40/7200:20/3600:900+30", "1/86400", "*180", "180+", "+2", "-180+2", "3 min", "9999999"]
        {
            assert_eq!(control(text), None, "{text}");
        }
    }

    #[test]
    fn the_speed_is_that_of_the_estimated_time() {
        for (text, speed) in [
            ("15+0", Speed::UltraBullet),
            ("29.999", Speed::UltraBullet),
            ("30+0", Speed::Bullet),
            ("60+2", Speed::Bullet),
            ("120+1", Speed::Bullet),
            ("180+0", Speed::Blitz),
            ("300+3", Speed::Blitz),
            ("480+0", Speed::Rapid),
            ("180+8", Speed::Rapid),
            ("900+15", Speed::Classical),
            ("21599+0", Speed::Classical),
            ("21600+0", Speed::Correspondence),
        ] {
            assert_eq!(TimeControl::of_tag(text.as_bytes()).map(Speed::of), Some(speed), "{text}");
        }
    }

    #[test]
    fn an_event_names_its_speed_in_a_word() {
        for (event, speed) in [
            ("Rated UltraBullet game", Some(Speed::UltraBullet)),
            ("Rated Blitz tournament https://lichess.org/tournament/Bullet12", Some(Speed::Blitz)),
            ("blitz swiss https://lichess.org/swiss/abcdefgh", Some(Speed::Blitz)),
            ("Casual correspondence game", Some(Speed::Correspondence)),
            ("Blitzkrieg Open", None),
            ("", None),
        ] {
            assert_eq!(Speed::of_event(event.as_bytes()), speed, "{event}");
        }
    }
}
