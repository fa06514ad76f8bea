//! Events to the terminal: bars where there is one, plain lines where there is none.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::plan::Plan;
use crate::progress::Tick;
use crate::run::Event;
use crate::store::Key;
use crate::text::{bytes, duration, thousands};
use crate::ui::lines::Lines;
use crate::ui::paint::Paint;
use crate::ui::say::aside;

/// Without a terminal, how often a long stage says how far it is.
const PLAIN_EVERY: Duration = Duration::from_secs(15);

pub struct Progress {
    lines: Lines,
    /// One line that is redrawn; absent where stderr is no terminal.
    bar: Option<ProgressBar>,
    state: Mutex<State>,
}

struct State {
    /// The numbers last told, such as the loss.
    metrics: BTreeMap<String, f64>,
    /// When the node at hand first told how far it was, and how far that was.
    first: Option<(Instant, u64)>,
    spoke: Instant,
}

impl State {
    fn new() -> Self {
        Self { metrics: BTreeMap::new(), first: None, spoke: Instant::now() }
    }
}

impl Progress {
    pub fn new(plan: &Plan, paint: Paint) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::no_length()
                .with_style(ProgressStyle::with_template("{spinner} {wide_msg}").expect("a constant template"));
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Self { lines: Lines::new(plan, paint), bar, state: Mutex::new(State::new()) }
    }

    pub fn show(&self, event: &Event) {
        match (event, &self.bar) {
            (Event::Started { key }, bar) => {
                *self.state.lock().expect("no holder panics") = State::new();
                match bar {
                    Some(bar) => bar.set_message(self.lines.name(*key).to_owned()),
                    None => self.print(event),
                }
            }
            (Event::Told { key, tick: Tick::Done { done, total, unit } }, _) => self.how_far(*key, *done, *total, unit),
            (Event::Told { tick: Tick::Metric { name, value, .. }, .. }, _) => {
                self.state.lock().expect("no holder panics").metrics.insert(name.clone(), *value);
            }
            _ => self.print(event),
        }
    }

    /// Takes the bar away; what was printed above it stays.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn how_far(&self, key: Key, done: u64, total: u64, unit: &str) {
        let mut state = self.state.lock().expect("no holder panics");
        let (since, from) = *state.first.get_or_insert((Instant::now(), done));
        let left = left(since.elapsed(), done.saturating_sub(from), total.saturating_sub(done));
        let text = format!("{}  {}{left}{}", self.lines.name(key), how_far(done, total, unit), metrics(&state.metrics));
        match &self.bar {
            Some(bar) => bar.set_message(text),
            None if state.spoke.elapsed() >= PLAIN_EVERY => {
                state.spoke = Instant::now();
                aside(format!("         {text}"));
            }
            None => (),
        }
    }

    fn print(&self, event: &Event) {
        for line in self.lines.of(event) {
            match &self.bar {
                Some(bar) => bar.suspend(|| aside(&line)),
                None => aside(&line),
            }
        }
    }
}

fn how_far(done: u64, total: u64, unit: &str) -> String {
    let number = |count: u64| if unit == "bytes" { bytes(count) } else { thousands(count) };
    let unit = if unit == "bytes" { String::new() } else { format!(" {unit}") };
    if total == 0 {
        return format!("{}{unit}", number(done));
    }
    format!("{:>3.0} %  {} of {}{unit}", done as f64 / total as f64 * 100.0, number(done), number(total))
}

/// The time left at the pace so far; silent until there is a pace.
fn left(elapsed: Duration, done: u64, more: u64) -> String {
    if done == 0 || more == 0 || elapsed < Duration::from_secs(1) {
        return String::new();
    }
    format!("  {} left", duration(elapsed.as_secs_f64() / done as f64 * more as f64))
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
        assert_eq!(how_far(1 << 20, 4 << 20, "bytes"), format!(" 25 %  {} of {}", bytes(1 << 20), bytes(4 << 20)));
        let told = BTreeMap::from([("loss".to_owned(), 2.345_67), ("tokens_per_second".to_owned(), 16_200.4)]);
        assert_eq!(metrics(&told), "  loss 2.346  tokens_per_second 16,200");
    }

    #[test]
    fn what_is_left_is_told_once_there_is_a_pace() {
        let minute = Duration::from_mins(1);
        assert_eq!(left(minute, 30, 60), format!("  {} left", duration(120.0)));
        for (elapsed, done, more) in [(minute, 0, 60), (minute, 30, 0), (Duration::from_millis(900), 30, 60)] {
            assert_eq!(left(elapsed, done, more), "");
        }
    }
}
