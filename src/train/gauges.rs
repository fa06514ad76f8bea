//! The gauges of a device, opened once and read while it works: NVML on CUDA, the energy counter (RAPL) of the processor.
//!
//! Where nothing answers every quantity is none, and a reading costs nothing.

use std::path::{Path, PathBuf};

use tch::Device;

use super::reading::Reading;
use crate::gpus::{self, Gauge, Gauged, Name};
use crate::model::cudart;

/// Where Linux tells the energy of the processor's packages.
const POWERCAP: &str = "/sys/class/powercap";

pub enum Gauges {
    Cuda {
        gauge: Gauge,
        /// What its counter told when the gauges were opened.
        from_joules: Option<f64>,
    },
    Processor(Vec<Package>),
    None,
}

impl Gauges {
    /// Opens what there is for a device. On CUDA that is the device at the PCI address that CUDA itself tells, or, where it
    /// does not, the one that the variables of CUDA name.
    pub fn open(device: Device) -> Self {
        let Device::Cuda(index) = device else { return Self::of_processor(Path::new(POWERCAP)) };
        let variable = |name| std::env::var(name).ok();
        let by_variables = || {
            let [visible, order] = ["CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"].map(variable);
            gpus::name_of(index, visible.as_deref(), order.as_deref())
        };
        match cudart::pci_bus_id(index).map(Name::Pci).or_else(by_variables).and_then(|name| Gauge::open(&name)) {
            Some(gauge) => Self::Cuda { from_joules: gauge.read().energy_joules, gauge },
            None => Self::None,
        }
    }

    fn of_processor(powercap: &Path) -> Self {
        let packages = packages(powercap);
        if packages.is_empty() { Self::None } else { Self::Processor(packages) }
    }

    /// What the device tells now.
    pub fn read(&mut self) -> Reading {
        match self {
            Self::Cuda { gauge, from_joules } => {
                let gauged = gauge.read();
                reading(gauged, gauged.energy_joules.zip(*from_joules).map(|(now, from)| now - from))
            }
            Self::Processor(packages) => {
                let used: Option<u64> = packages.iter_mut().map(Package::used).sum();
                Reading { energy_joules: used.map(|microjoules| microjoules as f64 / 1e6), ..Reading::default() }
            }
            Self::None => Reading::default(),
        }
    }
}

fn reading(gauged: Gauged, energy_joules: Option<f64>) -> Reading {
    let Gauged { power_watts, temperature_celsius, clock_mhz, memory_used_bytes, memory_total_bytes, utilisation, .. } = gauged;
    Reading { power_watts, temperature_celsius, clock_mhz, memory_used_bytes, memory_total_bytes, utilisation, energy_joules }
}

/// The energy counter of one processor package. It counts from 0 to a most, and then from 0 again: at 200 W about every
/// twenty minutes, so it must be read more often than that.
pub struct Package {
    counter: PathBuf,
    most: u64,
    last: u64,
    /// Microjoules since it was opened.
    used: u64,
}

impl Package {
    fn open(folder: &Path) -> Option<Self> {
        let number = |name: &str| read_number(&folder.join(name));
        let (last, most) = (number("energy_uj")?, number("max_energy_range_uj")?);
        Some(Self { counter: folder.join("energy_uj"), most, last, used: 0 })
    }

    fn used(&mut self) -> Option<u64> {
        let now = read_number(&self.counter)?;
        self.used += if now >= self.last { now - self.last } else { self.most.saturating_sub(self.last) + now };
        self.last = now;
        Some(self.used)
    }
}

/// The packages that can be read: `intel-rapl:0`, and `:1` on machines with two; what is inside of one
/// (`intel-rapl:0:0`) is counted with it. Only root may read them on most systems.
fn packages(powercap: &Path) -> Vec<Package> {
    let whole = |name: &str| name.strip_prefix("intel-rapl:").is_some_and(|number| number.parse::<u32>().is_ok());
    let entries = std::fs::read_dir(powercap).into_iter().flatten().flatten();
    entries.filter(|entry| whole(&entry.file_name().to_string_lossy())).filter_map(|entry| Package::open(&entry.path())).collect()
}

fn read_number(path: &Path) -> Option<u64> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lay(powercap: &Path, name: &str, energy: u64) {
        let folder = powercap.join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("max_energy_range_uj"), "10000000\n").expect("written");
        std::fs::write(folder.join("energy_uj"), format!("{energy}\n")).expect("written");
    }

    #[test]
    fn the_energy_of_all_packages_is_counted_over_the_end_of_their_counters() {
        let powercap = tempfile::tempdir().expect("a folder");
        lay(powercap.path(), "intel-rapl:0", 9_000_000);
        lay(powercap.path(), "intel-rapl:1", 1_000_000);
        // A part of a package, and the whole board, which are no packages.
        lay(powercap.path(), "intel-rapl:0:0", 0);
        lay(powercap.path(), "intel-rapl-mmio:0", 0);
        let mut gauges = Gauges::of_processor(powercap.path());
        assert_eq!(gauges.read().energy_joules, Some(0.0));
        lay(powercap.path(), "intel-rapl:0", 2_000_000);
        lay(powercap.path(), "intel-rapl:1", 1_500_000);
        lay(powercap.path(), "intel-rapl:0:0", 7_000_000);
        assert_eq!(gauges.read(), Reading { energy_joules: Some(3.5), ..Reading::default() });
        assert_eq!(gauges.read().energy_joules, Some(3.5), "nothing is counted twice");
    }

    #[test]
    fn without_gauges_nothing_is_told() {
        assert_eq!(Gauges::of_processor(Path::new("/nowhere")).read(), Reading::default());
        // No machine has so many devices.
        assert_eq!(Gauges::open(Device::Cuda(4_000)).read(), Reading::default());
    }

    #[test]
    fn a_reading_takes_over_what_the_driver_tells() {
        let gauged = Gauged { power_watts: Some(300.0), energy_joules: Some(9e9), utilisation: Some(0.5), ..Gauged::default() };
        let wanted =
            Reading { power_watts: Some(300.0), utilisation: Some(0.5), energy_joules: Some(12.0), ..Reading::default() };
        assert_eq!(reading(gauged, Some(12.0)), wanted);
    }
}
