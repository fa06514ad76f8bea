//! What this process takes of the machine's memory. A leaf: it knows nobody.

/// Begins to measure the peak anew, where the kernel allows it.
pub fn reset_peak() {
    // Without it the peak is that of the whole life of the process: too high, and never too low.
    std::fs::write("/proc/self/clear_refs", "5").ok();
}

/// The most memory that was resident since [`reset_peak`], in bytes, mapped files included; none where the kernel
/// does not tell.
pub fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_holds_what_was_used_even_after_it_was_given_back() {
        let before = peak_bytes().expect("Linux tells");
        let used = std::hint::black_box(vec![1_u8; 256 << 20]);
        drop(used);
        assert!(peak_bytes().expect("Linux tells") >= before.max(256 << 20));
    }
}
