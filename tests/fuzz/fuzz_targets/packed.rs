//! A file of any bytes behind any magic number is read or refused, never worse.
#![no_main]

use libfuzzer_sys::fuzz_target;
use philidor_fuzz::outcome::Scratch;

thread_local!(static SCRATCH: Scratch = Scratch::default());

const MAGICS: [&[u8]; 6] =
    [&[0x28, 0xb5, 0x2f, 0xfd], &[0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0], &[0x1f, 0x8b, 8], b"BZh9", b"\xef\xbb\xbf", b""];

fuzz_target!(|data: &[u8]| {
    let Some((&first, rest)) = data.split_first() else { return };
    let bytes = [MAGICS[usize::from(first) % MAGICS.len()], rest].concat();
    SCRATCH.with(|scratch| {
        scratch.read(&bytes, usize::from(first >> 7) + 1, 1, None);
    });
});
