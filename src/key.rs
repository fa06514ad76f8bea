//! The name of an artifact: a hash of what it is made of. A leaf.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Names an artifact by everything that decided its content: 128 bits of BLAKE3 over canonical JSON.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key([u8; 16]);

impl Key {
    /// The key of a manifest. Fields are hashed in sorted order, numbers and strings as JSON writes them.
    pub fn of(manifest: &Value) -> Self {
        let mut hasher = blake3::Hasher::new();
        serde_json::to_writer(&mut hasher, &sorted(manifest)).expect("a JSON value is written to a hasher");
        let mut key = [0; 16];
        key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        Self(key)
    }

    /// A key from its 32 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let mut key = [0; 16];
        if text.len() != 32 || !text.is_ascii() {
            return None;
        }
        for (byte, pair) in key.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(Self(key))
    }

    /// All 32 digits, as in folder names. [`Display`](std::fmt::Display) shows the first eight.
    pub fn full(self) -> String {
        self.0.iter().fold(String::with_capacity(32), |text, byte| text + &format!("{byte:02x}"))
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.full()[..8])
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.full())
    }
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.full())
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("`{text}` is no key of 32 hexadecimal digits")))
    }
}

/// Sorted by field at every depth, whatever features of `serde_json` some dependency turned on.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<_, _> = fields.iter().map(|(name, field)| (name.clone(), sorted(field))).collect();
            fields.into_iter().collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}
