//! Weights to a score: one metric, by one protocol, of one checkpoint.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use fs_err as fs;
use serde::{Deserialize, Serialize};

use crate::data::tokens::TokenFile;
use crate::error::Fixable;
use crate::measure::metric::{Checkpoint, Metric};
use crate::measure::predictor::Predictor;
pub use crate::measure::score::Score;
use crate::measure::score::{MeasuredCheckpoint, Protocol};
use crate::measure::{Material, Measured, judge, measure, probe, protocol, tokens};
use crate::model::decoder::Decoder;
use crate::model::device;
use crate::passes::{Count, Passes};
use crate::plan::{Artifact, Cost, Cx, Handle, Piece, Stage};
use crate::progress::Progress;

use super::ask::Asked;
use super::encode::Tokens;
use super::passes::Known;
use super::train::{Trained, snapshot};

#[derive(Serialize, Deserialize)]
pub struct Evaluate {
    pub tokens: Handle<Tokens>,
    pub trained: Handle<Trained>,
    pub checkpoint: Checkpoint,
    pub metric: Metric,
    /// [`Metric::version`]: a raised one measures again.
    pub metric_version: u32,
    /// Of metrics that look at positions: what the checkpoint answered there. The others ask it themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<Handle<Asked>>,
    #[serde(skip)]
    pub known: Option<Known>,
}

/// Tokens that a model's own game has on average.
const GAME_TOKENS: u64 = 60;
/// Tokens up to the end of a puzzle.
const PUZZLE_TOKENS: u64 = 60;

impl Stage for Evaluate {
    const NAME: &'static str = "evaluate";
    const VERSION: u32 = 1;
    const VARIANT: &'static str = "/with/metric";
    type Output = Score;

    fn run(&self, cx: &Cx, out: &Path) -> Result<()> {
        ensure!(
            self.metric_version == self.metric.version(),
            "`{}` is planned by version {} of its metric, and this program has version {}",
            cx.node.label,
            self.metric_version,
            self.metric.version()
        );
        let trained = cx.open(self.trained)?;
        let step = trained.step_of(self.checkpoint)?;
        let name = if trained.is_imported() { "imported".to_owned() } else { self.checkpoint.name() };
        let checkpoint = MeasuredCheckpoint { name, step, tokens: trained.tokens_at(step) };
        if let Some(asked) = self.asked {
            let Asked { answers, with } = cx.open(asked)?;
            let protocol = protocol(&self.metric, &with.data, with.context, &with.precision);
            return write(checkpoint, protocol, judge(&self.metric, &answers)?, out);
        }
        let tokens = cx.open(self.tokens)?;
        let device = device::open(&cx.machine.device, cx.machine.threads(), None)?;
        let decoder = Decoder::load(&trained.weights_as_written(self.checkpoint)?, trained.config(), device)?;
        let puzzles = match &self.metric {
            Metric::Puzzles { blake3, .. } => Some(puzzles(cx, blake3)?),
            _ => None,
        };
        let on = Material::split(&tokens.validation, &tokens.train);
        let on = puzzles.as_deref().into_iter().fold(on, Material::with_puzzles);
        let data = match &self.metric {
            Metric::Openings { .. } => digest(&tokens.train),
            Metric::Puzzles { blake3, .. } => blake3.clone(),
            Metric::Probe { .. } => both(&tokens),
            _ => digest(&tokens.validation),
        };
        score(&self.metric, checkpoint, &decoder, &on, &data, out, &cx.progress)
    }

    /// By games of usual length: how long they are is not known from the settings. Nothing where the answers are there.
    fn cost(&self) -> Cost {
        let Some(known) = &self.known else { return Cost::default() };
        let tokens = match &self.metric {
            Metric::FullGames { games, .. } => u64::from(*games) * GAME_TOKENS,
            Metric::Loss => match known.validation_tokens {
                Some(tokens) => tokens,
                None => return Cost::default(),
            },
            Metric::Puzzles { puzzles, .. } => u64::from(*puzzles) * PUZZLE_TOKENS,
            Metric::Probe { positions, test, .. } => {
                let flops = known.forward_flops(u64::from(*positions) / 8 * GAME_TOKENS + u64::from(*test) * GAME_TOKENS / 2);
                return Cost { flops: 2.0 * flops + probe::flops(&known.model), ..Cost::default() };
            }
            Metric::Openings { prefixes, .. } => tokens::of_openings(prefixes, known.model.context),
            // A table is read, which is as good as nothing.
            _ => return Cost { flops: 1.0, ..Cost::default() },
        };
        Cost { flops: known.forward_flops(tokens), ..Cost::default() }
    }

