//! Events as lines of text: the same words on the terminal and in the log.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use crate::error::Exit;
use crate::plan::Plan;
use crate::progress::Tick;
use crate::run::Event;
use crate::store::Key;
use crate::text::{bytes, duration, thousands};
use crate::ui::paint::Paint;

/// Labels longer than this are not padded to.
const WIDEST_LABEL: usize = 48;

/// So many of the nodes that were skipped for one reason are named.
const NAMED: usize = 4;

pub struct Lines {
    labels: BTreeMap<Key, String>,
    /// The nodes that are being made.
    at_hand: Mutex<BTreeSet<Key>>,
    paint: Paint,
}

impl Lines {
    pub fn new(plan: &Plan, paint: Paint) -> Self {
        let width = plan.nodes.iter().map(|node| node.label.len()).max().unwrap_or(0).min(WIDEST_LABEL);
        let labels = plan.nodes.iter().map(|node| (node.key, format!("{:<width$}", node.label))).collect();
        Self { labels, at_hand: Mutex::default(), paint }
    }

    /// The node's name, without the padding that lines up what follows it.
    pub fn name(&self, key: Key) -> &str {
        self.label(key).trim_end()
    }

    fn label(&self, key: Key) -> &str {
        self.labels.get(&key).map_or("", String::as_str)
    }

    /// What an event says; nothing for those that only move a bar.
    pub fn of(&self, event: &Event) -> Vec<String> {
        let paint = self.paint;
        let several = self.follow(event);
        match event {
            Event::Kept { key } => {
                vec![format!("{}     {}  {}", paint.dim("kept"), self.label(*key), paint.dim(&key.to_string()))]
            }
            Event::Waiting { key, holder } => vec![format!("{}  {}  for {holder}", paint.yellow("waiting"), self.label(*key))],
            Event::Started { key } => vec![format!("{}   {}", paint.dim("making"), self.name(*key))],
            Event::Resumed { key, done, total, unit } => {
                vec![format!("{}   {}  at {}", paint.yellow("resume"), self.label(*key), how_far(*done, *total, unit))]
            }
            // Where two nodes are made at once, it does not say by itself of which it is.
            Event::Told { key, tick: Tick::Note { text } } if several => vec![format!("         {}: {text}", self.name(*key))],
            Event::Told { tick: Tick::Note { text }, .. } => vec![format!("         {text}")],
            Event::Told { .. } => Vec::new(),
            Event::Made { key, seconds, bytes: size } => {
                let (label, short) = (self.label(*key), paint.dim(&key.to_string()));
                vec![format!("{}     {label}  {short}  {}, {}", paint.green("made"), duration(*seconds), bytes(*size))]
            }
            Event::Failed { key, message, exit: Exit::Interrupted, .. } => {
                vec![format!("{}  {}  {message}", paint.yellow("stopped"), self.label(*key))]
            }
            Event::Failed { key, message, hint, .. } => {
                let failed = format!("{}   {}  {message}", paint.red("failed"), self.label(*key));
                let hint = hint.as_ref().map(|hint| format!("         {}: {hint}", paint.bold("hint")));
                std::iter::once(failed).chain(hint).collect()
            }
            Event::PassedOver { key, message } => {
                vec![
                    format!("{}  {}  {message}", paint.red("refused"), self.label(*key)),
                    format!("         {}: all that is made after it says so", paint.yellow("passed over")),
                ]
            }
            Event::Skipped { keys, because } => {
                let names: Vec<&str> = keys.iter().take(NAMED).map(|key| self.name(*key)).collect();
                let more = if keys.len() > NAMED { format!(" and {} more", keys.len() - NAMED) } else { String::new() };
                let need = if keys.len() == 1 { "needs" } else { "need" };
                vec![format!("{}  {}{more}: {need} {}", paint.yellow("skipped"), names.join(", "), self.name(*because))]
            }
        }
    }

    /// Keeps count of the nodes at hand; says whether there are several.
    fn follow(&self, event: &Event) -> bool {
        let mut at_hand = self.at_hand.lock().expect("no holder panics");
        match event {
            Event::Started { key } => _ = at_hand.insert(*key),
            Event::Made { key, .. } | Event::Failed { key, .. } | Event::PassedOver { key, .. } => _ = at_hand.remove(key),
            _ => (),
        }
        at_hand.len() > 1
    }
}

/// `250 of 1,000 steps`, `3.1 of 27.4 GiB`, `1.2 of 3.1 GiB checked`; without the total where it is 0.
pub fn how_far(done: u64, total: u64, unit: &str) -> String {
    let Some(what) = unit.strip_prefix("bytes") else {
        return if total == 0 {
            format!("{} {unit}", thousands(done))
        } else {
            format!("{} of {} {unit}", thousands(done), thousands(total))
        };
    };
    let done = bytes(done);
    if total == 0 {
        return done + what;
    }
    let total = bytes(total);
    // One unit is enough where they share it.
    let shared = total.split_once(' ').and_then(|(_, unit)| done.strip_suffix(unit));
    format!("{} of {total}{what}", shared.map_or(done.as_str(), str::trim_end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_names_its_node_where_two_are_made_at_once() {
        let [a, b] = ["a", "b"].map(|name| Key::of(&serde_json::json!(name)));
        let labels = [(a, "train".to_owned()), (b, "ask".to_owned())].into();
        let lines = Lines { labels, at_hand: Mutex::default(), paint: Paint::none() };
        let note = || lines.of(&Event::Told { key: a, tick: Tick::Note { text: "a spike".into() } });
        lines.of(&Event::Started { key: a });
        assert_eq!(note(), ["         a spike"]);
        lines.of(&Event::Started { key: b });
        assert_eq!(note(), ["         train: a spike"]);
        lines.of(&Event::Made { key: b, seconds: 1.0, bytes: 1 });
        assert_eq!(note(), ["         a spike"]);
    }

    #[test]
    fn bytes_are_told_as_sizes_and_share_a_unit() {
        assert_eq!(how_far(250, 1_000, "steps"), "250 of 1,000 steps");
        assert_eq!(how_far(1_500, 0, "games"), "1,500 games");
        assert_eq!(how_far(3 << 30, 27 << 30, "bytes"), "3 of 27 GiB");
        assert_eq!(how_far(500 << 20, 27 << 30, "bytes checked"), "500 MiB of 27 GiB checked");
        assert_eq!(how_far(500 << 20, 0, "bytes"), "500 MiB");
        assert_eq!(how_far(512, 5 << 10, "bytes"), "512 B of 5 KiB");
    }
}
