//! What a training asks of the memory of its device, in words and in bytes. No libtorch here.

use super::config::TrainConfig;
use crate::memory::Room;
use crate::model::config::ModelConfig;
use crate::text::{bytes, plural, thousands};

/// `a batch of 192 windows of 256 tokens, for a model of 52,406,272 parameters`.
pub fn told(config: &TrainConfig, model: &ModelConfig) -> String {
    let parameters = model.parameters() + model.embedding_parameters();
    format!(
        "a batch of {} of {}, for a model of {}",
        plural("window", config.batch.into()),
        plural("token", model.context.into()),
        plural("parameter", parameters)
    )
}

/// The failure of a step that found too little memory, from what libtorch said of it.
pub fn lacking(config: &TrainConfig, model: &ModelConfig, room: Option<Room>, said: &str) -> String {
    let room = room.map_or_else(String::new, |room| format!("; {} {}", bytes(room.bytes), room.of));
    let asked = asked(said).map_or_else(String::new, |asked| format!(", and {asked} more were asked for"));
    format!("too little memory for {}{room}{asked}", told(config, model))
}

/// What could not be had: the CPU's half of libtorch tells bytes, the half for CUDA rounds them.
fn asked(said: &str) -> Option<String> {
    let mut words = said.split_once("ried to allocate ")?.1.split_whitespace();
    let (number, unit) = (words.next()?, words.next()?.trim_end_matches(['.', ',']));
    match unit {
        "bytes" => number.parse().ok().map(bytes),
        _ => Some(format!("{number} {unit}")),
    }
}

/// The smaller batch that makes the same steps in less memory: the batch divided by its least divisor, and `accumulate`
/// times as much. None for a batch of 1.
pub fn smaller(config: &TrainConfig) -> Option<(u32, u32)> {
    let divisor = (2..=config.batch).find(|divisor| config.batch.is_multiple_of(*divisor))?;
    Some((config.batch / divisor, config.accumulate * divisor))
}

/// `train.batch=96 and train.accumulate=2 make the same steps of 192 windows in less memory`.
pub fn way_out(config: &TrainConfig) -> String {
    let windows = u64::from(config.batch) * u64::from(config.accumulate);
    match smaller(config) {
        Some((batch, accumulate)) => format!(
            "-S train.batch={batch} -S train.accumulate={accumulate} makes steps of the same {} windows in less memory",
            thousands(windows)
        ),
        None => "a batch of 1 can be no smaller: take a smaller model.context or model, or another device".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(batch: u32, accumulate: u32) -> TrainConfig {
        TrainConfig { batch, accumulate, ..TrainConfig::tiny() }
    }

    #[test]
    fn what_was_asked_for_is_told_whichever_half_of_libtorch_says_it() {
        let model = ModelConfig { layers: 16, heads: 8, width: 512, hidden: 1408, context: 256 };
        let room = Room { bytes: 3 << 20, of: "free on this machine".into() };
        let cpu = "DefaultCPUAllocator: can't allocate memory: you tried to allocate 1048576 bytes. Error code 12";
        assert_eq!(
            lacking(&batch(192, 1), &model, Some(room), cpu),
            "too little memory for a batch of 192 windows of 256 tokens, for a model of 52,406,272 parameters; \
             3 MiB free on this machine, and 1 MiB more were asked for"
        );
        let cuda = "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 23.69 GiB";
        assert!(lacking(&batch(1, 1), &model, None, cuda).ends_with("parameters, and 20.00 MiB more were asked for"));
        assert!(lacking(&batch(1, 1), &model, None, "std::bad_alloc").ends_with("parameters"));
    }

    #[test]
    fn a_smaller_batch_keeps_the_windows_of_a_step() {
        assert_eq!(
            [batch(192, 1), batch(9, 2), batch(7, 1), batch(1, 4)].map(|config| smaller(&config)),
            [Some((96, 2)), Some((3, 6)), Some((1, 7)), None]
        );
        assert!(
            way_out(&batch(80, 2)).starts_with("-S train.batch=40 -S train.accumulate=4 makes steps of the same 160 windows")
        );
    }
}
