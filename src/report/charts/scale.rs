//! Ranges and ticks of an axis: round steps, and as many digits as the step has.

use super::drawing::{Axis, Unit};
use crate::text::{duration, si, significant, thousands};

/// The range that shows `values`, which may be none, equal, or not finite.
pub(crate) fn range(axis: &Axis, values: impl IntoIterator<Item = f64>, pad: f64) -> (f64, f64) {
    if let Some(range) = axis.range {
        return widened(range);
    }
    let finite = |value: &f64| value.is_finite() && value.abs() < 1e250;
    let (low, high) = values
        .into_iter()
        .chain(axis.include.iter().copied())
        .filter(finite)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if low > high {
        return (0.0, 1.0);
    }
    let (wide_low, wide_high) = widened((low, high));
    let pad = pad * (wide_high - wide_low);
    // A bound that was asked for is the end of the axis.
    let asked = |bound: f64| axis.include.contains(&bound);
    let (low, high) = (
        if asked(low) && low < high { low } else { wide_low - pad },
        if asked(high) && low < high { high } else { wide_high + pad },
    );
    match axis.unit {
        Unit::Share if low >= -0.5 && high <= 1.5 => (low.max(0.0), high.min(1.0)),
        _ => (low, high),
    }
}

/// A range that is not empty.
fn widened((low, high): (f64, f64)) -> (f64, f64) {
    let least = (low.abs().max(high.abs()) * 1e-9).max(f64::MIN_POSITIVE);
    if high - low > least {
        return (low, high);
    }
    let half = if low == 0.0 { 0.5 } else { low.abs() * 0.1 };
    (low - half, high + half)
}

/// The ticks of an axis within a range: those that it names, or at most `most` round ones.
pub(crate) fn ticks_of(axis: &Axis, range: (f64, f64), most: usize) -> Vec<(f64, String)> {
    if axis.ticks.is_empty() {
        return ticks(range, axis.unit, most);
    }
    let mut named: Vec<f64> = axis.ticks.iter().copied().filter(|tick| (range.0..=range.1).contains(tick)).collect();
    named.sort_by(f64::total_cmp);
    named.dedup();
    // As many decimals as the one that has most of them.
    let is_told = |decimals: i32| {
        let times = 10_f64.powi(decimals);
        named.iter().all(|tick| (tick * times - (tick * times).round()).abs() < 1e-6)
    };
    let decimals = (i32::from(axis.unit == Unit::Number)..6).find(|decimals| is_told(*decimals)).unwrap_or(6);
    named.into_iter().map(|tick| (tick, label(tick, 10_f64.powi(-decimals), axis.unit))).collect()
}

/// Steps of time that people read, in seconds: up to a day.
const TIMES: [f64; 20] = [
    1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1_800.0, 3_600.0, 7_200.0, 10_800.0, 14_400.0, 21_600.0,
    28_800.0, 43_200.0, 86_400.0,
];

/// At most `most` round values within the range, in order, with their labels.
pub(crate) fn ticks((low, high): (f64, f64), unit: Unit, most: usize) -> Vec<(f64, String)> {
    if unit == Unit::Logarithm {
        return decades((low, high), most);
    }
    let rough = (high - low) / most.max(1) as f64;
    if !rough.is_finite() || rough <= 0.0 {
        return Vec::new();
    }
    let power = 10_f64.powf(rough.log10().floor());
    // A quarter reads well of large counts, which are written with all their digits, and of a whole.
    let quarters = unit == Unit::Count || (unit == Unit::Share && power >= 0.1);
    let steps: &[f64] = if quarters { &[1.0, 2.0, 2.5, 5.0, 10.0] } else { &[1.0, 2.0, 5.0, 10.0] };
    // One tick more than asked for is better than half of them.
    let rough = rough * 0.9;
    let step = steps.iter().map(|unit| unit * power).find(|&step| step >= rough * 0.999).unwrap_or(power * 10.0);
    let step = match unit {
        Unit::Whole => step.max(1.0),
        Unit::Seconds if (1.0..=TIMES[TIMES.len() - 1]).contains(&rough) => {
            TIMES.into_iter().find(|&time| time >= rough * 0.999).unwrap_or(step)
        }
        Unit::Seconds if rough > 1.0 => (rough / 86_400.0).ceil() * 86_400.0,
        _ => step,
    };
    let first = (low / step - 1e-9).ceil();
    (0..=most + 1)
        .map(|i| (first + i as f64) * step)
        .take_while(|&tick| tick <= high + step * 1e-9)
        .map(|tick| if tick.abs() < step * 1e-9 { 0.0 } else { tick })
        .map(|tick| (tick, label(tick, step, unit)))
        .collect()
}

/// Round values of which `low` and `high` are the logarithms: powers of ten, or those with their halves and fifths, or more.
fn decades((low, high): (f64, f64), most: usize) -> Vec<(f64, String)> {
    const DIGITS: [&[f64]; 4] = [&[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0], &[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]];
    let powers = |step: i32| (low.floor() as i32..=high.ceil() as i32).filter(move |power| power.rem_euclid(step) == 0);
    let of = |digits: &[f64], step: i32| -> Vec<f64> {
        let all = powers(step).flat_map(|power| digits.iter().map(move |digit| digit.log10() + f64::from(power)));
        all.filter(|tick| (low - 1e-9..=high + 1e-9).contains(tick)).collect()
    };
    if !(high - low).is_finite() || high - low > 600.0 {
        return Vec::new();
    }
    let sets = DIGITS.iter().map(|digits| of(digits, 1)).chain([2, 3, 5, 10, 20, 50, 100].map(|step| of(&[1.0], step)));
    let fitting = sets.into_iter().find(|ticks| ticks.len() <= most.max(1)).unwrap_or_default();
    fitting.into_iter().map(|tick| (tick, label(tick, 1.0, Unit::Logarithm))).collect()
}

