//! What tch does not wrap, through a few lines of C++ beside this file.
//!
//! The C++ side catches every exception and hands its message over; here it becomes an error. Tensors are borrowed
//! for the call and keep their owners.

use std::any::Any;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, anyhow};
use tch::Tensor;

type Handle = *const torch_sys::C_tensor;

#[expect(unsafe_code, reason = "the functions of shim.cpp")]
unsafe extern "C" {
    fn philidor_free(message: *mut c_char);
    fn philidor_adamw(
        weights: *const Handle,
        gradients: *const Handle,
        first: *const Handle,
        second: *const Handle,
        count: usize,
        step: Handle,
        rate: f64,
        beta1: f64,
        beta2: f64,
        decay: f64,
        eps: f64,
        skip: Handle,
    ) -> *mut c_char;
    fn philidor_lerp(to: *const Handle, from: *const Handle, count: usize, weight: f64, skip: Handle) -> *mut c_char;
    fn philidor_clip(gradients: *const Handle, count: usize, most: f64, norm: *mut *mut torch_sys::C_tensor) -> *mut c_char;
    fn philidor_add(to: *const Handle, from: *const Handle, count: usize) -> *mut c_char;
    fn philidor_share(parts: usize, work: unsafe extern "C" fn(*const c_void, usize), with: *const c_void) -> *mut c_char;
    fn philidor_pack(weight: Handle, packed: *mut *mut torch_sys::C_tensor) -> *mut c_char;
    fn philidor_packed_product(x: Handle, packed: Handle, product: *mut *mut torch_sys::C_tensor) -> *mut c_char;
    fn philidor_tf32(allowed: bool) -> *mut c_char;
    fn philidor_peak_bytes(device: c_int, bytes: *mut i64) -> *mut c_char;
    fn philidor_release() -> *mut c_char;
    fn philidor_free_bytes(device: c_int, bytes: *mut i64) -> *mut c_char;
}

/// The settings of one AdamW step.
#[derive(Clone, Copy, Debug)]
pub struct AdamW {
    pub rate: f64,
    pub betas: [f64; 2],
    pub decay: f64,
    pub eps: f64,
}

/// One fused step on all tensors: weights and both moments change in place, but for where `skip`, a float32 scalar on their
/// device, is 1. `step` is a float32 scalar, 1 for the first step.
///
/// # Errors
///
/// Where the lists do not match in length, shape, dtype or device, with libtorch's message.
pub fn adamw(
    weights: &[&Tensor],
    gradients: &[&Tensor],
    moments: [&[&Tensor]; 2],
    step: &Tensor,
    with: AdamW,
    skip: Option<&Tensor>,
) -> Result<()> {
    let [first, second] = moments;
    let count = weights.len();
    anyhow::ensure!([gradients.len(), first.len(), second.len()] == [count; 3], "AdamW was given lists of different lengths");
    let [weights, gradients, first, second] = [weights, gradients, first, second].map(handles);
    let AdamW { rate, betas: [beta1, beta2], decay, eps } = with;
    #[expect(unsafe_code, reason = "a call into shim.cpp")]
    // SAFETY: the four arrays hold `count` live tensors, which outlive the call, as do `step` and `skip`, which may be null.
    said(unsafe {
        philidor_adamw(
            weights.as_ptr(),
            gradients.as_ptr(),
            first.as_ptr(),
            second.as_ptr(),
            count,
            step.as_ptr(),
            rate,
            beta1,
            beta2,
            decay,
            eps,
            handle(skip),
        )
    })
}

/// Scales gradients in place to a global norm of at most `most`, and returns the norm before, a scalar on their device.
pub fn clip(gradients: &[Tensor], most: f64) -> Result<Tensor> {
    let list = handles(&gradients.iter().collect::<Vec<_>>());
    let mut norm = std::ptr::null_mut();
    #[expect(unsafe_code, reason = "a call into shim.cpp")]
    // SAFETY: the array holds live tensors; where there is no message, `norm` is a new tensor that this side owns.
    unsafe {
        said(philidor_clip(list.as_ptr(), list.len(), most, &raw mut norm))?;
        Ok(Tensor::from_ptr(norm))
    }
}

/// Adds each of `from` to its fellow in `to`, in place.
pub fn add(to: &[Tensor], from: &[Tensor]) -> Result<()> {
    anyhow::ensure!(to.len() == from.len(), "addition was given lists of different lengths");
    let [to, from] = [to, from].map(|list| handles(&list.iter().collect::<Vec<_>>()));
    #[expect(unsafe_code, reason = "a call into shim.cpp")]
    // SAFETY: both arrays hold the same number of live tensors.
    said(unsafe { philidor_add(to.as_ptr(), from.as_ptr(), to.len()) })
}

/// Moves each of `to` by this share of the way to its fellow in `from`, in place, but for where `skip` is 1.
pub fn lerp(to: &[&Tensor], from: &[&Tensor], share: f64, skip: Option<&Tensor>) -> Result<()> {
    anyhow::ensure!(to.len() == from.len(), "an average was given lists of different lengths");
    let [to, from] = [to, from].map(handles);
    #[expect(unsafe_code, reason = "a call into shim.cpp")]
    // SAFETY: both arrays hold the same number of live tensors; `skip` is null or one.
    said(unsafe { philidor_lerp(to.as_ptr(), from.as_ptr(), to.len(), share, handle(skip)) })
}

