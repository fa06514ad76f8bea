//! Statistics: numbers in, an estimate with its interval out. It knows neither chess nor torch.

pub mod bootstrap;
pub mod cluster;
#[cfg(test)]
mod coverage;
pub mod difference;
pub mod mean;
pub mod paired;
pub mod power;
pub mod survival;
pub mod wilson;

/// The two-sided 95 % point of the normal distribution, rounded as in the published figures.
pub const Z: f64 = 1.96;

/// An estimate and its two-sided 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
    /// The observations behind it.
    pub n: u64,
}
