//! A run as a report sees it: what was asked, what happened to each node, and what its artifact says.
//!
//! What is not there is `None`: a failed node, a run that goes on, a file from before its time.

mod files;
pub mod items;
mod load;
mod names;

use serde::Deserialize;

use crate::corpus::report::Reason;
use crate::experiment::Experiment;
use crate::measure::metric::{Checkpoint, Metric};
use crate::measure::probe::table::Square;
use crate::measure::score::{Score, Value};
use crate::plan::Node;
use crate::store::{Key, MadeBy};
pub use items::{NextMove, OwnGame};
pub(crate) use names::{SEED, settings as name_settings};

pub use files::{Best, DeviceReport, Encoded, Inspection, ParseReport, Speed, TrainingStep, Validation, Verdict};

/// A run, whole.
pub struct Results {
    /// Whether the run's own `experiment.toml` lies in its folder.
    pub has_file: bool,
    pub run: Run,
    pub points: Vec<Point>,
    pub nodes: Vec<Outcome>,
    /// What the store has lost of the run or holds otherwise than it was written, in sentences.
    pub damaged: Vec<String>,
}

/// `run.json`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Run {
    pub id: String,
    pub name: String,
    /// RFC 3339.
    pub started: String,
    pub finished: Option<String>,
    pub outcome: Option<String>,
    pub philidor: String,
    pub git: String,
    pub host: String,
    pub device: String,
    pub threads: Option<u64>,
    pub libtorch: String,
    pub command: serde_json::Value,
}

/// What became of a node.
#[derive(Clone, Debug, Deserialize)]
pub struct Outcome {
    #[serde(flatten)]
    pub node: Node,
    #[serde(default)]
    pub state: State,
    /// Of this run; none where nothing was done.
    #[serde(default)]
    pub seconds: Option<f64>,
    /// Why it failed or was refused, where the plan says so.
    #[serde(default, alias = "message")]
    pub error: Option<String>,
    #[serde(skip)]
    pub made_by: Option<MadeBy>,
    #[serde(skip)]
    pub bytes: Option<u64>,
    /// From when to when it was worked on, in seconds since the run began; none where the journal does not tell.
    #[serde(skip)]
    pub spans: Vec<(f64, f64)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    Kept,
    Made,
    Failed,
    Skipped,
    Refused,
    #[default]
    #[serde(other)]
    Pending,
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Made => "made",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Refused => "refused",
            Self::Pending => "pending",
        }
    }
}

/// One point of the sweep: the only one, where there is none.
pub struct Point {
    pub experiment: Experiment,
    /// What sets it apart from the others, in short: `4 × 128`, `peak=3e-4`, `seed 7`.
    pub parts: Vec<String>,
    pub sources: Vec<Source>,
    pub encoded: Option<Encoded>,
    pub inspection: Option<Inspection>,
    pub gates: Vec<Gate>,
    pub training: Option<Training>,
    /// In the order of the plan: snapshots by step, then the final figures.
    pub scores: Vec<Measured>,
}

pub struct Source {
    pub name: String,
    /// Of the whole file: the algorithm, and its digits; none where nobody has taken it.
    pub digest: Option<String>,
    pub report: Option<ParseReport>,
}

pub struct Gate {
    pub stage: String,
    pub state: State,
    pub error: Option<String>,
    pub verdict: Option<Verdict>,
    pub curve: Vec<TrainingStep>,
}

pub struct Training {
    pub key: Key,
    /// Read from a training that goes on, or was interrupted.
    pub unfinished: bool,
    pub summary: files::Summary,
    pub curve: Vec<TrainingStep>,
    pub validation: Vec<Validation>,
    pub speed: Vec<Speed>,
    pub best: Option<Best>,
    /// Of the average of the weights, where one was kept.
    pub average: Option<Best>,
    pub device: Option<DeviceReport>,
}

