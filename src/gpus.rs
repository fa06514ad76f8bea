//! NVIDIA devices as their driver tells of them (NVML, loaded where it is there). A leaf: it knows nobody.
//!
//! Where no driver answers there are no devices, and asking costs nothing after the first time.

use std::sync::OnceLock;

use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use nvml_wrapper::{Device, Nvml};
use serde::Serialize;

/// What the driver says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Driver {
    /// Such as `580.65.06`.
    pub version: String,
    /// The newest CUDA that it can serve, such as `13.0`.
    pub cuda: Option<String>,
}

/// One device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Card {
    /// In PCI order, from 0.
    pub index: u32,
    pub name: String,
    /// Such as `00000000:19:00.0`.
    pub pci: Option<String>,
    pub memory_total_bytes: Option<u64>,
    pub memory_free_bytes: Option<u64>,
    /// What it may draw at most, as it is set now.
    pub power_limit_watts: Option<f64>,
}

/// A device that can be read again and again.
pub struct Gauge(Device<'static>);

/// What a device tells at a moment; each may be absent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gauged {
    pub power_watts: Option<f64>,
    pub temperature_celsius: Option<f64>,
    /// Of the streaming multiprocessors.
    pub clock_mhz: Option<f64>,
    pub memory_used_bytes: Option<u64>,
    pub memory_total_bytes: Option<u64>,
    /// Share of the last moment in which a kernel ran, 0 to 1.
    pub utilisation: Option<f64>,
    /// Since the driver was loaded.
    pub energy_joules: Option<f64>,
}

/// The driver; none where none answers.
pub fn driver() -> Option<Driver> {
    let version = nvml()?.sys_driver_version().ok()?;
    let cuda = nvml()?.sys_cuda_driver_version().ok().map(|cuda| format!("{}.{}", cuda / 1000, cuda % 1000 / 10));
    Some(Driver { version, cuda })
}

/// All devices, in PCI order.
pub fn cards() -> Vec<Card> {
    let count = nvml().and_then(|nvml| nvml.device_count().ok()).unwrap_or(0);
    (0..count).filter_map(|index| Some(Card::of(index, &nvml()?.device_by_index(index).ok()?))).collect()
}

impl Card {
    fn of(index: u32, device: &Device) -> Self {
        let memory = device.memory_info().ok();
        Self {
            index,
            name: device.name().unwrap_or_else(|_| "a device without a name".to_owned()),
            pci: device.pci_info().ok().map(|pci| pci.bus_id),
            memory_total_bytes: memory.as_ref().map(|memory| memory.total),
            memory_free_bytes: memory.as_ref().map(|memory| memory.free),
            power_limit_watts: device.enforced_power_limit().ok().map(|milliwatts| f64::from(milliwatts) / 1e3),
        }
    }
}

/// How a device is named to the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name {
    /// In PCI order.
    Index(u32),
    Pci(String),
    /// Such as `GPU-8932f937-…` or the beginning of one.
    Uuid(String),
}

/// What CUDA calls device `index`, where the two variables `CUDA_VISIBLE_DEVICES` and `CUDA_DEVICE_ORDER` are as given; none
/// where they leave it open which device that is.
pub fn name_of(index: usize, visible: Option<&str>, order: Option<&str>) -> Option<Name> {
    let in_pci_order = order == Some("PCI_BUS_ID");
    let Some(visible) = visible else {
        return in_pci_order.then_some(Name::Index(index as u32));
    };
    // CUDA takes the list up to the first word that it does not understand.
    let words: Vec<&str> = visible.split(',').map(str::trim).take_while(|word| is_device(word)).collect();
    let word = *words.get(index)?;
    match word.parse() {
        Ok(number) => in_pci_order.then_some(Name::Index(number)),
        Err(_) => Some(Name::Uuid(word.to_owned())),
    }
}

fn is_device(word: &str) -> bool {
    word.parse::<u32>().is_ok() || word.starts_with("GPU-")
}

impl Gauge {
    /// The device of that name; none where the driver knows none.
    pub fn open(name: &Name) -> Option<Self> {
        let nvml = nvml()?;
        let device = match name {
            Name::Index(index) => nvml.device_by_index(*index),
            Name::Pci(address) => nvml.device_by_pci_bus_id(address.as_str()),
            Name::Uuid(uuid) => return cards().iter().find_map(|card| Self::by_uuid(card.index, uuid)),
        };
        device.ok().map(Self)
    }

    /// A whole UUID, or so much of its beginning as CUDA lets people write.
    fn by_uuid(index: u32, uuid: &str) -> Option<Self> {
        let device = nvml()?.device_by_index(index).ok()?;
        device.uuid().ok()?.starts_with(uuid).then_some(Self(device))
    }

    pub fn read(&self) -> Gauged {
        let device = &self.0;
        let memory = device.memory_info().ok();
        Gauged {
            power_watts: device.power_usage().ok().map(|milliwatts| f64::from(milliwatts) / 1e3),
            temperature_celsius: device.temperature(TemperatureSensor::Gpu).ok().map(f64::from),
            clock_mhz: device.clock_info(Clock::SM).ok().map(f64::from),
            memory_used_bytes: memory.as_ref().map(|memory| memory.used),
            memory_total_bytes: memory.as_ref().map(|memory| memory.total),
            utilisation: device.utilization_rates().ok().map(|rates| f64::from(rates.gpu) / 100.0),
            energy_joules: device.total_energy_consumption().ok().map(|millijoules| millijoules as f64 / 1e3),
        }
    }
}

/// The driver's library, once it answered; a second failed try would cost what the first did.
fn nvml() -> Option<&'static Nvml> {
    static NVML: OnceLock<Option<Nvml>> = OnceLock::new();
    NVML.get_or_init(|| Nvml::init().ok()).as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PCI: Option<&str> = Some("PCI_BUS_ID");

    #[test]
    fn devices_are_numbered_among_those_that_cuda_is_let_see() {
        assert_eq!(name_of(1, None, PCI), Some(Name::Index(1)));
        assert_eq!(name_of(0, Some("3,1"), PCI), Some(Name::Index(3)));
        assert_eq!(name_of(1, Some("3, 1"), PCI), Some(Name::Index(1)));
        assert_eq!(name_of(2, Some("3,1"), PCI), None);
        assert_eq!(name_of(1, Some("3,-1,1"), PCI), None, "the list ends at what is no device");
        assert_eq!(name_of(0, Some(""), PCI), None);
        assert_eq!(name_of(0, Some("GPU-8932f937"), None), Some(Name::Uuid("GPU-8932f937".to_owned())));
    }

    #[test]
    fn a_number_in_an_unknown_order_names_nothing() {
        assert_eq!(name_of(0, None, None), None);
        assert_eq!(name_of(0, Some("1"), Some("FASTEST_FIRST")), None);
    }

    #[test]
    fn without_a_driver_there_are_no_devices_and_with_one_each_has_a_name() {
        assert_eq!(driver().is_none(), nvml().is_none());
        for card in cards() {
            assert!(!card.name.is_empty());
            let gauge = Gauge::open(&Name::Index(card.index)).expect("it was listed");
            assert_eq!(gauge.read().memory_total_bytes, card.memory_total_bytes);
        }
    }
}
