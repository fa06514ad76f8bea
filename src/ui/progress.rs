//! Events to the terminal: bars where there is one, plain lines where there is none.

use std::collections::{BTreeMap, VecDeque};
use std::io::IsTerminal as _;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::plan::Plan;
use crate::progress::Tick;
use crate::run::Event;
use crate::store::Key;
use crate::text::{bytes, duration, thousands};
use crate::ui::lines::{self, Lines};
use crate::ui::paint::Paint;
use crate::ui::say::aside;

/// Without a terminal, how often a long stage says how far it is.
const PLAIN_EVERY: Duration = Duration::from_secs(15);

/// Names longer than this are shortened in the bar.
const WIDEST_NAME: usize = 32;

/// A speed is that of the last so many seconds: a network is not as fast now as it was an hour ago.
const RECENT: Duration = Duration::from_secs(20);

pub struct Progress {
    lines: Lines,
    /// A line for each node that is made, redrawn in its place; absent where stderr is no terminal.
    bars: Option<MultiProgress>,
    at_hand: Mutex<BTreeMap<Key, AtHand>>,
}

/// A node that is made.
struct AtHand {
    bar: Option<ProgressBar>,
    /// The numbers last told, such as the loss.
    metrics: BTreeMap<String, f64>,
    pace: Pace,
    spoke: Instant,
}

/// When a node told how far it was, and how far that was.
#[derive(Default)]
struct Pace {
    unit: String,
    told: VecDeque<(Instant, u64)>,
}

impl Progress {
    pub fn new(plan: &Plan, paint: Paint) -> Self {
        let bars = std::io::stderr().is_terminal().then(MultiProgress::new);
        Self { lines: Lines::new(plan, paint), bars, at_hand: Mutex::default() }
    }

    pub fn show(&self, event: &Event) {
        let lines = self.lines.of(event);
        let mut at_hand = self.at_hand.lock().expect("no holder panics");
        match event {
            Event::Started { key } => {
                let bar = self.bars.as_ref().map(|bars| bar(bars, self.lines.name(*key)));
                at_hand.insert(*key, AtHand { bar, metrics: BTreeMap::new(), pace: Pace::default(), spoke: Instant::now() });
                if self.bars.is_some() {
                    // The bar says it.
                    return;
                }
            }
            Event::Told { key, tick: Tick::Done { done, total, unit } } => {
                if let Some(node) = at_hand.get_mut(key) {
                    node.tell(self.lines.name(*key), *done, *total, unit);
                }
            }
            Event::Told { key, tick: Tick::Metric { name, value, .. } } => {
                if let Some(node) = at_hand.get_mut(key) {
                    node.metrics.insert(name.clone(), *value);
                }
            }
            Event::Made { key, .. } | Event::Failed { key, .. } | Event::PassedOver { key, .. } => {
                at_hand.remove(key);
            }
            _ => (),
        }
        for line in lines {
            match &self.bars {
                // Work must not end because nobody listens to how it goes, so a failure is passed over.
                Some(bars) if !at_hand.is_empty() => _ = bars.println(line),
                _ => aside(line),
            }
        }
    }

    /// Takes the bars away; what was printed above them stays.
    pub fn end(&self) {
        self.at_hand.lock().expect("no holder panics").clear();
    }
}