/// A score, and which question of the experiment it answers.
#[derive(Clone)]
pub struct Measured {
    pub key: Key,
    pub asked: Asked,
    pub metric: Metric,
    pub checkpoint: Checkpoint,
    pub score: Score,
    /// Of a probe, how often each square was told rightly.
    pub squares: Vec<Square>,
    /// Of openings, every legal move after each.
    pub next_moves: Vec<NextMove>,
    /// Of full games, those that were played.
    pub own_games: Vec<OwnGame>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// At a snapshot, as a point of a curve.
    Snapshot,
    /// As one of the figures of the experiment.
    Final,
}

impl Measured {
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.score.values.iter().find(|value| value.name == name && value.slice.is_empty())
    }

    /// The values of parts of the sample that have a name, in order.
    pub fn parts<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Value> {
        self.score.values.iter().filter(move |value| value.name == name && !value.slice.is_empty())
    }

    /// The squares of a model at its chosen layer, with pieces told apart by colour, from a1 on.
    pub fn probed<'a>(&'a self, model: &'a str) -> impl Iterator<Item = &'a Square> {
        self.squares.iter().filter(move |square| square.chosen && square.model == model && square.frame == "colours")
    }

    pub fn temperature(&self) -> Option<f64> {
        match self.metric {
            Metric::Legality { temperature, .. } | Metric::Dense { temperature, .. } | Metric::FullGames { temperature, .. } => {
                Some(temperature)
            }
            _ => None,
        }
    }
}

impl Point {
    /// What sets it apart from the others.
    pub fn title(&self) -> &str {
        &self.experiment.point
    }

    /// The scores of a metric at snapshots, by step.
    pub fn snapshots<'a>(&'a self, metric: &'a str) -> Vec<&'a Measured> {
        let mut scores: Vec<_> = self.of(metric, Asked::Snapshot).collect();
        scores.sort_by_key(|score| score.score.checkpoint.step);
        // A curve is drawn of one protocol: the first temperature that was asked for.
        let first = scores.first().and_then(|score| score.temperature());
        scores.retain(|score| score.temperature() == first);
        scores
    }

    /// The final scores of a metric, hottest first.
    pub fn finals<'a>(&'a self, metric: &'a str) -> Vec<&'a Measured> {
        let mut scores: Vec<_> = self.of(metric, Asked::Final).collect();
        scores.sort_by(|a, b| b.temperature().partial_cmp(&a.temperature()).expect("temperatures of an experiment are numbers"));
        scores
    }

    fn of<'a>(&'a self, metric: &'a str, asked: Asked) -> impl Iterator<Item = &'a Measured> {
        self.scores.iter().filter(move |score| score.metric.name() == metric && score.asked == asked)
    }

    /// Mean plies of real games: of those the metric drew, or of all that were kept.
    pub fn real_plies(&self) -> Option<f64> {
        let drawn = self.scores.iter().rev().find_map(|score| score.value("real_plies")).map(|value| value.value);
        drawn.or_else(|| self.corpus()?.mean_plies())
    }

    /// The account of all sources together.
    pub fn corpus(&self) -> Option<ParseReport> {
        let mut reports = self.sources.iter().map(|source| source.report.as_ref());
        let mut all = reports.next()??.clone();
        for report in reports {
            let report = report?;
            all.read += report.read;
            all.kept += report.kept;
            all.plies += report.plies;
            for (reason, games) in &report.rejected {
                match all.rejected.iter_mut().find(|(name, _)| name == reason) {
                    Some((_, sum)) => *sum += games,
                    None => all.rejected.push((reason.clone(), *games)),
                }
            }
            let mut lengths: std::collections::BTreeMap<u32, u64> = all.lengths.iter().copied().collect();
            report.lengths.iter().for_each(|(plies, games)| *lengths.entry(*plies).or_default() += games);
            all.lengths = lengths.into_iter().collect();
            all.ends.checkmate += report.ends.checkmate;
            all.ends.stalemate += report.ends.stalemate;
            all.ends.other_by_rules += report.ends.other_by_rules;
            all.ends.not_by_rules += report.ends.not_by_rules;
        }
        // Each names only the reasons that it had: together they stand in the order of the rules.
        let rules = Reason::ALL.map(Reason::name);
        all.rejected.sort_by_key(|(name, _)| rules.iter().position(|rule| rule == name));
        Some(all)
    }
}

