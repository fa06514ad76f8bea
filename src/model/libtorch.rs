//! Which libtorch this process runs with, and where the CUDA half of that one may lie.
//!
//! A process holds one libtorch: its halves call each other by layouts that change from build to build, and the loader
//! takes whichever comes first. So the CUDA half is looked for beside the CPU half that was really loaded.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Serialize;

use crate::error::Fixable;

/// The version that tch 0.24 is made for.
pub const VERSION: &str = "2.11.0";

const CPU_HALF: &str = "libtorch_cpu.so";
const CUDA_HALF: &str = "libtorch_cuda.so";

/// A libtorch by the folder of its libraries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Libtorch {
    pub folder: PathBuf,
    /// Such as `2.11.0+cu130`; none where no file beside the libraries tells.
    pub version: Option<String>,
}

/// A folder that may hold the CUDA half.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    pub path: PathBuf,
    /// Why it is of no use; none where it is.
    pub against: Option<String>,
}

/// The libtorch of this process; none where the system does not tell what is loaded.
pub fn loaded() -> Option<Libtorch> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    Some(Libtorch::at(mapped(&maps, CPU_HALF)?.parent()?))
}

impl Libtorch {
    /// The one that the build linked.
    pub fn built() -> Self {
        Self::at(Path::new(env!("PHILIDOR_LIBTORCH_LIB")))
    }

    fn at(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), version: version_beside(folder) }
    }

    /// # Errors
    ///
    /// Where it tells another version than [`VERSION`].
    pub fn check(&self) -> Result<()> {
        match &self.version {
            Some(version) if release(version) != VERSION => Err(Fixable::failed(format!(
                "the libtorch in `{}` is `{version}`, and the worker is made for {VERSION}",
                self.folder.display()
            ))
            .hint(format!("set `libtorch` in philidor.toml (PHILIDOR_LIBTORCH) to the lib folder of a torch {VERSION}"))
            .into()),
            _ => Ok(()),
        }
    }

    /// Where its CUDA half may lie, the best place first: `folder`, beside its CPU half, where the build found it, and
    /// where `scripts/libtorch.sh cuda` lays it.
    pub fn places(&self, folder: Option<&Path>) -> Vec<Place> {
        let built = Path::new(env!("PHILIDOR_LIBTORCH_LIB"));
        let fetched = built.with_file_name("cuda").join("torch/lib");
        let mut places: Vec<Place> = Vec::new();
        for folder in folder.into_iter().chain([self.folder.as_path(), built, &fetched]) {
            let path = folder.join(CUDA_HALF);
            if places.iter().all(|place| place.path != path) {
                let against = if path.exists() { self.against(folder) } else { Some("not there".to_owned()) };
                places.push(Place { path, against });
            }
        }
        places
    }

    /// Why the libraries of another folder are none of this libtorch, if so.
    fn against(&self, folder: &Path) -> Option<String> {
        let [own, other] = [self.folder.as_path(), folder].map(|folder| std::fs::metadata(folder.join(CPU_HALF)).ok());
        // A folder with a CUDA half alone has nothing to be compared by but its version.
        let alike = other
            .zip(own)
            .is_none_or(|(other, own)| (other.dev(), other.ino()) == (own.dev(), own.ino()) || other.len() == own.len());
        let version = version_beside(folder);
        let told = version.as_deref().map(release).zip(self.version.as_deref().map(release));
        if alike && told.is_none_or(|(other, own)| other == own) {
            return None;
        }
        Some(format!("of another libtorch, {}", version.as_deref().unwrap_or("of unknown version")))
    }
}

/// The file of a library among the mappings of a process, as `/proc/self/maps` tells them.
fn mapped<'a>(maps: &'a str, library: &str) -> Option<&'a Path> {
    let paths = maps.lines().filter_map(|line| line.find('/').map(|at| Path::new(&line[at..])));
    paths.into_iter().find(|path| path.file_name().is_some_and(|name| name == library))
}

