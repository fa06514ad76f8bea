//! Answers as a Parquet file: a row a position, so that any two models can be compared pair by pair. What is told of a game
//! stands beside each of its positions.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};
use fs_err::File;
use polars::prelude::{Column, DataFrame, ParquetReader, ParquetWriter, PolarsResult, SerReader as _};

use super::{Answer, Answers, OUTCOMES, Sampled};
use crate::corpus::clock::Speed;
use crate::measure::facts::GameFacts;
use crate::measure::rules::Rule;

/// What stands in `rule` where no rule is asked for.
const NO_RULE: &str = "none";
/// What stands in `speed` of a game that does not tell.
const NO_SPEED: &str = "unknown";

impl Answers {
    /// Writes the table, with the temperatures in the names of the columns of sampled tokens.
    pub fn write(&self, path: &Path) -> Result<()> {
        let written = self.frame().and_then(|mut frame| {
            // One thread: on any number of them, the same bytes.
            ParquetWriter::new(File::create(path)?).set_parallel(false).finish(&mut frame)
        });
        written.with_context(|| format!("writing the answers `{}`", path.display()))?;
        Ok(())
    }

    /// Reads a table that [`write`](Self::write) wrote; `scanned` is not in it.
    ///
    /// # Errors
    ///
    /// Where the file is missing, damaged, or another table.
    pub fn read(path: &Path, temperatures: &[f64]) -> Result<Self> {
        let context = || format!("reading the answers `{}`", path.display());
        let frame = ParquetReader::new(File::open(path)?.into_file()).finish().with_context(context)?;
        Self::of(&frame, temperatures).with_context(context)
    }

    fn frame(&self) -> PolarsResult<DataFrame> {
        let rows = &self.rows;
        let number =
            |name: &str, of: &dyn Fn(&Answer) -> u32| Column::new(name.into(), rows.iter().map(of).collect::<Vec<u32>>());
        let real = |name: &str, of: fn(&Answer) -> f64| Column::new(name.into(), rows.iter().map(of).collect::<Vec<f64>>());
        let flag = |name: &str, of: fn(&Answer) -> bool| Column::new(name.into(), rows.iter().map(of).collect::<Vec<bool>>());
        let rules: Vec<&str> = rows.iter().map(|row| row.rule.map_or(NO_RULE, Rule::name)).collect();
        let mut columns = vec![
            number("game", &|row| row.game),
            number("ply", &|row| row.ply),
            Column::new("rule".into(), rules),
            flag("in_check", |row| row.in_check),
            number("legal_moves", &|row| row.legal.into()),
            number("human", &|row| row.human.into()),
            number("human_rank", &|row| row.rank.into()),
            real("human_probability", |row| row.human_probability),
            real("top_probability", |row| row.top_probability),
            flag("top_is_legal", |row| row.top_is_legal),
            real("legal_mass", |row| row.legal_mass),
        ];
        if !self.facts.is_empty() {
            let facts = || rows.iter().map(|row| self.facts.get(&row.game));
            let speed = |facts: &GameFacts| facts.speed.map_or(NO_SPEED, Speed::name);
            columns.extend([
                Column::new("rating".into(), facts().map(|facts| facts?.rating).collect::<Vec<Option<f64>>>()),
                Column::new("speed".into(), facts().map(|facts| facts.map(speed)).collect::<Vec<Option<&str>>>()),
                Column::new("seen_plies".into(), facts().map(|facts| Some(facts?.seen_plies)).collect::<Vec<Option<u32>>>()),
            ]);
        }
        for at in 0..5 {
            columns.push(number(&top(at), &|row| row.top[at].into()));
        }
        for (temperature, sampled) in &self.sampled {
            let [token, outcome] = names(*temperature);
            let tokens: Vec<u32> = sampled.iter().map(|sampled| sampled.token.into()).collect();
            let outcomes: Vec<&str> = sampled.iter().map(|sampled| sampled.outcome).collect();
            columns.extend([Column::new(token.into(), tokens), Column::new(outcome.into(), outcomes)]);
        }
        DataFrame::new(rows.len(), columns)
    }

