//! Files that are whole or absent under their names, and how much room a file system has. A leaf: it knows nobody.

use std::ffi::CString;
use std::io::Write as _;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use fs_err as fs;

/// The extension of a file that is being written, and that nobody reads: a process killed meanwhile leaves it behind.
const UNFINISHED: &str = "tmp";

/// Writes a file that is whole or absent under its name, even after a power cut.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    make_whole(path, |unfinished| Ok(fs::File::create(unfinished)?.write_all(bytes)?))
}

/// Lets `write` make a file under another name, and gives it its own once all of it is on the disk.
///
/// # Errors
///
/// Those of `write` and of the system; half a file is of no use then, and is removed.
pub fn make_whole(path: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let unfinished = unfinished(path);
    let written = write(&unfinished).and_then(|()| Ok(fs::File::open(&unfinished)?.sync_all()?));
    if let Err(error) = written {
        fs::remove_file(&unfinished).ok();
        return Err(error);
    }
    fs::rename(&unfinished, path)?;
    sync_dir(path.parent().expect("a file lies in a folder"))
}

/// Where this process writes a file until it is whole.
pub fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.file_name().expect("a file has a name").to_owned();
    name.push(format!(".{}.{UNFINISHED}", std::process::id()));
    path.with_file_name(name)
}

/// Brings the names in a folder to the disk.
pub fn sync_dir(dir: &Path) -> Result<()> {
    Ok(fs::File::open(dir)?.sync_all()?)
}

/// Whether a file was being written when its process ended.
pub fn is_unfinished(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == UNFINISHED)
}

/// BLAKE3 of a file's content, in hexadecimal. It is read and not mapped: a mapped file of gigabytes would count as memory of
/// this process.
pub fn blake3_of(path: &Path) -> Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(fs::File::open(path)?).with_context(|| format!("hashing `{}`", path.display()))?;
    Ok(hasher.finalize().to_hex().to_string())
}

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
    fn a_file_that_could_not_be_made_leaves_the_older_one_and_nothing_beside_it() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a.json");
        write_whole(&path, b"old").expect("there is room");
        let refused = make_whole(&path, |unfinished| {
            fs::write(unfinished, b"ne")?;
            anyhow::bail!("no room")
        });
        assert_eq!(refused.expect_err("it was refused").to_string(), "no room");
        assert_eq!(fs::read(&path).expect("it is there"), b"old");
        assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn the_digest_of_a_file_is_that_of_its_content() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("a");
        fs::write(&path, b"moves").expect("there is room");
        assert_eq!(blake3_of(&path).expect("it is there"), blake3::hash(b"moves").to_hex().to_string());
        assert!(blake3_of(&dir.path().join("b")).is_err());
    }

    #[test]
    fn a_folder_has_room_and_what_is_not_there_has_none() {
        assert!(free_bytes(&std::env::temp_dir()).is_some_and(|bytes| bytes > 0));
        assert_eq!(free_bytes(Path::new("/nowhere/at/all")), None);
    }
}
