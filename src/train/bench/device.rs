//! What a device can do: how fast it multiplies and copies, and whether it computes what the CPU computes.

use std::time::Duration;

use anyhow::Result;
use serde::Serialize;
use serde_json::{Value, json};
use tch::{Device, Kind, Tensor};

use super::asked::DeviceBench;
use super::check::{Check, apart};
use super::place::Place;
use super::{against_cpu, resumed};
use crate::error::Fixable;
use crate::memory;
use crate::model::config::Precision;
use crate::model::{device, shim};
use crate::random::{stream, unit};
use crate::train::gauges::Gauges;
use crate::train::matmul;

#[derive(Serialize)]
struct Rate {
    name: &'static str,
    value: f64,
    /// `FLOP/s` or `bytes/s`.
    unit: &'static str,
}

/// Measures the rates and, where asked for, does every check: one that fails is told, and the others go on.
///
/// # Errors
///
/// Where a rate cannot be measured, or the user asked to stop.
pub fn measure(asked: &DeviceBench, place: Place) -> Result<Value> {
    let rates = rates(place)?;
    // While it is warm.
    let reading = Gauges::open(place.device).read();
    let checks = if asked.checks { checks(place)? } else { Vec::new() };
    Ok(json!({
        "device": device::name(place.device),
        "threads": place.threads,
        "rates": rates,
        "reading": reading,
        "checks": checks,
        "passed": checks.iter().all(|check| check.passed),
        "peak_memory_bytes": peak(place.device).ok(),
    }))
}

fn rates(place: Place) -> Result<Vec<Rate>> {
    let Place { device, clock, .. } = place;
    let product = |name, precision| Rate { name, value: matmul::flops_per_second(device, precision, clock), unit: "FLOP/s" };
    let mut rates = vec![product("matmul f32", Precision::F32)];
    if device.is_cuda() {
        shim::allow_tf32(true)?;
        rates.push(product("matmul tf32", Precision::F32));
        shim::allow_tf32(false)?;
    }
    rates.push(product("matmul bf16", Precision::Bf16));
    rates.push(Rate { name: "copy", value: copied_bytes_per_second(device, clock)?, unit: "bytes/s" });
    Ok(rates)
}

/// Bytes read and written in a second by copying within the device's memory, far more than its caches hold; the best of
/// several.
fn copied_bytes_per_second(on: Device, clock: &dyn Fn() -> Duration) -> Result<f64> {
    let numbers = if on.is_cuda() { 1 << 28 } else { 1 << 25 };
    let from = Tensor::f_ones([numbers], (Kind::Float, on))?;
    let mut to = from.f_empty_like()?;
    let mut best = 0.0_f64;
    for _ in 0..6 {
        device::synchronize(on);
        let start = clock();
        to.f_copy_(&from)?;
        device::synchronize(on);
        let seconds = clock().saturating_sub(start).as_secs_f64().max(1e-9);
        best = best.max(2.0 * 4.0 * numbers as f64 / seconds);
    }
    Ok(best)
}

fn checks(place: Place) -> Result<Vec<Check>> {
    let device = place.device;
    let all: [&dyn Fn() -> Vec<Check>; 5] = [
        &|| vec![exact_products(device)],
        &|| against_cpu::checks(device),
        &|| vec![resumed::check(place)],
        &|| vec![told_peak(device)],
        &|| vec![impossible_allocation(device)],
    ];
    let mut done = Vec::new();
    for (at, some) in all.iter().enumerate() {
        if place.progress.should_stop() {
            return Err(Fixable::interrupted("the bench stopped before its last check").into());
        }
        done.extend(some());
        place.progress.done(at as u64 + 1, all.len() as u64, "groups of checks");
    }
    Ok(done)
}

/// A float32 product is one: TF32, with its 10 bits, would be 5e-4 apart.
fn exact_products(device: Device) -> Check {
    Check::within("f32 products are not TF32", 1e-5, || {
        let mut rng = stream(1, "factors", 0);
        let [left, right] = [(); 2].map(|()| {
            let numbers: Vec<f32> = (0..512 * 512).map(|_| (unit(&mut rng) * 2.0 - 1.0) as f32).collect();
            Tensor::from_slice(&numbers).view([512, 512])
        });
        let seen = left.f_to_device(device)?.f_matmul(&right.f_to_device(device)?)?;
        apart(&seen, &left.to_kind(Kind::Double).f_matmul(&right.to_kind(Kind::Double))?)
    })
}

/// The peak of memory that is told holds what was allocated.
fn told_peak(device: Device) -> Check {
    const BYTES: i64 = 64 << 20;
    let mut note = None;
    let check = Check::within("the peak of memory is told", 0.0, || {
        let _held = Tensor::f_ones([BYTES], (Kind::Uint8, device))?;
        device::synchronize(device);
        let bytes = peak(device)?;
        note = Some(format!("{bytes} bytes"));
        Ok(f64::from(u8::from(bytes < BYTES as u64)))
    });
    check.note(note)
}

/// More memory than there is is an error, after which the device works on.
fn impossible_allocation(device: Device) -> Check {
    Check::within("too much memory is an error, and no end", 0.0, || {
        let refused = Tensor::f_empty([1 << 46], (Kind::Float, device)).is_err();
        let works = Tensor::f_ones([1000], (Kind::Float, device))?.f_sum(Kind::Float)?.f_double_value(&[])?;
        Ok(f64::from(u8::from(!refused)) + (works - 1000.0).abs())
    })
}

/// Most bytes at once: of the device's memory, or of the process where the device is the CPU.
fn peak(device: Device) -> Result<u64> {
    match device {
        Device::Cuda(index) => shim::peak_bytes(index),
        _ => memory::peak_bytes().ok_or_else(|| anyhow::anyhow!("the kernel tells no peak")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::silent;
    use std::time::Instant;

    #[test]
    fn the_cpu_agrees_with_itself_in_every_check() {
        let start = Instant::now();
        let place = Place { device: Device::Cpu, threads: 1, clock: &|| start.elapsed(), progress: silent() };
        let told = measure(&DeviceBench { checks: true }, place).expect("the CPU is there");
        let checks = told["checks"].as_array().expect("a list");
        assert!(checks.len() >= 12, "{told:#}");
        for check in checks {
            assert_eq!(check["passed"], true, "{check:#}");
        }
        assert_eq!(told["passed"], true);
        let rates: Vec<&Value> = told["rates"].as_array().expect("a list").iter().map(|rate| &rate["name"]).collect();
        assert_eq!(rates, ["matmul f32", "matmul bf16", "copy"]);
    }
}