/// What a wheel's `version.py`, or the `build-version` of an archive, tells beside the folder of the libraries.
fn version_beside(folder: &Path) -> Option<String> {
    let read = |name: &str| std::fs::read_to_string(folder.with_file_name(name)).ok();
    let of_wheel = read("version.py").and_then(|text| {
        let told = text.lines().find_map(|line| line.strip_prefix("__version__ = "))?;
        Some(told.trim().trim_matches(['\'', '"']).to_owned())
    });
    of_wheel.or_else(|| read("build-version").map(|text| text.trim().to_owned())).filter(|version| !version.is_empty())
}

/// `2.11.0` of `2.11.0+cu130`.
fn release(version: &str) -> &str {
    version.split('+').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of libraries under `root`, with a CPU half of so many bytes.
    fn lay(root: &Path, version: &str, bytes: usize, cuda: bool) -> PathBuf {
        let folder = root.join("torch/lib");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(root.join("torch/version.py"), format!("debug = False\n__version__ = '{version}'\n")).expect("written");
        std::fs::write(folder.join(CPU_HALF), vec![0; bytes]).expect("written");
        if cuda {
            std::fs::write(folder.join(CUDA_HALF), b"").expect("written");
        }
        folder
    }

    #[test]
    fn the_half_that_is_loaded_is_found_by_its_file_and_its_version_beside_it() {
        let maps = "7f00-7f10 r--p 00000000 00:2f 123    /opt/a b/torch/lib/libtorch_cpu.so.old\n\
                    7f10-7f20 r-xp 00000000 00:2f 124    /opt/a b/torch/lib/libtorch_cpu.so\n\
                    7f20-7f30 rw-p 00000000 00:00 0\n";
        assert_eq!(mapped(maps, CPU_HALF), Some(Path::new("/opt/a b/torch/lib/libtorch_cpu.so")));
        assert_eq!(mapped(maps, "libtorch.so"), None);
        let own = loaded().expect("this test links libtorch");
        assert!(own.folder.join(CPU_HALF).exists());
        assert_eq!(own.version.as_deref().map(release), Some(VERSION));
        own.check().expect("it is the version it was built with");
    }

    #[test]
    fn another_version_is_refused_by_name() {
        let root = tempfile::tempdir().expect("a folder");
        let error = Libtorch::at(&lay(root.path(), "2.12.1+cu130", 5, true)).check().expect_err("another version");
        assert!(error.to_string().contains("`2.12.1+cu130`") && error.to_string().contains(VERSION), "{error}");
        Libtorch::at(&lay(root.path(), "2.11.0+cpu", 5, true)).check().expect("a build of the right version");
        Libtorch::at(Path::new("/nowhere")).check().expect("nothing is told against it");
    }

    #[test]
    fn the_cuda_half_is_taken_from_beside_the_loaded_half_before_any_other_place() {
        let [own, other] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        let libtorch = Libtorch::at(&lay(own.path(), "2.11.0+cu130", 5, true));
        let named = lay(other.path(), "2.11.0+cu130", 5, true);
        let usable = |folder| {
            let place = libtorch.places(folder).into_iter().find(|place| place.against.is_none());
            place.expect("one is there").path
        };
        assert_eq!(usable(None), libtorch.folder.join(CUDA_HALF));
        assert_eq!(usable(Some(&named)), named.join(CUDA_HALF), "a folder that is named comes first");
    }

    #[test]
    fn two_libtorches_are_never_mixed() {
        let [own, other] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
        let libtorch = Libtorch::at(&lay(own.path(), "2.11.0+cpu", 5, false));
        for (version, bytes) in [("2.10.0+cu130", 5), ("2.11.0+cu130", 6)] {
            let named = lay(other.path(), version, bytes, true);
            let place = libtorch.places(Some(&named)).swap_remove(0);
            assert_eq!(place.against, Some(format!("of another libtorch, {version}")));
        }
        let named = lay(other.path(), "2.11.0+cu130", 5, true);
        assert_eq!(libtorch.places(Some(&named))[0].against, None, "a copy of the same build is the same");
    }
}
