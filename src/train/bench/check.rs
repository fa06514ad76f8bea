//! One thing that must hold on a device, and how far from it the device is.

use anyhow::Result;
use serde::Serialize;
use tch::{Device, Kind, Tensor};

use crate::train::shortage::caught;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Check {
    pub(super) name: String,
    pub(super) passed: bool,
    /// How far apart; none where the work itself failed.
    pub(super) found: Option<f64>,
    /// The most that passes.
    pub(super) most: f64,
    pub(super) note: Option<String>,
}

impl Check {
    /// Does the work, and says how far apart it came out. A failure of libtorch is a check that failed, and no more.
    pub(super) fn within(name: &str, most: f64, work: impl FnOnce() -> Result<f64>) -> Self {
        let (found, note) = match caught(work) {
            Ok(found) => (Some(found), None),
            Err(error) => (None, Some(format!("{error:#}"))),
        };
        // No number is within nothing.
        let passed = found.is_some_and(|found| found <= most);
        Self { name: name.to_owned(), passed, found: found.filter(|found| found.is_finite()), most, note }
    }

    /// With a note, unless there is one of a failure already.
    pub(super) fn note(mut self, note: Option<String>) -> Self {
        self.note = self.note.or(note);
        self
    }
}

/// The largest difference, relative to the largest number wanted.
pub(super) fn apart(seen: &Tensor, wanted: &Tensor) -> Result<f64> {
    let here = |tensor: &Tensor| tensor.f_detach()?.f_to_device(Device::Cpu)?.f_to_kind(Kind::Double);
    let (seen, wanted) = (here(seen)?, here(wanted)?);
    anyhow::ensure!(seen.size() == wanted.size(), "{:?} meets {:?}", seen.size(), wanted.size());
    let largest = |tensor: Tensor| tensor.f_abs()?.f_max()?.f_double_value(&[]);
    Ok(largest(seen.f_sub(&wanted)?)? / largest(wanted)?.max(f64::MIN_POSITIVE))
}

/// The worst of several distances; one that is no number is the worst of all.
pub(super) fn worst(distances: impl IntoIterator<Item = Result<f64>>) -> Result<f64> {
    distances.into_iter().try_fold(0.0_f64, |worst, distance| {
        let distance = distance?;
        Ok(if distance.is_nan() || worst.is_nan() { f64::NAN } else { worst.max(distance) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_measured_and_is_small_passes() {
        assert!(Check::within("near", 0.1, || Ok(0.1)).passed);
        assert!(!Check::within("far", 0.1, || Ok(0.2)).passed);
        assert!(!Check::within("no number", 0.1, || Ok(f64::NAN)).passed);
        let failed = Check::within("failed", 0.1, || {
            Ok(Tensor::from_slice(&[1_f32, 2.0]).matmul(&Tensor::ones([3], (Kind::Float, Device::Cpu))).double_value(&[]))
        });
        assert!(!failed.passed && failed.found.is_none() && failed.note.is_some(), "{failed:?}");
    }

    #[test]
    fn a_distance_is_relative_to_the_largest_number_and_none_is_lost_among_others() {
        let (seen, wanted) = (Tensor::from_slice(&[1_f32, -9.0]), Tensor::from_slice(&[1_f32, -10.0]));
        assert!((apart(&seen, &wanted).expect("alike in shape") - 0.1).abs() < 1e-6);
        assert!(apart(&seen, &Tensor::from_slice(&[1_f32])).is_err());
        assert!(worst([Ok(f64::NAN), Ok(0.5)]).expect("measured").is_nan());
        assert!((worst([Ok(0.1), Ok(0.5), Ok(0.2)]).expect("measured") - 0.5).abs() < 1e-12);
    }
}
