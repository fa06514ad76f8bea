//! Where tensors live: the CPU, or a CUDA device whose half of libtorch is loaded only when asked for.
//!
//! The worker links libtorch's CPU half alone. libtorch looks for its CUDA half once, at the first question about it,
//! so [`open`] must be the first thing in a process that touches CUDA.

use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use tch::Device;

use super::shim;
use crate::error::Fixable;
use crate::ranks::Here;

/// What the machine settings ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    /// The first CUDA device that answers, else the CPU.
    Auto,
    Cpu,
    Cuda(usize),
}

/// Opens the device named `auto`, `cpu`, `cuda` or `cuda:N`, and sets the threads of libtorch.
///
/// `cuda` is a folder to look for `libtorch_cuda.so` in, before those beside the linked library.
///
/// # Errors
///
/// Where the name is none of these, or CUDA is asked for and does not answer; the message says what was looked for.
pub fn open(name: &str, threads: usize, cuda: Option<&Path>) -> Result<Device> {
    let device = match parse(name)? {
        Asked::Cpu => Device::Cpu,
        Asked::Auto => match load_cuda(cuda) {
            Ok(()) if tch::Cuda::is_available() => Device::Cuda(0),
            _ => Device::Cpu,
        },
        Asked::Cuda(index) => {
            load_cuda(cuda)?;
            let found = if tch::Cuda::is_available() { tch::Cuda::device_count().max(0) as usize } else { 0 };
            if found == 0 {
                return Err(Fixable::failed(format!("device `{name}` is asked for, and no CUDA device answers"))
                    .hint("see whether `nvidia-smi` lists one, or set device = \"cpu\"")
                    .into());
            }
            if index >= found {
                return Err(
                    Fixable::usage(format!("device `{name}` is asked for, and there are {found}, numbered from 0")).into()
                );
            }
            Device::Cuda(index)
        }
    };
    tch::set_num_threads(threads.max(1) as i32);
    // What was measured before in this process may have asked otherwise.
    shim::allow_tf32(false)?;
    keep_memory();
    Ok(device)
}

/// Opens the device of one of several ranks on a machine: of `cuda` and `auto`, each rank takes one of its own in their order;
/// a device that is named by its number, and the CPU, they share.
///
/// # Errors
///
/// As [`open`]; and where there are fewer devices than ranks.
pub fn open_among(name: &str, here: Here, threads: usize) -> Result<Device> {
    let device = open(name, threads, None)?;
    if here.size == 1 || !device.is_cuda() || name.contains(':') {
        return Ok(device);
    }
    let found = tch::Cuda::device_count().max(0) as usize;
    if here.size > found {
        return Err(Fixable::usage(format!("{} ranks want a device each, and this machine has {found}", here.size))
            .hint(format!("set ranks = {found}, or share one by its number: device = \"cuda:0\""))
            .into());
    }
    open(&format!("cuda:{}", here.rank), threads, None)
}

/// Tells the allocator to keep what is freed: the next step asks for just as much, and fresh pages cost it a fault each (a
/// fifth of a small model's bfloat16 step on the CPU).
fn keep_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[expect(unsafe_code, reason = "glibc's own switches, which the standard library does not wrap")]
    // SAFETY: mallopt takes two integers and changes nothing but where later memory comes from.
    unsafe {
        libc::mallopt(libc::M_MMAP_MAX, 0);
        libc::mallopt(libc::M_TRIM_THRESHOLD, -1);
    }
}

/// The name of a device as settings and records write it.
pub fn name(device: Device) -> String {
    match device {
        Device::Cuda(index) => format!("cuda:{index}"),
        _ => "cpu".to_owned(),
    }
}

/// A sentence on the device that a setting comes to: its name and, for CUDA, how many there are.
///
/// # Errors
///
/// As [`open`].
pub fn describe(asked: &str) -> Result<String> {
    let device = open(asked, 1, None)?;
    let found = if device.is_cuda() { format!(" of {}", tch::Cuda::device_count()) } else { String::new() };
    Ok(format!("device {}{found} (asked for `{asked}`)", name(device)))
}

/// Waits until the device has done all it was given.
pub fn synchronize(device: Device) {
    if let Device::Cuda(index) = device {
        tch::Cuda::synchronize(index as i64);
    }
}

fn parse(name: &str) -> Result<Asked> {
    Ok(match name {
        "auto" => Asked::Auto,
        "cpu" => Asked::Cpu,
        "cuda" => Asked::Cuda(0),
        other => match other.strip_prefix("cuda:").and_then(|index| index.parse().ok()) {
            Some(index) => Asked::Cuda(index),
            None => {
                return Err(Fixable::usage(format!("device `{other}` is none of `auto`, `cpu`, `cuda`, `cuda:N`"))
                    .hint("set device in philidor.toml or PHILIDOR_DEVICE")
                    .into());
            }
        },
    })
}

/// Loads the CUDA half of libtorch from the first folder that has it; a second call costs nothing.
fn load_cuda(folder: Option<&Path>) -> Result<()> {
    let linked = Path::new(env!("PHILIDOR_LIBTORCH_LIB"));
    let beside = linked.with_file_name("cuda").join("torch/lib");
    let places: Vec<PathBuf> =
        folder.into_iter().chain([linked, &beside]).map(|folder| folder.join("libtorch_cuda.so")).collect();
    let Some(library) = places.iter().find(|place| place.exists()) else {
        let places: Vec<String> = places.iter().map(|place| format!("`{}`", place.display())).collect();
        return Err(Fixable::failed(format!(
            "CUDA is asked for, and libtorch's half for it is not there: looked for {}",
            places.join(", ")
        ))
        .hint("fetch it with `scripts/libtorch.sh cuda`, or set device = \"cpu\"")
        .into());
    };
    let path = CString::new(library.as_os_str().as_bytes())?;
    #[expect(unsafe_code, reason = "libtorch registers its CUDA kernels as it is loaded")]
    // SAFETY: the path and dlerror's answer are C strings; the library's initialisers are libtorch's own, made for this.
    unsafe {
        if libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL).is_null() {
            let error = libc::dlerror();
            let reason = if error.is_null() { "no reason given".into() } else { CStr::from_ptr(error).to_string_lossy() };
            return Err(Fixable::failed(format!("`{}` could not be loaded: {reason}", library.display()))
                .hint("it must be of the same version as the libtorch that the worker links")
                .into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_names_are_understood_or_refused_with_the_names_there_are() {
        assert_eq!(parse("auto").expect("a name"), Asked::Auto);
        assert_eq!(parse("cuda").expect("a name"), Asked::Cuda(0));
        assert_eq!(parse("cuda:3").expect("a name"), Asked::Cuda(3));
        for wrong in ["gpu", "cuda:", "cuda:x", "CPU", ""] {
            let error = parse(wrong).expect_err("no name of a device");
            assert!(error.to_string().contains("`cuda:N`"), "{error}");
        }
    }

    #[test]
    fn cuda_asked_for_in_vain_says_where_it_was_looked_for() {
        // A build against a CUDA libtorch finds it, and then there is nothing to say.
        if let Err(error) = load_cuda(Some(Path::new("/nowhere"))) {
            assert!(error.to_string().contains("/nowhere/libtorch_cuda.so"), "{error}");
        }
    }
}
