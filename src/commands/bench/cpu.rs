//! Processor time, which a busy machine stretches less than it stretches the time on the wall.

/// Seconds that this process has used so far, over all of its threads, and with the processes that it started and that
/// ended.
#[expect(unsafe_code, reason = "the standard library does not tell the processor time of a process")]
pub(crate) fn seconds() -> f64 {
    let of = |who| {
        let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the call writes nothing but the answer, and zeros are an answer too.
        let usage = unsafe {
            libc::getrusage(who, usage.as_mut_ptr());
            usage.assume_init()
        };
        let time = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
        time(usage.ru_utime) + time(usage.ru_stime)
    };
    of(libc::RUSAGE_SELF) + of(libc::RUSAGE_CHILDREN)
}

#[cfg(test)]
mod tests {
    #[test]
    fn work_uses_processor_time_in_the_end() {
        // Named in here: the benches build this file as a test without test functions.
        use super::seconds;

        let before = seconds();
        let mut sum = 0_u64;
        while seconds() <= before {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
    }
}
