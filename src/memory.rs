//! What this process takes of the machine's memory, and what it may still take. A leaf: it knows nobody.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Begins to measure the peak anew, where the kernel allows it.
pub fn reset_peak() {
    // Without it the peak is that of the whole life of the process: too high, and never too low.
    std::fs::write("/proc/self/clear_refs", "5").ok();
}

/// The most memory that was resident since [`reset_peak`], in bytes, mapped files included; none where the kernel
/// does not tell.
pub fn peak_bytes() -> Option<u64> {
    status_bytes("VmHWM:")
}

/// The memory that is resident now, in bytes.
pub fn resident_bytes() -> Option<u64> {
    status_bytes("VmRSS:")
}

/// Bytes that this process may still take, and what allows no more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Room {
    pub bytes: u64,
    /// Goes behind the number: `free on this machine`.
    pub of: Cow<'static, str>,
}

/// The least of what the machine has, its control group leaves and the limits of the process (`ulimit -v`, `-d`) allow; none
/// where the kernel tells nothing of them.
pub fn room() -> Option<Room> {
    let machine = read("/proc/meminfo").and_then(|text| kib(&text, "MemAvailable:"));
    let group = read("/proc/self/cgroup").and_then(|text| group_room(&text, Path::new("/sys/fs/cgroup")));
    let limits = read("/proc/self/limits").unwrap_or_default();
    let left = |limit, taken| Some(limit_bytes(&limits, limit)?.saturating_sub(status_bytes(taken)?));
    [
        (machine, "free on this machine"),
        (group, "left of its control group's memory"),
        (left("Max address space", "VmSize:"), "left of the address space of a process (`ulimit -v`)"),
        (left("Max data size", "VmData:"), "left of the data of a process (`ulimit -d`)"),
    ]
    .into_iter()
    .filter_map(|(bytes, of)| Some(Room { bytes: bytes?, of: of.into() }))
    .min_by_key(|room| room.bytes)
}

/// From here on this process fails where it asks for more than is free now, before the system ends it, or another one.
pub fn stay_within(room: &Room) {
    let Some(taken) = status_bytes("VmData:") else { return };
    #[expect(unsafe_code, reason = "the standard library sets no limits")]
    // SAFETY: both calls take a pointer to a live rlimit; a limit that cannot be set leaves all as it is.
    unsafe {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        if libc::getrlimit(libc::RLIMIT_DATA, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_cur.min(taken + room.bytes);
            libc::setrlimit(libc::RLIMIT_DATA, &raw const limit);
        }
    }
}

/// Whether a message tells of too little memory: in our words, in those of libtorch for CUDA and for the CPU, of Rust, of
/// C++, or of the threads that it uses.
pub fn is_lack(message: &str) -> bool {
    [
        "too little memory",
        "out of memory",
        "can't allocate memory",
        "not enough memory",
        "Cannot allocate memory",
        "memory allocation of",
        "bad_alloc",
        "libgomp: Thread creation failed",
    ]
    .iter()
    .any(|words| message.contains(words))
}

fn status_bytes(name: &str) -> Option<u64> {
    kib(&read("/proc/self/status")?, name)
}

/// The bytes of a line such as `VmHWM:   1234 kB`.
fn kib(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

/// The soft limit of a line such as `Max address space  unlimited  unlimited  bytes`.
fn limit_bytes(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
}

/// What is left to the control groups of a process (versions 1 and 2), each of which is bounded by those around it.
fn group_room(own: &str, mounted: &Path) -> Option<u64> {
    own.lines()
        .filter_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            let names = match controllers {
                "" => ["memory.max", "memory.current", "inactive_file"],
                "memory" => ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"],
                _ => return None,
            };
            let root = mounted.join(controllers);
            let folder = root.join(path.trim_start_matches('/'));
            // In a container the path may be that of the machine around it, and the root the container's own group.
            let around = folder.ancestors().take_while(|folder| folder.starts_with(&root)).map(Path::to_owned);
            around.filter_map(|folder| left_in(&folder, names)).min()
        })
        .min()
}

fn left_in(folder: &Path, [limit, usage, inactive]: [&str; 3]) -> Option<u64> {
    let number = |name: &str| read(folder.join(name))?.trim().parse::<u64>().ok();
    // Pages of files count as used, and are given up where memory is wanted.
    let cache = read(folder.join("memory.stat")).and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix(inactive)?.strip_prefix(' '))?;
        line.parse().ok()
    });
    Some(number(limit)?.saturating_sub(number(usage)?.saturating_sub(cache.unwrap_or(0))))
}

fn read(path: impl Into<PathBuf>) -> Option<String> {
    std::fs::read_to_string(path.into()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_holds_what_was_used_even_after_it_was_given_back() {
        let used = std::hint::black_box(vec![1_u8; 256 << 20]);
        drop(used);
        // The kernel counts roughly while other threads take memory too, so what was told before is no bound.
        assert!(peak_bytes().expect("Linux tells") >= 256 << 20);
    }

    #[test]
    fn a_machine_has_room_and_a_limit_is_read_with_its_unit() {
        assert!(room().is_some_and(|room| room.bytes > 0));
        let limits = "Limit  Soft  Hard  Units\nMax data size    1048576   unlimited   bytes\nMax address space unlimited unlimited bytes\n";
        assert_eq!(limit_bytes(limits, "Max data size"), Some(1 << 20));
        assert_eq!(limit_bytes(limits, "Max address space"), None);
    }

    #[test]
    fn the_tightest_group_around_a_process_bounds_it_and_pages_of_files_are_free() {
        let mounted = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = mounted.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, text).expect("written");
        };
        write("jobs/memory.max", "5000\n");
        write("jobs/memory.current", "3000\n");
        write("jobs/memory.stat", "anon 100\ninactive_file 400\n");
        write("jobs/mine/memory.max", "max\n");
        write("jobs/mine/memory.current", "10\n");
        assert_eq!(group_room("0::/jobs/mine\n", mounted.path()), Some(2400));
        assert_eq!(group_room("0::/elsewhere\n", mounted.path()), None);
        write("memory/memory.limit_in_bytes", "900\n");
        write("memory/memory.usage_in_bytes", "500\n");
        assert_eq!(group_room("4:memory:/unseen/path\n2:cpu:/\n", mounted.path()), Some(400));
    }

    #[test]
    fn too_little_memory_is_known_by_the_words_of_each_library() {
        for said in [
            "CUDA out of memory. Tried to allocate 20.00 MiB",
            "DefaultCPUAllocator: can't allocate memory: you tried to allocate 64 bytes. Error code 12 (Cannot allocate memory)",
            "memory allocation of 64 bytes failed",
            "std::bad_alloc",
        ] {
            assert!(is_lack(said), "{said}");
        }
        assert!(!is_lack("the loss is `NaN`"));
    }
}