fn bar(bars: &MultiProgress, name: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {wide_msg}").expect("a constant template");
    let bar = bars.add(ProgressBar::no_length().with_style(style).with_message(name.to_owned()));
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

impl Drop for AtHand {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl AtHand {
    fn tell(&mut self, name: &str, done: u64, total: u64, unit: &str) {
        let pace = self.pace.tell(Instant::now(), done, unit);
        // On a terminal what is left must not fall off the end of the line.
        let name = if self.bar.is_some() { elided(name) } else { name.to_owned() };
        let left = pace_and_left(pace, total.saturating_sub(done), unit);
        let text = format!("{name}  {}{left}{}", how_far(done, total, unit), metrics(&self.metrics));
        match &self.bar {
            Some(bar) => bar.set_message(text),
            None if self.spoke.elapsed() >= PLAIN_EVERY => {
                self.spoke = Instant::now();
                aside(format!("         {text}"));
            }
            None => (),
        }
    }
}

impl Pace {
    /// Units per second, once there is a second to tell it from: of the last seconds for bytes, else of all.
    fn tell(&mut self, now: Instant, done: u64, unit: &str) -> Option<f64> {
        // Work that begins anew, or is of another kind, has a pace of its own.
        if unit != self.unit || self.told.back().is_some_and(|(_, before)| *before > done) {
            *self = Self { unit: unit.to_owned(), told: VecDeque::new() };
        }
        self.told.push_back((now, done));
        if unit.starts_with("bytes") {
            // The last sample from before the window stays, to measure from.
            while self.told.get(1).is_some_and(|(then, _)| now.duration_since(*then) >= RECENT) {
                self.told.pop_front();
            }
        } else {
            self.told.truncate(1);
        }
        let (since, from) = self.told[0];
        let seconds = now.duration_since(since).as_secs_f64();
        (seconds >= 1.0 && done > from).then(|| (done - from) as f64 / seconds)
    }
}

fn how_far(done: u64, total: u64, unit: &str) -> String {
    let far = lines::how_far(done, total, unit);
    if total == 0 { far } else { format!("{:>3.0} %  {far}", done as f64 / total as f64 * 100.0) }
}

/// The beginning and the end of a long name.
fn elided(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= WIDEST_NAME {
        return name.to_owned();
    }
    let (head, tail) = (8, WIDEST_NAME - 9);
    letters[..head].iter().chain(&['…']).chain(&letters[letters.len() - tail..]).collect()
}

/// `, 41 MiB/s, 10 min left`; silent until there is a pace.
fn pace_and_left(per_second: Option<f64>, more: u64, unit: &str) -> String {
    let Some(per_second) = per_second else { return String::new() };
    let speed = if unit.starts_with("bytes") { format!(", {}/s", bytes(per_second as u64)) } else { String::new() };
    let left = if more == 0 { String::new() } else { format!(", {} left", duration(more as f64 / per_second)) };
    speed + &left
}

fn metrics(metrics: &BTreeMap<String, f64>) -> String {
    metrics.iter().fold(String::new(), |text, (name, value)| {
        let value = if *value >= 1_000.0 { thousands(value.round() as u64) } else { format!("{value:.3}") };
        text + &format!("  {name} {value}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_line_says_how_far_what_is_left_and_the_last_numbers() {
        assert_eq!(how_far(250, 1_000, "steps"), " 25 %  250 of 1,000 steps");
        assert_eq!(how_far(1_500, 0, "games"), "1,500 games");
        assert_eq!(how_far(1 << 20, 4 << 20, "bytes"), " 25 %  1 of 4 MiB");
        let told = BTreeMap::from([("loss".to_owned(), 2.345_67), ("tokens_per_second".to_owned(), 16_200.4)]);
        assert_eq!(metrics(&told), "  loss 2.346  tokens_per_second 16,200");
    }

    #[test]
    fn a_long_name_is_shortened_in_its_middle() {
        assert_eq!(elided("evaluate legality at best"), "evaluate legality at best");
        assert_eq!(elided("fetch lichess_db_standard_rated_2026-07.pgn.zst"), "fetch li…d_rated_2026-07.pgn.zst");
    }

    #[test]
    fn what_is_left_is_told_once_there_is_a_pace() {
        assert_eq!(pace_and_left(Some(0.5), 60, "steps"), ", 2 min left");
        assert_eq!(pace_and_left(Some(2_097_152.0), 120 << 20, "bytes"), ", 2 MiB/s, 1 min left");
        assert_eq!(pace_and_left(Some(0.5), 0, "steps"), "");
        assert_eq!(pace_and_left(None, 60, "bytes"), "");
    }

    #[test]
    fn the_pace_of_bytes_is_that_of_the_last_seconds_and_of_all_else_that_since_the_start() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut pace = Pace::default();
        assert_eq!(pace.tell(at(0), 50, "bytes"), None, "what was there before is no pace");
        assert_eq!(pace.tell(at(0), 60, "bytes"), None);
        assert_eq!(pace.tell(at(10), 150, "bytes"), Some(10.0));
        assert_eq!(pace.tell(at(30), 190, "bytes"), Some(2.0), "slow of late");
        assert_eq!(pace.tell(at(31), 0, "bytes"), None, "it began anew");
        assert_eq!(pace.tell(at(32), 7, "bytes checked"), None, "another kind of work");
        for (second, done, expected) in [(0, 0, None), (10, 100, Some(10.0)), (100, 200, Some(2.0))] {
            assert_eq!(pace.tell(at(second), done, "steps"), expected);
        }
    }
}