    fn passes(&self) -> Option<Passes> {
        let Known { model, plies, .. } = self.known.as_ref()?;
        let (mut forward, mut generated) = (None, Count::NONE);
        match &self.metric {
            &Metric::FullGames { games, .. } => {
                let (read, of_them) = tokens::of_games(games, model.context);
                (forward, generated) = (Some(Count::at_most(read)), Count::at_most(of_them));
            }
            &Metric::Probe { positions, test, seed } => {
                let sizes = probe::Sizes { positions, test, seed };
                forward = Some(Count::at_most(probe::most_tokens(sizes, *plies, model.context)));
            }
            Metric::Openings { prefixes, .. } => forward = Some(Count::exactly(tokens::of_openings(prefixes, model.context))),
            // All of validation, or the rows of a file.
            Metric::Loss | Metric::Puzzles { .. } => (),
            _ => forward = Some(Count::NONE),
        }
        Some(Passes { generated, ..Passes::reading(format!("{} {}", Self::NAME, self.what()), forward) })
    }

    fn piece(&self) -> Option<Piece> {
        snapshot(self.trained, self.checkpoint)
    }

    fn detail(&self) -> String {
        format!("{} at {}", self.what(), self.checkpoint.words())
    }
}

impl Evaluate {
    fn what(&self) -> String {
        match &self.metric {
            Metric::Legality { temperature, .. } => format!("legality T={temperature}"),
            Metric::FullGames { temperature, .. } => format!("full_games T={temperature}"),
            Metric::Dense { temperature, .. } => format!("dense T={temperature}"),
            metric => metric.name().to_owned(),
        }
    }
}

/// BLAKE3 of tokens, in hexadecimal, for a protocol.
pub(super) fn digest(tokens: &TokenFile) -> String {
    blake3::hash(bytemuck::cast_slice(tokens.tokens())).to_hex().to_string()
}

/// The content of the file of puzzles, if it is still the one that the experiment was read with.
fn puzzles(cx: &Cx, wanted: &str) -> Result<Vec<u8>> {
    let path = cx.machine.files.get(wanted).ok_or_else(|| {
        Fixable::failed(format!("no puzzles with the BLAKE3 digest `{wanted}` are at hand"))
            .hint("run the experiment that names their file")
    })?;
    let content = fs::read(path)?;
    let seen = blake3::hash(&content).to_hex();
    if *seen != *wanted {
        let path = path.display();
        return Err(Fixable::failed(format!(
            "`{path}` is not the file that the experiment was read with: BLAKE3 `{wanted}` wanted, `{seen}` seen"
        ))
        .hint("run again, with the file as it is now")
        .into());
    }
    Ok(content)
}

/// BLAKE3 of what a probe learns from and is asked on, in hexadecimal.
fn both(tokens: &Tokens) -> String {
    let mut hasher = blake3::Hasher::new();
    for side in [&tokens.train, &tokens.validation] {
        hasher.update(bytemuck::cast_slice(side.tokens()));
    }
    hasher.finalize().to_hex().to_string()
}

/// Measures a predictor that plays or reads, and writes what it found.
fn score(
    metric: &Metric,
    checkpoint: MeasuredCheckpoint,
    predictor: &dyn Predictor,
    on: &Material,
    data: &str,
    out: &Path,
    progress: &Progress,
) -> Result<()> {
    let measured = measure(metric, predictor, on, progress)?;
    let protocol = protocol(metric, data, predictor.context() as u32, predictor.precision());
    write(checkpoint, protocol, measured, out)
}

/// Writes `score.json`, `games.txt` where games were played, and tables of items where there are any.
fn write(checkpoint: MeasuredCheckpoint, protocol: Protocol, measured: Measured, out: &Path) -> Result<()> {
    let score = Score {
        metric: protocol.metric.clone(),
        version: protocol.version,
        checkpoint,
        fingerprint: protocol.fingerprint(),
        protocol,
        values: measured.values,
        counts: measured.counts,
    };
    fs::write(out.join("score.json"), serde_json::to_string_pretty(&score)? + "\n")?;
    if !measured.games.is_empty() {
        fs::write(out.join("games.txt"), measured.games.join("\n") + "\n")?;
    }
    measured.items.iter().try_for_each(|items| items.write(out))
}

impl Artifact for Score {
    fn open(dir: &Path) -> Result<Self> {
        let path = dir.join("score.json");
        serde_json::from_slice(&fs::read(&path)?).with_context(|| format!("reading `{}`", path.display()))
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "known answers are exact")]
mod tests {
    use serde_json::json;
    use tch::Device;

    use super::*;
    use crate::chess::vocabulary::parse;
    use crate::data::tokens::{Framing, TokenWriter};
    use crate::model::config::ModelConfig;
    use crate::plan::Plan;
    use crate::progress::silent;

    const PUZZLES: &[u8] = b"PuzzleId,FEN,Moves,Rating,Prefix\n\
        a1,rnbqkbnr/pppp1ppp/8/4p3/8/5P2/PPPPP1PP/RNBQKBNR w KQkq - 0 2,g2g4 d8h4,850,f2f3 e7e5\n";

