//! A text in zstd frames of any sizes, hopped or not, is read as the plain text is; cut or damaged, it is refused or read,
//! but never worse.
#![no_main]

use libfuzzer_sys::fuzz_target;
use philidor_fuzz::outcome::Scratch;

thread_local!(static SCRATCH: Scratch = Scratch::default());

fuzz_target!(|data: &[u8]| {
    let Some((&[how, size, place, what], text)) = data.split_first_chunk() else { return };
    let marked = how & 1 == 1;
    let mut bytes = Vec::new();
    for part in text.chunks(usize::from(size) * 4 + 1) {
        let frame = zstd::bulk::compress(part, -5).expect("packed");
        if marked {
            bytes.extend_from_slice(&[0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0]);
            bytes.extend_from_slice(&(frame.len() as u32).to_le_bytes());
        }
        bytes.extend_from_slice(&frame);
    }
    let threads = 1 + usize::from(how >> 1 & 1) + usize::from(how >> 2 & 1);
    SCRATCH.with(|scratch| match how >> 3 & 7 {
        0 => {
            bytes.truncate(usize::from(place) * bytes.len() / 255);
            scratch.read(&bytes, threads, 1, None);
        }
        1 if !bytes.is_empty() => {
            let place = usize::from(place) * (bytes.len() - 1) / 255;
            bytes[place] ^= what;
            scratch.read(&bytes, threads, 1, None);
        }
        _ => {
            // Plain text that looks packed would not be read as text.
            let plain = [b"\n", text].concat();
            let first = zstd::bulk::compress(b"\n", -5).expect("packed");
            let mut packed = Vec::new();
            if marked {
                packed.extend_from_slice(&[0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0]);
                packed.extend_from_slice(&(first.len() as u32).to_le_bytes());
            }
            packed.extend_from_slice(&first);
            packed.extend_from_slice(&bytes);
            let moves = (how >> 6 == 3).then_some(u64::from(what));
            assert_eq!(scratch.read(&packed, threads, 1, moves), scratch.read(&plain, 1, 1 << 16, moves));
        }
    });
});
