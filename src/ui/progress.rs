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
use crate::ui::paint::Paint;
use crate::ui::say::aside;

/// Without a terminal, how often a long stage says how far it is.
const PLAIN_EVERY: Duration = Duration::from_secs(15);

pub struct Progress {
    labels: BTreeMap<Key, String>,
    paint: Paint,
    /// One line that is redrawn; hidden where stderr is no terminal.
    bar: Option<ProgressBar>,
    state: Mutex<State>,
}

struct State {
    /// The numbers last told, such as the loss.
    metrics: BTreeMap<String, f64>,
    /// Where the node at hand began, when it first told how far it was, and how far that was.
    first: Option<(Instant, u64)>,
    spoke: Instant,
}

impl Progress {
    pub fn new(plan: &Plan, paint: Paint) -> Self {
        let width = plan.nodes.iter().map(|node| node.label.len()).max().unwrap_or(0).min(48);
        let labels = plan.nodes.iter().map(|node| (node.key, format!("{:<width$}", node.label))).collect();
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::no_length()
                .with_style(ProgressStyle::with_template("{spinner} {msg}").expect("a constant template"));
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        Self { labels, paint, bar, state: Mutex::new(State { metrics: BTreeMap::new(), first: None, spoke: Instant::now() }) }
    }

    pub fn show(&self, event: &Event) {
        let paint = self.paint;
        match event {
            Event::Kept { key } => {
                self.line(&format!("{}     {}  {}", paint.dim("kept"), self.label(*key), paint.dim(&key.to_string())));
            }
            Event::Waiting { key, holder } => {
                self.line(&format!("{}  {}  for {holder}", paint.yellow("waiting"), self.label(*key)));
            }
            Event::Started { key } => self.started(*key),
            Event::Resumed { key, done, total, unit } => {
                self.line(&format!(
                    "{}   {}  at {} of {} {unit}",
                    paint.yellow("resume"),
                    self.label(*key),
                    thousands(*done),
                    thousands(*total)
                ));
            }
            Event::Told { key, tick } => self.told(*key, tick),
            Event::Made { key, seconds, bytes: size } => self.line(&format!(
                "{}     {}  {}  {}, {}",
                paint.green("made"),
                self.label(*key),
                paint.dim(&key.to_string()),
                duration(*seconds),
                bytes(*size)
            )),
            Event::Failed { key, message, hint, .. } => {
                self.line(&format!("{}   {}  {message}", paint.red("failed"), self.label(*key)));
                if let Some(hint) = hint {
                    self.line(&format!("         {}: {hint}", paint.bold("hint")));
                }
            }
            Event::Skipped { key, because } => {
                self.line(&format!(
                    "{}  {}  needs {}",
                    paint.yellow("skipped"),
                    self.label(*key),
                    self.label(*because).trim_end()
                ));
            }
        }
    }

    /// Takes the bar away; what was printed above it stays.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn label(&self, key: Key) -> &str {
        self.labels.get(&key).map_or("", String::as_str)
    }

    fn started(&self, key: Key) {
        let mut state = self.state.lock().expect("no holder panics");
        *state = State { metrics: BTreeMap::new(), first: None, spoke: Instant::now() };
        match &self.bar {
            Some(bar) => bar.set_message(self.label(key).trim_end().to_owned()),
            None => self.line(&format!("making   {}", self.label(key).trim_end())),
        }
    }

    fn told(&self, key: Key, tick: &Tick) {
        let mut state = self.state.lock().expect("no holder panics");
        match tick {
            Tick::Metric { name, value, .. } => {
                state.metrics.insert(name.clone(), *value);
            }
            Tick::Note { text } => self.line(&format!("         {text}")),
            Tick::Done { done, total, unit } => {
                let (since, from) = *state.first.get_or_insert((Instant::now(), *done));
                let text = format!(
                    "{}{}{}",
                    how_far(*done, *total, unit),
                    left(since.elapsed(), done - from.min(*done), total.saturating_sub(*done)),
                    metrics(&state.metrics)
                );
                match &self.bar {
                    Some(bar) => bar.set_message(format!("{}  {text}", self.label(key).trim_end())),
                    None if state.spoke.elapsed() >= PLAIN_EVERY => {
                        state.spoke = Instant::now();
                        self.line(&format!("         {}  {text}", self.label(key).trim_end()));
                    }
                    None => (),
                }
            }
        }
    }

    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| aside(text)),
            None => aside(text),
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
