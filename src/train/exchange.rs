//! What the ranks of a training tell one another at each step: gradients and loss, summed through one flat buffer.

use anyhow::Result;
use tch::{Device, Kind, Tensor};

use crate::error::Fixable;
use crate::model::weights::Weights;
use crate::ranks::Ranks;

/// Sums over ranks. The buffer is made at the first sum and serves all others.
pub struct Exchange<'a> {
    ranks: &'a dyn Ranks,
    buffer: Option<Buffer>,
}

struct Buffer {
    /// All gradients side by side and the loss behind them, float32, on the device.
    flat: Tensor,
    /// The same on the host; where that is the device, the same memory.
    host: Tensor,
    /// The gradients' places in `flat`, in their shapes, and the loss's.
    views: Vec<Tensor>,
}

impl<'a> Exchange<'a> {
    pub fn new(ranks: &'a dyn Ranks) -> Self {
        Self { ranks, buffer: None }
    }

    /// How many ranks share a step.
    pub fn ranks(&self) -> usize {
        self.ranks.size()
    }

    /// The sums of gradients and loss over all ranks, with the same bits in each. They are good until the next sum.
    ///
    /// # Errors
    ///
    /// Where libtorch fails, or another rank is gone.
    pub fn sum(&mut self, gradients: Vec<Tensor>, loss: Tensor) -> Result<(Vec<Tensor>, Tensor)> {
        if self.ranks.size() == 1 {
            return Ok((gradients, loss));
        }
        let mut parts = gradients;
        parts.push(loss);
        let buffer = match &mut self.buffer {
            Some(buffer) => buffer,
            none => none.insert(Buffer::like(&parts)?),
        };
        buffer.gather(&parts)?;
        drop(parts);
        self.ranks.sum(buffer.numbers())?;
        buffer.upload()?;
        let mut sums: Vec<Tensor> = buffer.views.iter().map(Tensor::shallow_clone).collect();
        let loss = sums.pop().expect("the loss is the last one");
        Ok((sums, loss))
    }
}

impl Buffer {
    fn like(parts: &[Tensor]) -> Result<Self> {
        let length = parts.iter().map(|part| part.numel() as i64).sum::<i64>();
        let device = parts[0].device();
        let flat = Tensor::f_zeros([length], (Kind::Float, device))?;
        let host = match device {
            Device::Cpu => flat.shallow_clone(),
            // Page-locked memory is what a device copies to and from at full speed.
            _ => Tensor::f_zeros([length], (Kind::Float, Device::Cpu))?.f_pin_memory(device)?,
        };
        let mut from = 0;
        let mut views = Vec::with_capacity(parts.len());
        for part in parts {
            let length = part.numel() as i64;
            views.push(flat.f_narrow(0, from, length)?.f_view(part.size().as_slice())?);
            from += length;
        }
        Ok(Self { flat, host, views })
    }

    /// Copies all parts to the host, and waits until they are there.
    fn gather(&mut self, parts: &[Tensor]) -> Result<()> {
        let rows = parts.iter().map(|part| part.f_reshape([-1])).collect::<Result<Vec<_>, _>>()?;
        let _ = Tensor::f_cat_out(&self.flat, &rows, 0)?;
        if self.flat.device() != Device::Cpu {
            self.host.f_copy_(&self.flat)?;
        }
        Ok(())
    }

    fn upload(&mut self) -> Result<()> {
        if self.flat.device() != Device::Cpu {
            self.flat.f_copy_(&self.host)?;
        }
        Ok(())
    }

    fn numbers(&mut self) -> &mut [f32] {
        let length = self.host.numel();
        #[expect(unsafe_code, reason = "the ranks sum in the tensor's own memory")]
        // SAFETY: `host` is a contiguous float32 tensor of so many numbers on the CPU, and everything that was to write into
        // it has; while the slice lives, `self` is borrowed and no call of libtorch can touch it.
        unsafe {
            std::slice::from_raw_parts_mut(self.host.data_ptr().cast::<f32>(), length)
        }
    }
}

/// Sees that this rank has the weights of rank 0, after `step` steps: each rank does the same arithmetic on the same sums.
///
/// # Errors
///
/// Where it has not, as on processors of different kinds.
pub fn same_weights(ranks: &dyn Ranks, weights: &Weights, step: u64) -> Result<()> {
    if ranks.size() == 1 {
        return Ok(());
    }
    let _guard = tch::no_grad_guard();
    let sums = weights.named().iter().map(|(_, weight)| weight.f_sum(Kind::Double)).collect::<Result<Vec<_>, _>>()?;
    let own: Vec<f64> = Vec::try_from(Tensor::f_stack(&sums, 0)?.f_to_device(Device::Cpu)?)?;
    let own: Vec<u8> = own.iter().flat_map(|sum| sum.to_le_bytes()).collect();
    if ranks.told(own.clone())? == own {
        return Ok(());
    }
    Err(Fixable::failed(format!("rank {} no longer has the weights of rank 0 after step {step}", ranks.rank()))
        .hint("all ranks must run the same build on devices of one kind; the training goes on from its last checkpoint")
        .into())
}
