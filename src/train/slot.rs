//! The memory of one batch on the host: written by whoever fills it, read by the device.

use anyhow::{Context as _, Result};
use tch::kind::Element;
use tch::{Device, Kind, Tensor};

use super::rows::{Number, Rows, Scratch, Targets};
use super::windows::Batch;

/// Inputs and targets, [2, b, t]. On the CPU they are int64, and a batch looks at this very memory. For a CUDA device they are
/// int16, a quarter of the bytes, and a batch is a copy on the device.
pub(super) struct Slot {
    numbers_2bt: Tensor,
    device: Device,
    /// What was filled in last.
    batch: u64,
    targets: Targets,
}

impl Slot {
    /// Memory for batches of `rows` on their way to `device`. What is `pinned` can be copied while the host goes on.
    pub(super) fn new(rows: &Rows, device: Device, pinned: bool) -> Result<Self> {
        let [b, t] = rows.shape().map(|size| size as i64);
        let kind = if device.is_cuda() { Kind::Int16 } else { Kind::Int64 };
        let mut numbers_2bt = Tensor::f_zeros([2, b, t], (kind, Device::Cpu))?;
        if pinned && device.is_cuda() {
            numbers_2bt = numbers_2bt.f_pin_memory(device).context("pinning the memory of a batch")?;
        }
        Ok(Self { numbers_2bt, device, batch: 0, targets: Targets::default() })
    }

    /// Writes batch `number`.
    pub(super) fn fill(&mut self, rows: &Rows, number: u64, scratch: &mut Scratch) {
        self.batch = number;
        self.targets = match self.numbers_2bt.kind() {
            Kind::Int16 => fill::<i16>(&mut self.numbers_2bt, rows, number, scratch),
            _ => fill::<i64>(&mut self.numbers_2bt, rows, number, scratch),
        };
    }

    /// The number of the batch that was filled in last.
    pub(super) fn number(&self) -> u64 {
        self.batch
    }

    /// What was filled in last, on the device. The slot must not be filled again before the batch, and all that was computed
    /// from it and can still be differentiated, is gone; or, where it is pinned, before its copy is done.
    pub(super) fn batch(&self, by_game: bool) -> Result<Batch> {
        let numbers = &self.numbers_2bt;
        let (inputs_bt, targets_bt) = if self.device.is_cuda() {
            let there = numbers.f_to_device_(self.device, Kind::Int16, true, false)?.f_to_kind(Kind::Int64)?;
            (there.f_select(0, 0)?, there.f_select(0, 1)?)
        } else {
            (numbers.f_select(0, 0)?, numbers.f_select(0, 1)?)
        };
        Ok(Batch { inputs_bt, targets_bt, targets: self.targets, by_game })
    }
}

fn fill<T: Number + Element>(numbers_2bt: &mut Tensor, rows: &Rows, number: u64, scratch: &mut Scratch) -> Targets {
    let numbers = memory::<T>(numbers_2bt);
    let (inputs, targets) = numbers.split_at_mut(numbers.len() / 2);
    rows.fill(number, scratch, inputs, targets)
}

/// What a tensor of the host holds.
#[expect(
    unsafe_code,
    reason = "tch lets a tensor's memory be written only through copies, which each need a tensor of their own"
)]
fn memory<T: Element>(tensor: &mut Tensor) -> &mut [T] {
    assert!(
        tensor.device() == Device::Cpu && tensor.kind() == T::KIND && tensor.is_contiguous() && tensor.numel() > 0,
        "a slot is memory of the host, and of one piece"
    );
    let (first, count) = (tensor.data_ptr().cast::<T>(), tensor.numel());
    // SAFETY: just seen, `first` begins `count` numbers of this kind, initialised as zeros, that live as long as the tensor.
    // Nobody reads or writes them meanwhile: the tensor is borrowed for writing, and views that `batch` made are gone by
    // contract, which the loader keeps by owning a slot from the moment it comes back until it is handed out.
    unsafe { std::slice::from_raw_parts_mut(first, count) }
}
