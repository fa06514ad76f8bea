//! The one question to the CUDA runtime that libtorch does not pass on: at which PCI address a device sits.

use std::ffi::{CStr, c_char, c_int};

/// `cudaDeviceGetPCIBusId` of the CUDA runtime's API.
type PciBusId = unsafe extern "C" fn(*mut c_char, c_int, c_int) -> c_int;

/// Longest address with its end: `00000000:19:00.0` has 16 letters.
const LETTERS: usize = 32;

/// The PCI address of a device as libtorch numbers it, such as `0000:19:00.0`; none where no CUDA answers.
pub fn pci_bus_id(index: usize) -> Option<String> {
    let mut text = [0 as c_char; LETTERS];
    #[expect(unsafe_code, reason = "libtorch brings the CUDA runtime into the process, and wraps this call nowhere")]
    // SAFETY: the name is a C string. A symbol of that name is the runtime's function of that signature, which writes at most
    // LETTERS letters, and ends them with a zero where it returns 0.
    unsafe {
        let symbol = libc::dlsym(libc::RTLD_DEFAULT, c"cudaDeviceGetPCIBusId".as_ptr());
        if symbol.is_null() {
            return None;
        }
        let ask = std::mem::transmute::<*mut libc::c_void, PciBusId>(symbol);
        if ask(text.as_mut_ptr(), LETTERS as c_int, index as c_int) != 0 {
            return None;
        }
        Some(CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_is_not_there_has_no_address() {
        assert_eq!(pci_bus_id(4_000), None);
    }
}
