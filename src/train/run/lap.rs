//! How fast the last steps were, told while the training goes on.

use anyhow::Result;

use super::Run;
use crate::train::files::SpeedPoint;
use crate::train::matmul;

impl Run<'_> {
    /// Writes a lap, and tells its speed in tokens a second and as a share of what the device can do. Call it in a pause.
    pub(super) fn tell_lap(&mut self, mut lap: SpeedPoint) -> Result<()> {
        lap.reading = self.gauges.read();
        self.speed.push(&lap)?;
        let flops = lap.tokens_per_second * self.trainer.decoder.config().flops_per_token() as f64;
        let mfu = flops / self.peak_flops()?;
        self.session.progress.metric("tokens_per_second", lap.step, lap.tokens_per_second);
        self.session.progress.metric("mfu", lap.step, mfu);
        Ok(())
    }

    /// The matmul rate of all devices together, in FLOP/s: measured once, where it is asked for first. That is after the
    /// first lap, when a device is as warm as it stays and its clock as high; a training without a whole lap is never kept
    /// waiting for it before its end.
    pub(super) fn peak_flops(&mut self) -> Result<f64> {
        if let Some(known) = self.peak_flops {
            return Ok(known);
        }
        let (device, clock) = (self.session.device, self.session.clock);
        // All at once, as in a step.
        let own = matmul::flops_per_second(device, self.config.precision, clock);
        Ok(*self.peak_flops.insert(self.session.ranks.total(own)?))
    }
}