    fn of(frame: &DataFrame, temperatures: &[f64]) -> Result<Self> {
        const GAP: &str = "a table of answers has no gaps";
        let numbers = |name: &str| -> Result<Vec<u32>> { frame.column(name)?.u32()?.iter().collect::<Option<_>>().context(GAP) };
        let tokens = |name: &str| -> Result<Vec<u16>> { Ok(numbers(name)?.into_iter().map(|number| number as u16).collect()) };
        let reals = |name: &str| -> Result<Vec<f64>> { frame.column(name)?.f64()?.iter().collect::<Option<_>>().context(GAP) };
        let flags = |name: &str| -> Result<Vec<bool>> { frame.column(name)?.bool()?.iter().collect::<Option<_>>().context(GAP) };
        let words = |name: &str| -> Result<Vec<String>> {
            frame.column(name)?.str()?.iter().map(|word| word.map(str::to_owned)).collect::<Option<_>>().context(GAP)
        };
        let [game, ply] = ["game", "ply"].map(numbers);
        let (game, ply) = (game?, ply?);
        let [in_check, top_is_legal] = ["in_check", "top_is_legal"].map(flags);
        let (in_check, top_is_legal) = (in_check?, top_is_legal?);
        let [legal, human, rank] = ["legal_moves", "human", "human_rank"].map(tokens);
        let (legal, human, rank) = (legal?, human?, rank?);
        let [human_probability, top_probability, legal_mass] = ["human_probability", "top_probability", "legal_mass"].map(reals);
        let (human_probability, top_probability, legal_mass) = (human_probability?, top_probability?, legal_mass?);
        let tops = (0..5).map(|at| tokens(&top(at))).collect::<Result<Vec<_>>>()?;
        let rules = words("rule")?;
        let rule = |name: &String| Rule::ALL.into_iter().find(|rule| rule.name() == name);
        let row = |at: usize| Answer {
            game: game[at],
            ply: ply[at],
            rule: rule(&rules[at]),
            in_check: in_check[at],
            legal: legal[at],
            human: human[at],
            rank: rank[at],
            human_probability: human_probability[at],
            top: [0, 1, 2, 3, 4].map(|place: usize| tops[place][at]),
            top_probability: top_probability[at],
            top_is_legal: top_is_legal[at],
            legal_mass: legal_mass[at],
        };
        let sampled = |&temperature: &f64| -> Result<(f64, Vec<Sampled>)> {
            let [token, outcome] = names(temperature);
            let sampled = tokens(&token)?.into_iter().zip(words(&outcome)?).map(|(token, outcome)| {
                let outcome = OUTCOMES.into_iter().find(|known| *known == outcome);
                Ok(Sampled { token, outcome: outcome.context("an unknown outcome")? })
            });
            Ok((temperature, sampled.collect::<Result<_>>()?))
        };
        let sampled = temperatures.iter().map(sampled).collect::<Result<_>>()?;
        let rows: Vec<Answer> = (0..frame.height()).map(row).collect();
        let facts = if frame.column("seen_plies").is_ok() { facts(frame, &rows)? } else { BTreeMap::new() };
        Ok(Self { rows, sampled, scanned: 0, facts })
    }
}

/// What is told of each game.
fn facts(frame: &DataFrame, rows: &[Answer]) -> Result<BTreeMap<u32, GameFacts>> {
    let (ratings, speeds) = (frame.column("rating")?.f64()?, frame.column("speed")?.str()?);
    let mut facts = BTreeMap::new();
    let seen = frame.column("seen_plies")?.u32()?;
    for (((row, rating), speed), seen) in rows.iter().zip(ratings.iter()).zip(speeds.iter()).zip(seen.iter()) {
        let speed = Speed::ALL.into_iter().find(|known| speed == Some(known.name()));
        facts.extend(seen.map(|seen_plies| (row.game, GameFacts { rating, speed, seen_plies })));
    }
    Ok(facts)
}

fn top(at: usize) -> String {
    format!("top{}", at + 1)
}

fn names(temperature: f64) -> [String; 2] {
    [format!("sampled_at_{temperature:?}"), format!("outcome_at_{temperature:?}")]
}

#[cfg(test)]
mod tests {
    use super::super::ask;
    use super::*;
    use crate::measure::draw::Draw;
    use crate::measure::fakes;
    use crate::measure::positions::ValidationGames;
    use crate::progress::silent;

    #[test]
    fn a_table_is_read_as_it_was_written_and_written_the_same_twice() {
        let dir = tempfile::tempdir().expect("a folder");
        let games = fakes::games();
        let games = ValidationGames::new(fakes::slices(&games));
        for draw in [
            Draw::Anywhere { positions: 40, seed: 3 },
            Draw::Rules { positions: 3, seed: 3 },
            Draw::EveryPly { games: 2, seed: 3 },
        ] {
            let mut answers = ask(&fakes::moody(), &games, draw, &[1.0, 0.0], &silent()).expect("games to ask about");
            if let Draw::EveryPly { .. } = draw {
                let [first, last] = [0, answers.rows.len() - 1].map(|row| answers.rows[row].game);
                let told = GameFacts { rating: Some(1812.5), speed: Some(Speed::Blitz), seen_plies: 7 };
                answers.facts = [(first, told), (last, GameFacts { rating: None, speed: None, seen_plies: 0 })].into();
            }
            let [one, two] = ["one", "two"].map(|name| dir.path().join(name));
            answers.write(&one).expect("room to write");
            answers.write(&two).expect("room to write");
            assert_eq!(fs_err::read(&one).expect("a file"), fs_err::read(&two).expect("a file"));
            let read = Answers::read(&one, &[1.0, 0.0]).expect("just written");
            assert_eq!(Answers { scanned: answers.scanned, ..read }, answers);
            assert!(Answers::read(&one, &[0.5]).is_err(), "a temperature that was not asked for");
        }
        fs_err::write(dir.path().join("one"), b"PAR1").expect("room to write");
        assert!(Answers::read(&dir.path().join("one"), &[]).is_err());
    }
}
