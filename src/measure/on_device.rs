//! Tokens sampled where the logits are: of two thousand numbers a row, one comes back. On a CPU the logits are read in place, and
//! [`Weights`](super::sampling::Weights) samples from them; the two differ by rounding alone.

use anyhow::Result;
use tch::{Device, Kind, Tensor, no_grad};

use super::predictor::not_numbers;

/// What stands in the place of a token of a row that holds no numbers.
const BROKEN: i64 = -1;

/// Of each row `[n, v]`, the token at which the cumulative distribution at a temperature passes a number in [0, 1); at 0 the
/// most likely one, of equals the lowest.
///
/// # Errors
///
/// Where a row holds NaN or +∞ or nothing but −∞, or libtorch fails.
pub(super) fn sample(logits_nv: &Tensor, temperature: f64, uniforms: &[f64]) -> Result<Vec<u16>> {
    let device = logits_nv.device();
    let tokens_n = no_grad(|| -> Result<Tensor> {
        let last = logits_nv.size()[1] - 1;
        let largest_n1 = logits_nv.f_amax(-1_i64, true)?;
        let tokens_n = if temperature <= 0.0 {
            let numbers_v = Tensor::f_arange(last + 1, (Kind::Int64, device))?;
            numbers_v
                .f_where_self(&logits_nv.f_ge_tensor(&largest_n1)?, &Tensor::from(last).to_device(device))?
                .f_amin(-1_i64, false)?
        } else {
            let scaled_nv = (logits_nv - &largest_n1) * (1.0 / temperature);
            let passed_nv = scaled_nv.f_exp()?.f_cumsum(-1, Kind::Double)?;
            let uniforms_n1 = Tensor::from_slice(uniforms).to_device(device).f_view([-1, 1])?;
            let target_n1 = uniforms_n1 * passed_nv.f_narrow(-1, last, 1)?;
            passed_nv.f_le_tensor(&target_n1)?.f_sum_dim_intlist(-1_i64, false, Kind::Int64)?.f_clamp_max(last)?
        };
        let broken = Tensor::from(BROKEN).to_device(device);
        Ok(tokens_n.f_where_self(&largest_n1.f_isfinite()?.f_squeeze_dim(-1)?, &broken)?)
    })?;
    let tokens: Vec<i64> = Vec::try_from(tokens_n.to_device(Device::Cpu))?;
    tokens.into_iter().map(|token| u16::try_from(token).map_err(|_| not_numbers().into())).collect()
}

#[cfg(test)]
mod tests {
    use super::super::sampling::Weights;
    use super::*;
    use crate::chess::vocabulary::VOCABULARY_SIZE;
    use crate::random::{stream, unit};

    fn rows(n: usize) -> Vec<f32> {
        let mut rng = stream(3, "logits", 0);
        // As far apart as those of a model that is sure of some moves.
        (0..n * VOCABULARY_SIZE).map(|_| (30.0 * unit(&mut rng) - 20.0) as f32).collect()
    }

    #[test]
    fn what_is_sampled_where_the_logits_are_is_what_is_sampled_from_them_here() {
        let n = 2_000;
        let logits = rows(n);
        let tensor = Tensor::from_slice(&logits).view([-1, VOCABULARY_SIZE as i64]);
        let mut rng = stream(5, "uniforms", 0);
        let uniforms: Vec<f64> = (0..n).map(|_| unit(&mut rng)).collect();
        let mut weights = Weights::default();
        for temperature in [0.0, 0.3, 1.0, 2.0] {
            let there = sample(&tensor, temperature, &uniforms).expect("numbers");
            let differing = logits.chunks(VOCABULARY_SIZE).zip(&uniforms).zip(&there).filter(|((row, uniform), token)| {
                weights.fill(row, temperature);
                weights.sample(**uniform) != **token
            });
            assert!(differing.count() * 1_000 <= n, "at {temperature}");
        }
    }

    #[test]
    fn of_equals_the_lowest_is_the_most_likely_and_what_is_no_number_is_refused() {
        let mut row = vec![0.0_f32; VOCABULARY_SIZE];
        (row[40], row[90]) = (2.0, 2.0);
        let tensor = |row: &[f32]| Tensor::from_slice(row).view([1, -1]);
        assert_eq!(sample(&tensor(&row), 0.0, &[0.5]).expect("numbers"), [40]);
        row[7] = f32::NAN;
        for temperature in [0.0, 1.0] {
            let error = sample(&tensor(&row), temperature, &[0.5]).expect_err("one is none");
            assert_eq!(error.to_string(), "the model's logits are not numbers");
        }
    }
}
