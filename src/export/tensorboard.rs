//! Event files that `TensorBoard` reads: records of a length, its checksum, an `Event` of protocol buffers and its checksum.
//!
//! The record is `TensorFlow`'s `TFRecord` with masked CRC-32C; of the messages `Event`, `Summary` and `Summary.Value` only the
//! fields of scalars are written: wall time 1, step 2, file version 3, summary 5; value 1; tag 1, simple value 2.

/// A number of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalar {
    /// Such as `loss/train`: what stands before the slash groups charts.
    pub tag: String,
    pub step: u64,
    pub value: f64,
}

/// The bytes of an event file, all of whose events are of one time, in seconds since 1970.
pub fn events(wall_time: f64, scalars: &[Scalar]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut event = Vec::new();
    double(&mut event, 1, wall_time);
    bytes(&mut event, 3, b"brain.Event:2");
    record(&mut file, &event);
    for scalar in scalars {
        let (mut event, mut summary, mut value) = (Vec::new(), Vec::new(), Vec::new());
        bytes(&mut value, 1, scalar.tag.as_bytes());
        float(&mut value, 2, scalar.value as f32);
        bytes(&mut summary, 1, &value);
        double(&mut event, 1, wall_time);
        varint(&mut event, 2 << 3);
        varint(&mut event, scalar.step);
        bytes(&mut event, 5, &summary);
        record(&mut file, &event);
    }
    file
}

fn record(file: &mut Vec<u8>, data: &[u8]) {
    let length = (data.len() as u64).to_le_bytes();
    file.extend(length);
    file.extend(masked(&length).to_le_bytes());
    file.extend(data);
    file.extend(masked(data).to_le_bytes());
}

/// A number that is a checksum of data with checksums in it is a poor one: `TensorFlow` turns and shifts it.
fn masked(data: &[u8]) -> u32 {
    crc32c(data).rotate_right(15).wrapping_add(0xa282_ead8)
}

/// CRC-32C (Castagnoli), bit by bit: a file of some thousand scalars takes a millisecond.
fn crc32c(data: &[u8]) -> u32 {
    let byte = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 })
    };
    !data.iter().fold(!0, byte)
}

fn varint(message: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        message.push(number as u8 | 0x80);
        number >>= 7;
    }
    message.push(number as u8);
}

fn bytes(message: &mut Vec<u8>, field: u64, content: &[u8]) {
    varint(message, field << 3 | 2);
    varint(message, content.len() as u64);
    message.extend(content);
}

fn double(message: &mut Vec<u8>, field: u64, number: f64) {
    varint(message, field << 3 | 1);
    message.extend(number.to_le_bytes());
}

fn float(message: &mut Vec<u8>, field: u64, number: f32) {
    varint(message, field << 3 | 5);
    message.extend(number.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_its_standard() {
        // RFC 3720, B.4, and the usual check.
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
    }

    #[test]
    fn a_record_is_a_length_and_an_event_each_with_its_checksum() {
        let scalar = Scalar { tag: "loss/train".into(), step: 300, value: 1.5 };
        let file = events(2.0, &[scalar]);
        let mut records = Vec::new();
        let mut rest = file.as_slice();
        while !rest.is_empty() {
            let length = u64::from_le_bytes(rest[..8].try_into().expect("eight")) as usize;
            let sum = |at: usize| u32::from_le_bytes(rest[at..at + 4].try_into().expect("four"));
            let data = &rest[12..12 + length];
            assert_eq!((sum(8), sum(12 + length)), (masked(&rest[..8]), masked(data)));
            records.push(data.to_vec());
            rest = &rest[16 + length..];
        }
        assert_eq!(records.len(), 2);
        assert!(records[0].ends_with(b"brain.Event:2"));
        let wanted: Vec<u8> = [
            &[0x09][..],
            &2.0_f64.to_le_bytes(),
            // Step 300, then a summary of 19 bytes with a value of 17.
            &[0x10, 0xac, 0x02, 0x2a, 19, 0x0a, 17, 0x0a, 10],
            b"loss/train",
            &[0x15],
            &1.5_f32.to_le_bytes(),
        ]
        .concat();
        assert_eq!(records[1], wanted);
    }
}
