//! A tensor's numbers, read where libtorch has them.

use anyhow::{Result, ensure};
use tch::{Device, Kind, Tensor};

/// Float32 numbers in row-major order.
pub struct OnHost {
    /// Contiguous float32 on the CPU, which nobody else writes to.
    tensor: Tensor,
    length: usize,
}

impl OnHost {
    /// The numbers of a tensor: copied only where they are on another device or not side by side.
    ///
    /// # Errors
    ///
    /// Where they are no float32.
    pub fn of(tensor: &Tensor) -> Result<Self> {
        ensure!(tensor.kind() == Kind::Float, "{:?} is no float32", tensor.kind());
        let tensor = tensor.to_device(Device::Cpu).contiguous();
        let length = tensor.numel();
        Ok(Self { tensor, length })
    }
}

impl AsRef<[f32]> for OnHost {
    fn as_ref(&self) -> &[f32] {
        if self.length == 0 {
            return &[];
        }
        #[expect(unsafe_code, reason = "tch hands numbers over by copying them")]
        // SAFETY: the tensor is contiguous, holds so many float32 on the CPU, and lives as long as the slice.
        unsafe {
            std::slice::from_raw_parts(self.tensor.data_ptr().cast(), self.length)
        }
    }
}

#[expect(unsafe_code, reason = "threads share the numbers")]
// SAFETY: they are only read, and the one call into libtorch asks where they are.
unsafe impl Sync for OnHost {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_tensor_in_row_major_order_whichever_way_they_lie() {
        let tensor = Tensor::from_slice(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0]).view([2, 3]);
        let read = |tensor: &Tensor| OnHost::of(tensor).expect("float32").as_ref().to_vec();
        assert_eq!(read(&tensor), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(read(&tensor.tr()), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        assert_eq!(read(&tensor.narrow(0, 1, 1)), [4.0, 5.0, 6.0]);
        assert!(read(&tensor.narrow(0, 0, 0)).is_empty());
        assert!(OnHost::of(&tensor.to_kind(Kind::Double)).is_err());
    }

    #[test]
    fn they_outlive_the_tensor_they_were_asked_of() {
        let read = {
            let tensor = Tensor::ones([1000], (Kind::Float, Device::Cpu));
            OnHost::of(&tensor).expect("float32")
        };
        assert_eq!(read.as_ref(), [1.0; 1000]);
    }
}
