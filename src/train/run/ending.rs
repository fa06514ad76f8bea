//! What a training leaves once its last step is done.

use anyhow::Result;
use serde_json::json;
use tch::Device;

use super::{DONE, Run, Session, TrainingTokens};
use crate::disk::sync_dir;
use crate::model::decoder::Decoder;
use crate::model::{device, shim};
use crate::train::best::{Best, best_file};
use crate::train::files::{CURVE, CurvePoint, SPEED, SpeedPoint, ema_file, read_lines, write_json};
use crate::train::reading::{Reading, summary};
use crate::train::speed::median;

impl Run<'_> {
    /// Writes what is told of the whole training, the file that says it is done last.
    pub(super) fn finish(&mut self, tokens: TrainingTokens) -> Result<()> {
        let ranks = self.session.ranks;
        self.publish_average()?;
        let peak_flops = self.peak_flops()?;
        if !ranks.is_first() {
            return Ok(());
        }
        let best = self.best.expect("the last step is validated");
        let chosen = self.out.join("best.safetensors");
        fs_err::copy(best_file(self.out, best.step), &chosen)?;
        fs_err::File::open(&chosen)?.sync_all()?;
        write_json(&self.out.join("best.json"), &best)?;
        for lines in [&self.curve, &self.validation, &self.speed] {
            lines.sync()?;
        }
        write_json(&self.out.join("device.json"), &self.device_facts(peak_flops)?)?;
        sync_dir(self.out)?;
        let model = self.trainer.decoder.config();
        let mut facts = json!({
            "steps": self.trainer.steps(),
            "tokens_per_step": self.config.tokens_per_step(model.context),
            "parameters": model.parameters(),
            "flops_per_token": model.flops_per_token(),
            "train_tokens": tokens.train.tokens.len(),
            "validation_tokens": tokens.validation.tokens.len(),
        });
        if let Some(packed) = self.trainer.packed() {
            facts["packing"] = packed.facts();
        }
        if self.config.spikes.is_some() {
            let curve = read_lines::<CurvePoint>(&self.out.join(CURVE))?;
            facts["skipped"] = curve.iter().filter(|point| point.skipped).count().into();
        }
        write_json(&self.out.join(DONE), &facts)
    }

    fn device_facts(&self, peak_flops: f64) -> Result<serde_json::Value> {
        let Session { device, threads, ranks, .. } = self.session;
        let peak_memory_bytes = match device {
            Device::Cuda(index) => shim::peak_bytes(index).ok(),
            _ => None,
        };
        let laps = read_lines::<SpeedPoint>(&self.out.join(SPEED))?;
        let readings: Vec<Reading> = laps.iter().map(|lap| lap.reading).collect();
        // The first warms up: caches fill, kernels are chosen.
        let warm = if laps.len() > 1 { &laps[1..] } else { &laps };
        let tokens_per_second = median(warm);
        let flops_per_token = self.trainer.decoder.config().flops_per_token() as f64;
        Ok(json!({
            "device": device::name(device),
            "ranks": ranks.size(),
            "threads": threads,
            "matmul_flops_per_second": peak_flops,
            "tokens_per_second": tokens_per_second,
            "timed": "the median of laps of 20 steps; left out are the first one, which warms up, validation, snapshots and \
                      checkpoints, and the pause after it in which the matmul rate is measured",
            "mfu": tokens_per_second.map(|rate| rate * flops_per_token / peak_flops),
            "peak_memory_bytes": peak_memory_bytes,
            "read": summary(&readings),
        }))
    }

    /// Publishes the average of the weights, where one is kept, and its validation loss.
    fn publish_average(&self) -> Result<()> {
        let Some(average) = &self.trainer.average else { return Ok(()) };
        let (file, ranks) = (ema_file(self.out), self.session.ranks);
        if ranks.is_first() {
            average.write(&file)?;
        }
        // None reads it before rank 0 has written it.
        ranks.decide([true])?;
        let decoder = Decoder::load(&file, self.trainer.decoder.config(), self.session.device)?;
        let loss = self.validation_loss(&decoder)?;
        if ranks.is_first() {
            write_json(&self.out.join("ema.json"), &Best { step: self.trainer.step(), loss })?;
        }
        Ok(())
    }
}
