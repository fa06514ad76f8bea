//! Where tensors live: the CPU, or a CUDA device whose half of libtorch is loaded only when asked for.
//!
//! The worker links libtorch's CPU half alone. libtorch looks for its CUDA half once, at the first question about it,
//! so [`open`] must be the first thing in a process that touches CUDA.

use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use anyhow::Result;
use serde::Serialize;
use serde_json::{Value, json};
use tch::Device;

use super::libtorch::{self, Libtorch, Place};
use super::{cudart, shim};
use crate::error::Fixable;
use crate::gpus;
use crate::ranks::Here;
use crate::text::plural;

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
/// Where the name is none of these, libtorch is of another version, or CUDA is asked for and does not answer; the message says
/// what was looked for.
pub fn open(name: &str, threads: usize, cuda: Option<&Path>) -> Result<Device> {
    let asked = parse(name)?;
    if let Some(libtorch) = libtorch::loaded() {
        libtorch.check()?;
    }
    let device = match asked {
        Asked::Cpu => Device::Cpu,
        Asked::Auto => match load_cuda(cuda) {
            Ok(()) if tch::Cuda::is_available() => Device::Cuda(0),
            _ => Device::Cpu,
        },
        Asked::Cuda(index) => {
            load_cuda(cuda)?;
            let found = if tch::Cuda::is_available() { tch::Cuda::device_count().max(0) as usize } else { 0 };
            if found == 0 {
                return Err(no_answer(name));
            }
            if index >= found {
                return Err(Fixable::usage(format!("device `{name}` is asked for, and there are {found}, numbered from 0"))
                    .hint("they are numbered in PCI order; `philidor doctor` lists them")
                    .into());
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

/// The libtorch of this process and the device that a setting comes to.
#[derive(Clone, Debug, Serialize)]
pub struct Description {
    /// A sentence or two, for people.
    pub text: String,
    /// The same and more, for programs.
    pub facts: Value,
}

/// Says which libtorch this is, which device a setting comes to, and where its CUDA half is or was looked for.
///
/// # Errors
///
/// As [`open`].
pub fn describe(asked: &str) -> Result<Description> {
    let device = open(asked, 1, None)?;
    let libtorch = libtorch::loaded();
    let places = libtorch.as_ref().map_or_else(Vec::new, |libtorch| libtorch.places(None));
    let half = places.iter().find(|place| place.against.is_none());
    let found = if device.is_cuda() { tch::Cuda::device_count() } else { 0 };
    let addresses: Vec<Option<String>> = (0..found.max(0) as usize).map(cudart::pci_bus_id).collect();
    let version = libtorch.as_ref().and_then(|libtorch| libtorch.version.as_deref()).unwrap_or("of unknown version");
    let folder = libtorch.as_ref().map_or_else(|| "?".to_owned(), |libtorch| libtorch.folder.display().to_string());
    let of = if device.is_cuda() { format!(" of {found}") } else { String::new() };
    let cuda = match half {
        Some(place) if device.is_cuda() || asked == "cpu" => format!("its CUDA half is `{}`", place.path.display()),
        // `auto` came to the CPU.
        Some(place) => {
            let why = load_cuda(None).map_or_else(|error| error.to_string(), |()| what_the_driver_says());
            format!("its CUDA half, `{}`, is not used: {why}", place.path.display())
        }
        None => format!("no CUDA half: {}", looked_for(&places)),
    };
    Ok(Description {
        text: format!("{version} in `{folder}`; device {}{of} (asked for `{asked}`); {cuda}", name(device)),
        facts: json!({ "libtorch": libtorch, "device": name(device), "cuda_half": half.map(|place| &place.path), "cuda_places": places,
                       "cuda_devices": addresses }),
    })
}

/// Waits until the device has done all it was given.
pub fn synchronize(device: Device) {
    if let Device::Cuda(index) = device {
        tch::Cuda::synchronize(index as i64);
    }
}

/// Gives memory that no tensor uses back to the device, for whoever comes next.
///
/// # Errors
///
/// Where the driver refuses.
pub fn release(device: Device) -> Result<()> {
    if device.is_cuda() {
        return shim::release();
    }
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[expect(unsafe_code, reason = "glibc's own call, which the standard library does not wrap")]
    // SAFETY: malloc_trim takes a number of bytes to leave, and touches no memory in use.
    unsafe {
        libc::malloc_trim(0);
    }
    Ok(())
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

/// The failure where no device answers.
fn no_answer(name: &str) -> anyhow::Error {
    let hint = if gpus::driver().is_some() {
        "see CUDA_VISIBLE_DEVICES, and whether the driver is new enough for this libtorch's CUDA; or set device = \"cpu\""
    } else {
        "see whether `nvidia-smi` lists a device, or set device = \"cpu\""
    };
    Fixable::failed(format!("device `{name}` is asked for, and no CUDA device answers: {}", what_the_driver_says()))
        .hint(hint)
        .into()
}

fn what_the_driver_says() -> String {
    let Some(driver) = gpus::driver() else { return "there is no NVIDIA driver".to_owned() };
    let cuda = driver.cuda.as_deref().unwrap_or("?");
    format!("the driver {} (CUDA up to {cuda}) lists {}", driver.version, plural("device", gpus::cards().len() as u64))
}

fn looked_for(places: &[Place]) -> String {
    let told = |place: &Place| match place.against.as_deref() {
        None | Some("not there") => format!("`{}`", place.path.display()),
        Some(against) => format!("`{}` ({against})", place.path.display()),
    };
    format!("looked for {}", places.iter().map(told).collect::<Vec<_>>().join(", "))
}

/// Loads the CUDA half of this process's libtorch from the first place that has it; a second call costs nothing.
fn load_cuda(folder: Option<&Path>) -> Result<()> {
    let libtorch = libtorch::loaded().unwrap_or_else(Libtorch::built);
    let places = libtorch.places(folder);
    let Some(Place { path: library, .. }) = places.iter().find(|place| place.against.is_none()) else {
        return Err(Fixable::failed(format!(
            "CUDA is asked for, and libtorch's half for it is not there: {}",
            looked_for(&places)
        ))
        .hint(
            "fetch it with `scripts/libtorch.sh cuda`, or set `libtorch` in philidor.toml (PHILIDOR_LIBTORCH) to the lib folder of a \
             torch with CUDA; or set device = \"cpu\"",
        )
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
                .hint("it must be of the same build as the libtorch that the worker runs with, with NVIDIA's libraries beside it")
                .into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_no_tensor_uses_is_given_back() {
        keep_memory();
        let resident = || {
            let pages = std::fs::read_to_string("/proc/self/statm").expect("Linux tells it");
            pages.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).expect("a number") * 4096
        };
        let held = {
            let _large = tch::Tensor::ones([64, 1 << 20], (tch::Kind::Float, Device::Cpu));
            resident()
        };
        release(Device::Cpu).expect("nothing refuses");
        // Other tests allocate meanwhile, far less than these 256 MiB.
        assert!(resident() + (128 << 20) < held, "{} of {held} bytes are left", resident());
    }

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
