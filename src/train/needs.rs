//! What a training asks of the memory of its device, in words and in bytes. No libtorch here.

use super::config::{Precision, TrainConfig};
use crate::chess::vocabulary::VOCABULARY_SIZE;
use crate::memory::Room;
use crate::model::config::ModelConfig;
use crate::text::{bytes, plural, thousands};

/// What a worker takes on a CPU before its first tensor: the files of libtorch, which are mapped, and its threads.
const PROCESS_BYTES: u64 = 170 << 20;

/// A rough account of the peak of memory on a device: weights, gradients and two moments in float32, what the backward pass needs
/// of each layer, and the logits with their gradient. `device` is what machine settings call it, or its own name.
///
/// On the CPU it counts the whole process, and more copies than libtorch's kernels for GPUs keep: there it lies within 15 % of
/// what `bench train` measured of models of 1 and 7 M parameters, in batches of 2 to 64. On a GPU it is held against the published
/// peak of run1 alone.
pub fn peak_bytes(train: &TrainConfig, model: &ModelConfig, device: &str) -> u64 {
    let parameters = model.parameters() + model.embedding_parameters();
    let tokens = u64::from(train.batch) * u64::from(model.context);
    // `auto` is reckoned as the CPU, which is always there.
    let on_cpu = ["cpu", "auto"].contains(&device);
    let kind_bytes = match train.precision {
        // On a CPU bfloat16 stands beside what it was made of.
        Precision::Bf16 if !on_cpu => 2,
        Precision::F32 | Precision::Tf32 | Precision::Bf16 => 4,
    };
    let (states, logits, process) = if on_cpu { (4, 6, PROCESS_BYTES) } else { (2, 3, 0) };
    // Float32 states of the residual stream; two norms, q, k and v, q and k rotated, what attention gives; the gate, its
    // activation, the other branch and their product.
    let [width, hidden] = [model.width, model.hidden].map(u64::from);
    let layer = 4 * states * width + kind_bytes * (8 * width + 4 * hidden);
    let logits = 4 * logits * VOCABULARY_SIZE as u64;
    process + 16 * parameters + tokens * (u64::from(model.layers) * layer + logits)
}

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

    #[test]
    fn the_memory_of_run1_fits_into_24_gigabytes_and_is_near_what_was_published() {
        let model = ModelConfig { layers: 16, heads: 8, width: 512, hidden: 1408, context: 256 };
        let train: TrainConfig = serde_json::from_value(serde_json::json!({
            "length": { "steps": 16_300 }, "batch": 192, "accumulate": 1, "sampler": "windows",
            "learning_rate": { "peak": 6e-4, "floor": 6e-5, "warmup": 500 }, "weight_decay": 0.1, "betas": [0.9, 0.95],
            "clip": 1.0, "precision": "bf16", "seed": 1337, "validate": { "every": 250, "batches": 50 },
            "snapshots": { "every": 1000 },
        }))
        .expect("the settings of run1");
        let bytes = peak_bytes(&train, &model, "cuda");
        // 18.5 GiB with a compiler that fuses what is counted here.
        assert!((18.0..21.0).contains(&(bytes as f64 / 1024_f64.powi(3))), "{bytes}");
    }

    #[test]
    fn the_memory_on_a_cpu_is_near_what_was_measured() {
        let small = ModelConfig { layers: 4, heads: 4, width: 128, hidden: 352, context: 128 };
        let large = ModelConfig { layers: 8, width: 256, hidden: 704, ..small.clone() };
        let measured_mib = [
            (&small, 2, Precision::F32, 200.0),
            (&small, 16, Precision::F32, 354.0),
            (&small, 64, Precision::F32, 897.0),
            (&small, 2, Precision::Bf16, 205.0),
            (&small, 64, Precision::Bf16, 962.0),
            (&large, 2, Precision::F32, 360.0),
            (&large, 16, Precision::F32, 757.0),
        ];
        for (model, size, precision, wanted) in measured_mib {
            let mib = peak_bytes(&TrainConfig { precision, ..batch(size, 1) }, model, "cpu") as f64 / f64::from(1 << 20);
            assert!((mib / wanted - 1.0).abs() < 0.15, "{model:?}, {size} windows in {precision:?}: {mib}, not {wanted}");
        }
    }
}
