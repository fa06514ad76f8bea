//! Weights to answers: one pass of the model over positions that several metrics look at.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result};
use fs_err as fs;
use serde::{Deserialize, Serialize};

use crate::measure::answers::{Answers, ask, met_again};
use crate::measure::draw::Draw;
use crate::measure::metric::Checkpoint;
use crate::measure::positions::ValidationGames;
use crate::measure::predictor::Predictor;
use crate::measure::tokens::most;
use crate::model::decoder::Decoder;
use crate::model::device;
use crate::passes::{Count, Passes};
use crate::plan::{Artifact, Cost, Cx, Handle, Piece, Stage};

use super::encode::{Encode, Tokens};
use super::facts::facts;
use super::passes::Known;
use super::train::{Trained, snapshot};

/// Tokens read for a position drawn anywhere: half a game, less what positions of one game share.
const PROMPT_TOKENS: u64 = 40;
/// Tokens of a game.
const GAME_TOKENS: u64 = 80;

#[derive(Serialize, Deserialize)]
pub struct Ask {
    pub tokens: Handle<Tokens>,
    pub trained: Handle<Trained>,
    pub checkpoint: Checkpoint,
    pub draw: Draw,
    /// At which a token is sampled in every position.
    pub temperatures: Vec<f64>,
    /// How the validation games came out of the kept ones, where it is wanted what is told of each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoded: Option<Encode>,
    #[serde(skip)]
    pub known: Option<Known>,
}

/// Answers, with what decided them besides the draw.
pub struct Asked {
    pub answers: Answers,
    /// The same of every metric that reads them.
    pub with: With,
}

/// `asked.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct With {
    /// BLAKE3 of the validation tokens, in hexadecimal.
    pub data: String,
    pub context: u32,
    pub precision: String,
    /// Games that were looked through.
    pub scanned: u64,
    pub temperatures: Vec<f64>,
}

impl Stage for Ask {
    const NAME: &'static str = "ask";
    const VERSION: u32 = 1;
    const VARIANT: &'static str = "/with/draw";
    type Output = Asked;

    fn run(&self, cx: &Cx, out: &Path) -> Result<()> {
        let (tokens, trained) = (cx.open(self.tokens)?, cx.open(self.trained)?);
        let device = device::open(&cx.machine.device, cx.machine.threads(), None)?;
        let decoder = Decoder::load(&trained.weights_as_written(self.checkpoint)?, trained.config(), device)?;
        let games = ValidationGames::of(&tokens.validation);
        let mut answers = ask(&decoder, &games, self.draw, &self.temperatures, &cx.progress)?;
        if let Some(warning) = met_again(&answers) {
            cx.progress.note(warning);
        }
        if let Some(encoded) = &self.encoded {
            let asked: BTreeSet<u32> = answers.rows.iter().map(|row| row.game).collect();
            answers.facts = facts(encoded, &tokens, &asked, cx)?;
        }
        answers.write(&out.join("answers.parquet"))?;
        let with = With {
            data: super::evaluate::digest(&tokens.validation),
            context: Predictor::context(&decoder) as u32,
            precision: Predictor::precision(&decoder).to_owned(),
            scanned: answers.scanned,
            temperatures: self.temperatures.clone(),
        };
        Ok(fs::write(out.join("asked.json"), serde_json::to_string_pretty(&with)? + "\n")?)
    }

    /// By games of usual length: how long they are is not known from the settings.
    fn cost(&self) -> Cost {
        let Some(known) = &self.known else { return Cost::default() };
        let tokens = match self.draw {
            Draw::Anywhere { positions, .. } => u64::from(positions) * PROMPT_TOKENS,
            Draw::Rules { positions, .. } => 4 * u64::from(positions) * PROMPT_TOKENS,
            Draw::EveryPly { games, .. } => u64::from(games) * GAME_TOKENS,
        };
        Cost { flops: known.forward_flops(tokens), ..Cost::default() }
    }

    fn passes(&self) -> Option<Passes> {
        let known = self.known.as_ref()?;
        let forward = Count::at_most(most(self.draw, known.plies, known.model.context));
        Some(Passes::reading(format!("{} {}", Self::NAME, self.what()), Some(forward)))
    }

    fn piece(&self) -> Option<Piece> {
        snapshot(self.trained, self.checkpoint)
    }

    fn detail(&self) -> String {
        format!("{} at {}", self.what(), self.checkpoint.words())
    }
}

impl Ask {
    fn what(&self) -> String {
        match self.draw {
            Draw::Anywhere { positions, .. } => format!("{positions} positions"),
            Draw::Rules { positions, .. } => format!("{positions} positions of each rule"),
            Draw::EveryPly { games, .. } => format!("every ply of {games} games"),
        }
    }
}

impl Artifact for Asked {
    fn open(dir: &Path) -> Result<Self> {
        let path = dir.join("asked.json");
        let with: With = serde_json::from_slice(&fs::read(&path)?).with_context(|| format!("reading `{}`", path.display()))?;
        let answers = Answers { scanned: with.scanned, ..Answers::read(&dir.join("answers.parquet"), &with.temperatures)? };
        Ok(Self { answers, with })
    }
}
