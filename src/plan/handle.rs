//! An input of a stage, typed by what makes it.

use std::marker::PhantomData;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::store::Key;

/// An artifact that will exist: a type for the compiler, a key for the hash.
pub struct Handle<T> {
    key: Key,
    made: PhantomData<fn() -> T>,
}

impl<T> Handle<T> {
    pub(super) fn of(key: Key) -> Self {
        Self { key, made: PhantomData }
    }

    pub fn key(self) -> Key {
        self.key
    }
}

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Handle<T> {}

impl<T> std::fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Handle({})", self.key)
    }
}

/// `{"artifact": "9f2c…"}`: the mark by which [`Plan::add`](super::Plan::add) finds the inputs again.
#[derive(Serialize, Deserialize)]
struct Mark {
    artifact: Key,
}

impl<T> Serialize for Handle<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Mark { artifact: self.key }.serialize(serializer)
    }
}

impl<'de, T> Deserialize<'de> for Handle<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Mark::deserialize(deserializer).map(|mark| Self { key: mark.artifact, made: PhantomData })
    }
}
