//! Which way a figure is better. A length, or how often real games end, is neither.

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    Higher,
    Lower,
}

/// Of a value of a metric; none where another one is not better, or where it is no value of the model.
pub fn better(metric: &str, value: &str) -> Option<Better> {
    let is_of_the_instrument = match metric {
        // Extremes of a sample are no estimates.
        "rules" => value.ends_with(".mass_min") || value.ends_with(".mass_max"),
        // Beside the probe of the model stand those that it is to be compared with.
        "probe" => value.contains("random.") || value.contains("majority."),
        _ => false,
    };
    match (metric, value) {
        _ if is_of_the_instrument => None,
        ("legality" | "agreement" | "mass" | "dense" | "rules" | "probe", _)
        | ("full_games", "clean")
        | ("puzzles", "solved")
        | ("calibration", "right") => Some(Better::Higher),
        ("loss", _) | ("calibration", "ece" | "log_loss") | ("openings", "divergence" | "variation") => Some(Better::Lower),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_describes_the_games_or_the_instrument_is_neither_better_nor_worse() {
        for (metric, value) in [
            ("full_games", "plies"),
            ("full_games", "real_by_rules"),
            ("rules", "check.mass_min"),
            ("probe", "random.squares"),
            ("probe", "to_move.majority.occupied"),
            ("calibration", "confidence"),
        ] {
            assert_eq!(better(metric, value), None, "{metric}.{value}");
        }
        assert_eq!(better("probe", "to_move.occupied"), Some(Better::Higher));
        assert_eq!(better("loss", "nats"), Some(Better::Lower));
        assert_eq!(better("rules", "check.mass"), Some(Better::Higher));
    }
}