fn label(tick: f64, step: f64, unit: Unit) -> String {
    let decimals = |step: f64| (-(step * 1.001).log10().floor()).clamp(0.0, 9.0) as usize;
    let text = match unit {
        Unit::Share => format!("{:.*} %", decimals(step * 100.0), tick * 100.0),
        Unit::Count => return si(tick),
        Unit::Seconds if tick == 0.0 => return "0".to_owned(),
        Unit::Seconds if tick < 60.0 => format!("{tick:.*} s", decimals(step)),
        Unit::Seconds => return duration(tick),
        Unit::Logarithm if tick < -2.0 => return format!("{:e}", significant_of(10_f64.powf(tick))),
        Unit::Logarithm => return si(10_f64.powf(tick)),
        Unit::Number | Unit::Whole if tick.abs() >= 1e5 => return si(tick),
        Unit::Number | Unit::Whole if step < 1e-6 => return significant(tick, 3),
        Unit::Number | Unit::Whole if tick >= 999.5 && step >= 1.0 => return thousands(tick.round() as u64),
        Unit::Number | Unit::Whole => format!("{tick:.*}", decimals(step)),
    };
    text.replace('-', "−")
}

/// Two digits of it: what a logarithm gives back is no round number.
fn significant_of(number: f64) -> f64 {
    let power = 10_f64.powf(number.log10().floor() - 1.0);
    ((number / power).round() * power * 1e12).round() / 1e12
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_their_labels_tell_them_apart() {
        let labels = |range, unit, most| ticks(range, unit, most).into_iter().map(|(_, label)| label).collect::<Vec<_>>();
        assert_eq!(labels((0.0, 8.1e8), Unit::Count, 5), ["0", "200 M", "400 M", "600 M", "800 M"]);
        assert_eq!(labels((0.951, 0.981), Unit::Share, 4), ["96 %", "97 %", "98 %"]);
        assert_eq!(labels((1.42, 1.61), Unit::Number, 4), ["1.45", "1.50", "1.55", "1.60"]);
        assert_eq!(labels((0.0, 3.0), Unit::Whole, 8), ["0", "1", "2", "3"]);
        assert_eq!(labels((0.0, 8.05), Unit::Number, 4), ["0", "2", "4", "6", "8"]);
        assert_eq!(labels((0.0, 1.0), Unit::Share, 4), ["0 %", "25 %", "50 %", "75 %", "100 %"]);
        assert_eq!(labels((0.0, 148.0), Unit::Seconds, 5), ["0", "30 s", "1 min", "1 min 30 s", "2 min"]);
        assert_eq!(labels((0.0, 3.0), Unit::Seconds, 4), ["0", "1 s", "2 s", "3 s"]);
        assert_eq!(labels((0.0, 2_000.0), Unit::Whole, 4), ["0", "500", "1,000", "1,500", "2,000"]);
        assert_eq!(labels((-2.0, 2.0), Unit::Number, 4), ["−2", "−1", "0", "1", "2"]);
    }

    #[test]
    fn ticks_that_are_named_stand_there_and_nowhere_else_with_as_many_decimals_as_they_need() {
        let named = |values: &[f64]| {
            let axis = Axis::new("temperature", Unit::Number).ticks(values.iter().copied());
            ticks_of(&axis, (0.0, 1.2), 1).into_iter().map(|(_, label)| label).collect::<Vec<_>>()
        };
        assert_eq!(named(&[1.0, 0.6]), ["0.6", "1.0"]);
        assert_eq!(named(&[0.29, 0.7, 0.7, 2.0]), ["0.29", "0.70"], "each once, and only what is shown");
    }

    #[test]
    fn ticks_of_logarithms_are_round_values_of_what_they_are_of() {
        let labels = |range, most| ticks(range, Unit::Logarithm, most).into_iter().map(|(_, label)| label).collect::<Vec<_>>();
        assert_eq!(labels((4.3, 6.5), 8), ["20 k", "50 k", "100 k", "200 k", "500 k", "1 M", "2 M"]);
        assert_eq!(labels((4.3, 6.5), 3), ["100 k", "1 M"]);
        assert_eq!(labels((-4.1, -1.9), 4), ["1e-4", "1e-3", "0.01"]);
        assert_eq!(labels((5.9, 6.2), 6), ["800 k", "1 M", "1.5 M"]);
        assert!(labels((-300.0, 300.0), 8).len() <= 8 && labels((0.0, 1e200), 8).is_empty());
    }

    #[test]
    fn an_axis_is_never_empty_whatever_it_shows() {
        let axis = Axis::new("", Unit::Number);
        for values in [vec![], vec![f64::NAN], vec![3.0, 3.0], vec![0.0], vec![-1e200, 1e200], vec![f64::INFINITY, 1.0]] {
            let (low, high) = range(&axis, values.clone(), 0.05);
            assert!(low < high && low.is_finite() && high.is_finite(), "{values:?}");
            assert!(ticks((low, high), Unit::Number, 5).len() <= 7, "{values:?}");
        }
        let share = Axis::new("", Unit::Share).include([0.0]);
        assert_eq!(range(&share, [0.2, 1.0], 0.05), (0.0, 1.0));
    }
}
