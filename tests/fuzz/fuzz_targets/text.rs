//! Any text is read without a panic, and alike by one thread or two, in small pieces or large.
#![no_main]

use libfuzzer_sys::fuzz_target;
use philidor_fuzz::outcome::Scratch;

thread_local!(static SCRATCH: Scratch = Scratch::default());

fuzz_target!(|data: &[u8]| {
    // What looks packed is for another target.
    if matches!(data, [b'\x28' | 0x50..=0x5f | 0x1f | 0xfd | b'B' | b'7', ..]) {
        return;
    }
    SCRATCH.with(|scratch| {
        let whole = scratch.read(data, 1, 1 << 16, None);
        assert_eq!(scratch.read(data, 1, 1, None), whole);
        assert_eq!(scratch.read(data, 2, 1, None), whole);
    });
});
