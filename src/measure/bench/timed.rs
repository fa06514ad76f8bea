//! The final measures of an experiment, timed.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::lawful;
use super::published::Published;
use super::recorded::Recorded;
use crate::data::tokens::{Framing, TokenFile};
use crate::measure::answers::{Answers, ask};
use crate::measure::draw::together;
use crate::measure::metric::Metric;
use crate::measure::positions::ValidationGames;
use crate::measure::predictor::{Predictor, Recompute};
use crate::measure::{Material, judge, measure as play};
use crate::model::decoder::Decoder;
use crate::model::device;
use crate::progress::Progress;
use crate::train::bench::asked::{LawfulTimed, MeasureBench, MeasuresTimed, RoundTimed};
use crate::train::bench::place::Place;

/// Times the protocol and its bare passes in turn, the published way on a part, and games held to legal moves.
///
/// # Errors
///
/// Where the games or weights cannot be read, or the user asks to stop.
pub fn measure(asked: &MeasureBench, place: Place) -> Result<Value> {
    let decoder = match &asked.weights {
        Some(weights) => Decoder::load(weights, &asked.model, place.device)?,
        None => Decoder::new(&asked.model, 0, place.device)?,
    };
    let file = TokenFile::open(&asked.validation.tokens, &asked.validation.ends, Framing::Marked)?;
    let on = Material::of(ValidationGames::of(&file));
    let now = || {
        device::synchronize(place.device);
        (place.clock)().as_secs_f64()
    };
    let timed = |work: &dyn Fn() -> Result<()>| -> Result<f64> {
        let start = now();
        work()?;
        Ok(now() - start)
    };
    let tables = Tables { folder: std::env::temp_dir().join(format!("philidor-bench-{}", std::process::id())) };
    fs_err::create_dir_all(&tables.folder)?;
    let progress = &place.progress;

    // The first run warms up, and tells what is asked.
    let recorded = Recorded::new(&decoder);
    protocol(&asked.metrics, &recorded, &on, &tables.folder, progress)?;
    let rounds = (0..asked.rounds.max(1)).map(|_| {
        let bare_seconds = timed(&|| recorded.again())?;
        let seconds = timed(&|| protocol(&asked.metrics, &decoder, &on, &tables.folder, progress))?;
        Ok(RoundTimed { seconds, bare_seconds })
    });
    let rounds = rounds.collect::<Result<_>>()?;

    let published = Published { predictor: &decoder, games: &on.games, now: &now, progress: place.progress };
    let published = asked.metrics.iter().filter_map(|metric| published.time(metric, asked.sample).transpose());
    let published = published.collect::<Result<_>>()?;

    let (n, plies) = (asked.games as usize, asked.plies as usize);
    let lawful = LawfulTimed {
        games: asked.games,
        plies: asked.plies,
        cached_seconds: timed(&|| lawful::play(decoder.session(n, plies)?, n, plies, progress).map(drop))?,
        whole_seconds: timed(&|| lawful::play(Box::new(Recompute::new(&decoder, n)), n, plies, progress).map(drop))?,
    };
    let count = recorded.count();
    Ok(serde_json::to_value(MeasuresTimed {
        device: device::name(place.device),
        threads: place.threads,
        passes: count.passes,
        tokens: count.tokens,
        rounds,
        published,
        lawful,
    })?)
}

/// Where the answers are kept, as the store keeps them.
struct Tables {
    folder: std::path::PathBuf,
}

impl Drop for Tables {
    fn drop(&mut self) {
        fs_err::remove_dir_all(&self.folder).ok();
    }
}

/// All that a run does for these metrics once it has the weights.
fn protocol(metrics: &[Metric], predictor: &dyn Predictor, on: &Material, folder: &Path, progress: &Progress) -> Result<()> {
    let asked = together(metrics.iter().filter_map(Metric::asks));
    let table = |number: usize| folder.join(format!("{number}.parquet"));
    for (number, (draw, temperatures)) in asked.iter().enumerate() {
        ask(predictor, &on.games, *draw, temperatures, progress)?.write(&table(number))?;
    }
    for metric in metrics {
        match metric.asks() {
            None => drop(play(metric, predictor, on, progress)?),
            Some((draw, _)) => {
                let covers = |(known, _): &(_, _)| draw.covering(*known) == Some(*known);
                let number = asked.iter().position(covers).context("every metric's positions are asked about")?;
                drop(judge(metric, &Answers::read(&table(number), &asked[number].1)?)?);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::data::tokens::TokenWriter;
    use crate::measure::fakes;
    use crate::model::config::ModelConfig;
    use crate::progress::silent;
    use crate::train::bench::asked::TokenPaths;

    #[test]
    fn the_passes_asked_again_are_those_of_the_protocol_and_each_published_part_tells_how_much_it_is_of() {
        let dir = tempfile::tempdir().expect("a folder");
        let [tokens, ends] = ["validation.u16", "validation.ends.u64"].map(|name| dir.path().join(name));
        let mut writer = TokenWriter::create(&tokens, &ends, Framing::Marked).expect("room to write");
        for game in fakes::games() {
            writer.push(&game).expect("room to write");
        }
        writer.finish().expect("room to write");
        let metrics = vec![
            Metric::Legality { positions: 60, temperature: 1.0, seed: 5 },
            Metric::Agreement { positions: 40, seed: 5 },
            Metric::Rules { positions: 3, seed: 5 },
            Metric::FullGames { games: 5, temperature: 1.0, seed: 5 },
        ];
        let asked = MeasureBench {
            model: ModelConfig { layers: 1, heads: 2, width: 16, hidden: 32, context: 200 },
            weights: None,
            validation: TokenPaths { tokens, ends },
            metrics,
            rounds: 2,
            sample: 10,
            games: 3,
            plies: 4,
        };
        let start = Instant::now();
        let place = Place { device: tch::Device::Cpu, threads: 1, clock: &|| start.elapsed(), progress: silent() };
        let told: MeasuresTimed = serde_json::from_value(measure(&asked, place).expect("games")).expect("as it was written");
        assert_eq!(told.rounds.len(), 2);
        let parts: Vec<_> = told.published.iter().map(|part| (part.name.as_str(), part.measured, part.of)).collect();
        assert_eq!(parts[..2], [("legality", 6, 60), ("agreement", 4, 40)]);
        assert_eq!((parts[2].0, parts[3]), ("rules", ("full_games T=1", 5, 5)));
        assert_eq!((told.lawful.games, told.lawful.plies), (3, 4));
        // Sixty positions share the sequences of twenty games.
        assert!(told.passes >= 3 && told.tokens > 60 && told.tokens < 20 * 121 * 2 + 500, "{told:?}");
    }
}
