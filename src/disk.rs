//! How much room a file system has. A leaf: it knows nobody.

use std::ffi::CString;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Bytes that may still be written where `path` lies, which must exist; `None` where the system does not tell.
#[expect(unsafe_code, reason = "the standard library does not tell the free space of a file system")]
pub fn free_bytes(path: &Path) -> Option<u64> {
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    let mut answer = MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: the path ends in a NUL byte, and the answer is read only where the call says it wrote it.
    let answer = unsafe { (libc::statvfs(path.as_ptr(), answer.as_mut_ptr()) == 0).then(|| answer.assume_init()) }?;
    Some(answer.f_bavail * answer.f_frsize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_room_and_what_is_not_there_has_none() {
        assert!(free_bytes(&std::env::temp_dir()).is_some_and(|bytes| bytes > 0));
        assert_eq!(free_bytes(Path::new("/nowhere/at/all")), None);
    }
}
