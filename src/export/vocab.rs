//! The vocabulary in its published JSON form, byte for byte.

use std::io::Write;

use anyhow::Result;

use crate::chess::vocabulary::json;

/// Writes the vocabulary with an indent of two spaces and no newline at its end.
pub fn vocab(out: &mut dyn Write) -> Result<()> {
    serde_json::to_writer_pretty(&mut *out, &json())?;
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::{Digest as _, Sha256};

    #[test]
    fn the_vocabulary_is_written_byte_for_byte() {
        let mut bytes = Vec::new();
        vocab(&mut bytes).expect("written");
        let digest = format!("{:x}", Sha256::digest(&bytes));
        assert_eq!(digest, "be5c4b3d4a5ac48b005720837bcdb1ce4262164d1d067f24e73209a8a33792c3");
    }
}