/// A float32 matrix on the CPU, [out, in], in the order in which oneDNN's kernels read it.
///
/// # Errors
///
/// Where libtorch has no oneDNN.
pub fn packed(weight: &Tensor) -> Result<Tensor> {
    let mut packed = std::ptr::null_mut();
    #[expect(unsafe_code, reason = "a call into shim.cpp")]
    // SAFETY: the handle is a live tensor; where there is no message, `packed` is a new tensor that this side owns.
    unsafe {
        said(philidor_pack(weight.as_ptr(), &raw mut packed))?;
        Ok(Tensor::from_ptr(packed))
    }
}

/// `x · weightᵀ` of a [packed] weight, without gradients: [… , in] to [… , out].
pub fn packed_product(x: &Tensor, weight: &Tensor) -> Result<Tensor> {
    let mut product = std::ptr::null_mut();
    #[expect(unsafe_code, reason = "a call into shim.cpp")]
    // SAFETY: the handles are live tensors; where there is no message, `product` is a new tensor that this side owns.
    unsafe {
        said(philidor_packed_product(x.as_ptr(), weight.as_ptr(), &raw mut product))?;
        Ok(Tensor::from_ptr(product))
    }
}

/// Does the work of each number below `parts`, by the threads that libtorch computes with.
///
/// # Panics
///
/// Where the work of a part does.
pub fn share(parts: usize, work: &(dyn Fn(usize) + Sync)) -> Result<()> {
    struct Shared<'a> {
        work: &'a (dyn Fn(usize) + Sync),
        panic: Mutex<Option<Box<dyn Any + Send>>>,
    }
    #[expect(unsafe_code, reason = "called back by shim.cpp")]
    unsafe extern "C" fn call(shared: *const c_void, part: usize) {
        // SAFETY: it is what `share` gives below, and lives until all parts are done.
        let Shared { work, panic } = unsafe { &*shared.cast::<Shared>() };
        // No panic may leave for C++.
        if let Err(cause) = catch_unwind(AssertUnwindSafe(|| work(part))) {
            panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(cause);
        }
    }
    let shared = Shared { work, panic: Mutex::new(None) };
    #[expect(unsafe_code, reason = "a call into shim.cpp")]
    // SAFETY: `shared` outlives the call, which returns once all parts are done; what threads share of it is Sync.
    said(unsafe { philidor_share(parts, call, (&raw const shared).cast()) })?;
    match shared.panic.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(cause) => resume_unwind(cause),
        None => Ok(()),
    }
}

/// Whether float32 factors of matrix products may be rounded to `TensorFloat32` on devices that have it, in this process.
pub fn allow_tf32(allowed: bool) -> Result<()> {
    #[expect(unsafe_code, reason = "a call into shim.cpp")]
    // SAFETY: it takes a value and sets one of libtorch's own.
    said(unsafe { philidor_tf32(allowed) })
}

/// Most bytes that libtorch held on a CUDA device since the process began.
pub fn peak_bytes(cuda: usize) -> Result<u64> {
    let mut bytes = 0;
    #[expect(unsafe_code, reason = "a call into shim.cpp")]
    // SAFETY: `bytes` is a live i64.
    said(unsafe { philidor_peak_bytes(cuda as c_int, &raw mut bytes) })?;
    Ok(bytes.max(0) as u64)
}

/// Gives the memory that libtorch holds for later back to the CUDA devices.
pub fn release() -> Result<()> {
    #[expect(unsafe_code, reason = "a call into shim.cpp")]
    // SAFETY: it takes nothing, and frees only what no tensor uses.
    said(unsafe { philidor_release() })
}

/// Bytes that are free on a CUDA device.
pub fn free_bytes(cuda: usize) -> Result<u64> {
    let mut bytes = 0;
    #[expect(unsafe_code, reason = "a call into shim.cpp")]
    // SAFETY: `bytes` is a live i64.
    said(unsafe { philidor_free_bytes(cuda as c_int, &raw mut bytes) })?;
    Ok(bytes.max(0) as u64)
}

fn handle(tensor: Option<&Tensor>) -> Handle {
    tensor.map_or(std::ptr::null(), Tensor::as_ptr)
}

fn handles(tensors: &[&Tensor]) -> Vec<Handle> {
    tensors.iter().map(|tensor| tensor.as_ptr()).collect()
}

/// The message of a failed call, freed.
pub(super) fn said(message: *mut c_char) -> Result<()> {
    if message.is_null() {
        return Ok(());
    }
    #[expect(unsafe_code, reason = "a string made by shim.cpp")]
    // SAFETY: shim.cpp returns null or a C string of its own, which is freed once, here.
    let text = unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        philidor_free(message);
        text
    };
    Err(anyhow!("libtorch: {text}"))
}
