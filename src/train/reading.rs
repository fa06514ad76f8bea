//! What a device tells of itself while it works: power, temperature, clock, memory. No libtorch here.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// One reading; what the device does not tell is none, and absent from the files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reading {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_watts: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature_celsius: Option<f64>,
    /// Of the streaming multiprocessors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_mhz: Option<f64>,
    /// By all processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_used_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_total_bytes: Option<u64>,
    /// Share of the last moment in which the device worked, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilisation: Option<f64>,
    /// Used by the whole device since the gauges were opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy_joules: Option<f64>,
}

/// Least, mean and most of each quantity that was read at all, by its name.
pub fn summary(readings: &[Reading]) -> Value {
    type Quantity = (&'static str, fn(&Reading) -> Option<f64>);
    let quantities: [Quantity; 5] = [
        ("power_watts", |reading| reading.power_watts),
        ("temperature_celsius", |reading| reading.temperature_celsius),
        ("clock_mhz", |reading| reading.clock_mhz),
        ("memory_used_bytes", |reading| reading.memory_used_bytes.map(|bytes| bytes as f64)),
        ("utilisation", |reading| reading.utilisation),
    ];
    let told = quantities.iter().filter_map(|(name, of)| {
        let values: Vec<f64> = readings.iter().filter_map(of).collect();
        let least = values.iter().copied().reduce(f64::min)?;
        let most = values.iter().copied().reduce(f64::max)?;
        Some(((*name).to_owned(), json!({ "min": least, "mean": values.iter().sum::<f64>() / values.len() as f64, "max": most })))
    });
    Value::Object(told.collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_told_is_absent_from_the_line_and_read_back_as_none() {
        let reading = Reading { power_watts: Some(312.5), ..Reading::default() };
        assert_eq!(serde_json::to_string(&reading).expect("it serialises"), r#"{"power_watts":312.5}"#);
        assert_eq!(serde_json::from_str::<Reading>(r#"{"power_watts":312.5}"#).expect("it is one"), reading);
        assert_eq!(serde_json::from_str::<Reading>("{}").expect("it is one"), Reading::default());
    }

    #[test]
    fn a_summary_is_of_what_was_told() {
        let of = |power_watts, clock_mhz| Reading { power_watts, clock_mhz, ..Reading::default() };
        let readings = [of(Some(100.0), None), of(Some(300.0), Some(1_980.0)), of(Some(350.0), None)];
        assert_eq!(
            summary(&readings),
            json!({ "power_watts": { "min": 100.0, "mean": 250.0, "max": 350.0 },
                    "clock_mhz": { "min": 1980.0, "mean": 1980.0, "max": 1980.0 } })
        );
        assert_eq!(summary(&[]), json!({}));
    }
}
