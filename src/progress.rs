//! How long work tells what it is doing, and learns that it should stop. A leaf: it knows nobody.

use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

/// One thing told by work that goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "tick", rename_all = "kebab-case")]
pub enum Tick {
    /// `done` of `total` units; `total` is 0 where it is not known.
    Done { done: u64, total: u64, unit: String },
    /// A number at a step, such as the loss.
    Metric { name: String, step: u64, value: f64 },
    /// A sentence for the user.
    Note { text: String },
    /// A figure of the work itself, such as its speed.
    Measured(Measured),
}

/// A figure of how work was done, which another machine would do otherwise: it is recorded beside an artifact, never in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    pub name: String,
    pub value: f64,
    /// `s`, `bytes`, `bytes/s`, or what is counted: `games/s`.
    pub unit: String,
}

/// Handed to long work by whoever runs it.
#[derive(Clone, Copy)]
pub struct Progress<'a> {
    tell: &'a (dyn Fn(Tick) + Sync),
    stop: &'a AtomicBool,
}

impl<'a> Progress<'a> {
    pub fn new(tell: &'a (dyn Fn(Tick) + Sync), stop: &'a AtomicBool) -> Self {
        Self { tell, stop }
    }

    /// Says how far the work is. Cheap enough for a few times a second, not for every item.
    pub fn done(&self, done: u64, total: u64, unit: &str) {
        (self.tell)(Tick::Done { done, total, unit: unit.to_owned() });
    }

    pub fn metric(&self, name: &str, step: u64, value: f64) {
        (self.tell)(Tick::Metric { name: name.to_owned(), step, value });
    }

    /// Records a figure of the work; of a name told twice, the last one counts.
    pub fn measured(&self, name: &str, value: f64, unit: &str) {
        (self.tell)(Tick::Measured(Measured { name: name.to_owned(), value, unit: unit.to_owned() }));
    }

    pub fn note(&self, text: impl Into<String>) {
        (self.tell)(Tick::Note { text: text.into() });
    }

    /// Whether the user wants to stop: save, and return `Fixable::interrupted`.
    pub fn should_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Tells nobody and never stops: for tests and for work too short to watch.
pub fn silent() -> Progress<'static> {
    static STOP: AtomicBool = AtomicBool::new(false);
    Progress { tell: &|_| (), stop: &STOP }
}