impl Inspection {
    /// Whether positions were looked for of some validation games only.
    pub fn sampled(&self) -> bool {
        self.overlap.games < self.validation_games
    }
}

impl ParseReport {
    /// Mean plies of a kept game.
    pub fn mean_plies(&self) -> Option<f64> {
        (self.kept > 0).then(|| self.plies as f64 / self.kept as f64)
    }

    /// The length that so large a share of the kept games do not exceed.
    pub fn quantile(&self, share: f64) -> Option<u32> {
        let counted: u64 = self.lengths.iter().map(|(_, games)| games).sum();
        let wanted = ((counted as f64 * share).ceil() as u64).max(1);
        let mut below = 0;
        self.lengths.iter().find_map(|&(plies, games)| {
            below += games;
            (below >= wanted).then_some(plies)
        })
    }

    /// The share of kept games that ended on the board.
    pub fn by_rules(&self) -> Option<f64> {
        let ended = self.ends.checkmate + self.ends.stalemate + self.ends.other_by_rules;
        let all = ended + self.ends.not_by_rules;
        (all > 0).then(|| ended as f64 / all as f64)
    }
}

impl Training {
    /// So many steps are the end of a training: a fiftieth of all, at least one, and at most 200.
    pub fn last_steps(&self) -> usize {
        (self.curve.len() / 50).clamp(1, 200)
    }

    /// The mean loss of the last steps.
    pub fn final_loss(&self) -> Option<f64> {
        let last = &self.curve[self.curve.len() - self.last_steps().min(self.curve.len())..];
        (!last.is_empty()).then(|| last.iter().map(|step| step.loss).sum::<f64>() / last.len() as f64)
    }

    /// Steps that were spikes, and changed nothing.
    pub fn skipped(&self) -> u64 {
        self.curve.iter().filter(|step| step.skipped).count() as u64
    }

    /// Tokens seen at a step.
    pub fn tokens_at(&self, step: u64) -> u64 {
        let per_step = match (self.summary.tokens_per_step, self.curve.last()) {
            (0, Some(last)) if last.step > 0 => last.tokens / last.step,
            (per_step, _) => per_step,
        };
        step * per_step
    }
}

impl Results {
    /// The full games of the same weights at the temperatures of several points, hottest first: one list for each set of
    /// weights, with the first point that has it.
    pub fn over_temperatures(&self) -> Vec<(&Point, Vec<Measured>)> {
        let mut groups: Vec<(&Point, Vec<Measured>, u64)> = Vec::new();
        for point in &self.points {
            let Some(trained) = point.training.as_ref().map(|training| training.key) else { continue };
            let alike = |other: &Point| {
                other.training.as_ref().is_some_and(|training| training.key == trained)
                    && other.experiment.measure.checkpoint == point.experiment.measure.checkpoint
            };
            let at = groups.iter().position(|(other, ..)| alike(other)).unwrap_or_else(|| {
                groups.push((point, Vec::new(), 0));
                groups.len() - 1
            });
            let (_, scores, points) = &mut groups[at];
            *points += 1;
            for score in point.finals("full_games") {
                if !scores.iter().any(|known| known.temperature() == score.temperature()) {
                    scores.push(score.clone());
                }
            }
            scores.sort_by(|a, b| {
                b.temperature().partial_cmp(&a.temperature()).expect("temperatures of an experiment are numbers")
            });
        }
        groups.retain(|(_, scores, points)| *points > 1 && scores.len() > 1);
        groups.into_iter().map(|(point, scores, _)| (point, scores)).collect()
    }

    /// Where the models were trained: as the run says, or as the first training says, and on how many threads.
    pub fn machine(&self) -> (String, Option<u64>) {
        let device = self.points.iter().find_map(|point| point.training.as_ref()?.device.as_ref());
        let name = match device {
            Some(device) if self.run.device.is_empty() => device.device.clone(),
            _ => self.run.device.clone(),
        };
        (name, self.run.threads.or(device.map(|device| device.threads)).filter(|threads| *threads > 0))
    }

    pub fn of_state(&self, state: State) -> impl Iterator<Item = &Outcome> {
        self.nodes.iter().filter(move |node| node.state == state)
    }
}