    /// A few games as the encode stage leaves them.
    fn validation(dir: &Path) -> TokenFile {
        let [tokens, ends] = ["validation.u16", "validation.ends.u64"].map(|name| dir.join(name));
        let mut writer = TokenWriter::create(&tokens, &ends, Framing::Marked).expect("a folder to write to");
        for game in ["e2e4 e7e5 g1f3 b8c6", "f2f3 e7e5 g2g4 d8h4"] {
            let moves: Vec<u16> = game.split(' ').map(|text| parse(text).expect("in the vocabulary")).collect();
            writer.push(&moves).expect("room to write");
        }
        writer.finish().expect("room to write");
        TokenFile::open(&tokens, &ends, Framing::Marked).expect("just written")
    }

    #[test]
    fn a_raised_version_of_a_metric_is_another_key_and_the_model_of_the_estimate_is_in_none() {
        let metric = Metric::FullGames { games: 50, temperature: 1.0, seed: 5 };
        let key = |metric_version, model: Option<ModelConfig>| {
            let [tokens, trained] = [json!("0".repeat(32)), json!("1".repeat(32))].map(|key| json!({ "artifact": key }));
            let stage = json!({ "tokens": tokens, "trained": trained, "checkpoint": "best", "metric": metric, "metric_version": metric_version });
            let known = model.map(|model| Known { model, plies: 300, validation_tokens: Some(7) });
            let stage = Evaluate { known, ..serde_json::from_value(stage).expect("a stage") };
            let cost = stage.cost();
            (Plan::default().add(stage, &[]).key(), cost.flops)
        };
        let config = ModelConfig { layers: 1, heads: 2, width: 16, hidden: 32, context: 32 };
        let now = metric.version();
        assert_ne!(key(now, None).0, key(now + 1, None).0);
        assert_eq!(key(now, None).0, key(now, Some(config.clone())).0);
        assert_eq!(key(now, Some(config.clone())).1, 50.0 * 60.0 * config.flops_per_token() as f64 / 3.0);
    }

    #[test]
    fn a_score_is_read_as_it_was_written_and_written_the_same_twice() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let validation = validation(dir.path());
        let config = ModelConfig { layers: 1, heads: 2, width: 16, hidden: 32, context: 8 };
        let decoder = Decoder::new(&config, 3, Device::Cpu).expect("the CPU has memory");
        let checkpoint = MeasuredCheckpoint { name: Checkpoint::Step(500).name(), step: 500, tokens: 16_000 };
        for metric in [
            Metric::Legality { positions: 50, temperature: 1.0, seed: 5 },
            Metric::Agreement { positions: 50, seed: 5 },
            Metric::Rules { positions: 5, seed: 5 },
            Metric::Mass { positions: 50, seed: 5 },
            Metric::Calibration { positions: 50, seed: 5 },
            Metric::Dense { games: 2, temperature: 1.0, seed: 5 },
            Metric::FullGames { games: 5, temperature: 1.0, seed: 5 },
            Metric::Loss,
            Metric::Openings { prefixes: vec![String::new()], seed: 5 },
            Metric::Puzzles { blake3: "9f2c".into(), puzzles: 5, seed: 5 },
        ] {
            let written = ["a", "b"].map(|name| {
                let out = dir.path().join(metric.name()).join(name);
                fs::create_dir_all(&out).expect("a folder to write to");
                let on = Material::split(&validation, &validation).with_puzzles(PUZZLES);
                score(&metric, checkpoint.clone(), &decoder, &on, "9f2c", &out, &silent()).expect("games to measure on");
                out
            });
            let files = written.each_ref().map(|out| {
                ["score.json", "games.txt", "openings.parquet", "puzzles.parquet"].map(|file| fs::read(out.join(file)).ok())
            });
            assert_eq!(files[0], files[1]);
            let left: Vec<bool> = files[0][1..].iter().map(Option::is_some).collect();
            assert_eq!(left, ["full_games", "openings", "puzzles"].map(|name| metric.name() == name));

            let read = Score::open(&written[0]).expect("just written");
            assert_eq!((read.metric.as_str(), read.checkpoint.name.as_str()), (metric.name(), "step-00000500"));
            assert_eq!(read.fingerprint, read.protocol.fingerprint());
            assert_eq!(read.protocol.context, 8);
        }
    }

    #[test]
    fn a_probe_is_scored_as_any_metric_and_leaves_its_table() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let validation = validation(dir.path());
        let config = ModelConfig { layers: 1, heads: 2, width: 16, hidden: 32, context: 8 };
        let decoder = Decoder::new(&config, 3, Device::Cpu).expect("the CPU has memory");
        let checkpoint = MeasuredCheckpoint { name: Checkpoint::Last.name(), step: 500, tokens: 16_000 };
        let metric = Metric::Probe { positions: 64, test: 5, seed: 5 };
        let on = Material::split(&validation, &validation);
        score(&metric, checkpoint, &decoder, &on, "9f2c", dir.path(), &silent()).expect("games to probe on");
        let read = Score::open(dir.path()).expect("just written");
        assert_eq!((read.metric.as_str(), read.protocol.context, read.values.is_empty()), ("probe", 8, false));
        assert!(!probe::table::read(dir.path()).expect("just written").is_empty());
    }
}
