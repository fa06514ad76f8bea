//! The model card: what the model was asked, how it was measured, what it was made of, and how it is loaded.

use std::fmt::Write as _;

use super::check::{Compared, TOLERANCE};
use crate::chess::vocabulary::VOCABULARY_SIZE;
use crate::corpus::config::Source;
use crate::measure::score::{Score, Value};
use crate::model::config::ModelConfig;
use crate::stats::wilson;
use crate::text::{number_within, percent_within, temperature, thousands};

/// What a card tells.
pub struct Card<'a> {
    /// Of the folder.
    pub folder: &'a str,
    pub name: &'a str,
    /// What the experiment asks; may be empty.
    pub question: &'a str,
    pub model: &'a ModelConfig,
    /// Which weights, such as `best, after 1,300 steps and 2,662,400 tokens`.
    pub weights: &'a str,
    /// What was passed over to train them, a sentence each.
    pub tainted: &'a [String],
    /// Of these weights.
    pub scores: &'a [Score],
    pub sources: &'a [Source],
    /// Whether it was trained on them, and not only measured.
    pub learned: bool,
    /// Names and values, such as the commit.
    pub provenance: &'a [(&'static str, String)],
    pub check: &'a [Compared],
}

impl Card<'_> {
    /// The text of `README.md`.
    pub fn text(&self) -> String {
        let parts = [self.head(), self.figures(), self.use_it(), self.shape(), self.data(), self.provenance()];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
    }

    fn head(&self) -> String {
        let question = match self.question.trim() {
            "" => String::new(),
            question => format!("> {}\n\n", question.replace('\n', "\n> ").replace("> \n", ">\n")),
        };
        format!(
            "---\nlibrary_name: transformers\npipeline_tag: text-generation\ntags:\n- chess\n---\n\n# {}\n\n{question}\
             A decoder that predicts the next move of a game of chess from the moves before it, in UCI notation: one move is one token. \
             It has no board, no rules and no search, and may choose a move that is illegal.\n\nThe weights are {}.\n{}",
            self.name,
            self.weights,
            self.tainted.iter().fold(String::new(), |text, sentence| text + "\n> **" + sentence + "**\n")
        )
    }

    fn figures(&self) -> String {
        if self.scores.is_empty() {
            return "## What was measured\n\nOf these weights nothing was measured.\n".to_owned();
        }
        let mut text =
            "## What was measured\n\n| figure | T | value [interval] | n | interval | protocol |\n|---|---|---|---|---|---|\n"
                .to_owned();
        for score in self.scores {
            let t = score.protocol.temperature.map_or_else(|| "–".to_owned(), temperature);
            for value in &score.values {
                let slice = if value.slice.is_empty() { String::new() } else { format!(" ({})", value.slice) };
                let row = format!(
                    "| `{}.{}`{slice} | {t} | {} | {} | {} | `{}` |",
                    score.metric,
                    value.name,
                    within(value),
                    thousands(value.n),
                    value.method,
                    short(&score.fingerprint)
                );
                text.push_str(&row);
                text.push('\n');
            }
        }
        text.push_str("\nProtocols; figures of different ones are not to be compared:\n\n");
        for score in self.scores {
            let p = &score.protocol;
            let line = format!(
                "- `{}`: {} (version {}), {}, {}, {}on data with BLAKE3 `{}`, a context of {}, in {}, seed {}",
                short(&score.fingerprint),
                p.metric,
                p.version,
                p.positions,
                if p.masked { "illegal moves masked" } else { "nothing masked" },
                p.temperature.map_or_else(String::new, |t| format!("sampled at T = {}, ", temperature(t))),
                short(&p.data),
                p.context,
                p.precision,
                p.seed
            );
            if !text.contains(&line) {
                text.push_str(&line);
                text.push('\n');
            }
        }
        text
    }

    fn use_it(&self) -> String {
        let folder = self.folder;
        let compared = self.check.iter().map(|at| format!("{:.1e} at {}", at.greatest_difference, at.length));
        format!(
            "## How to use it\n\n```python\nfrom transformers import AutoModelForCausalLM, AutoTokenizer\n\n\
             tokenizer = AutoTokenizer.from_pretrained(\"{folder}\")\nmodel = AutoModelForCausalLM.from_pretrained(\"{folder}\")\n\
             game = tokenizer(\"e2e4 e7e5 g1f3\", return_tensors=\"pt\")          # <bos> is put in front\n\
             moves = model.generate(**game, max_new_tokens=10)                # do_sample=True, temperature=1.0 to sample\n\
             print(tokenizer.decode(moves[0]))\n```\n\n\
             Castling is the king's move (`e1g1`), promotions end in `q`, `r`, `b` or `n`, and `<eos>` ends a game. Batches are padded on the right.\n\n\
             Before this folder was written, its logits were computed twice, by the decoder that was trained and from these files by an independent \
             program; they may differ by {TOLERANCE:e}, and did by {} tokens. `check.safetensors` and `check.json` hold the decoder's, for \
             `scripts/check_hf.py` of Philidor to try here.\n",
            compared.collect::<Vec<_>>().join(", ")
        )
    }

    fn shape(&self) -> String {
        let m = self.model;
        format!(
            "## What it is\n\n{} layers, {} heads, width {}, hidden {}, a context of {} tokens; {} parameters, and {} of the embedding, which is also \
             the head. Llama's architecture: RMSNorm before each block, rotary positions, SwiGLU, no biases; {} tokens, of which three are special. \
             Float32.\n",
            m.layers,
            m.heads,
            m.width,
            m.hidden,
            m.context,
            thousands(m.parameters()),
            thousands(m.embedding_parameters()),
            thousands(VOCABULARY_SIZE as u64)
        )
    }

    fn data(&self) -> String {
        let title =
            if self.learned { "What it learned from" } else { "What it was measured on; what it learned from is not known here" };
        let mut text = format!("## {title}\n\n");
        for source in self.sources {
            let line = match source {
                Source::Month { month, sha256 } => {
                    let digest = sha256.as_ref().map_or_else(String::new, |digest| format!(", SHA-256 `{digest}`"));
                    format!("- rated standard games of {month} from database.lichess.org, CC0{digest}")
                }
                Source::File { name, blake3 } => format!("- `{name}`, BLAKE3 `{blake3}`; its licence is told by who made it"),
            };
            writeln!(text, "{line}").expect("a string takes text");
        }
        text + "\nThe archive's games are in the public domain (CC0). No licence of the weights is declared here: say one before you publish them.\n"
    }

    fn provenance(&self) -> String {
        let mut text = "## Where it comes from\n\n| | |\n|---|---|\n".to_owned();
        for (name, value) in self.provenance.iter().filter(|(_, value)| !value.is_empty()) {
            writeln!(text, "| {name} | `{}` |", value.replace('|', "\\|").replace('`', "'")).expect("a string takes text");
        }
        text
    }
}

fn within(value: &Value) -> String {
    if value.method == wilson::METHOD {
        percent_within(value.value, Some(value.low), Some(value.high))
    } else {
        number_within(value.value, Some(value.low), Some(value.high))
    }
}

fn short(digits: &str) -> &str {
    digits.get(..16).unwrap_or(digits)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_card_tells_figures_with_their_intervals_and_what_it_was_made_of() {
        let score = json!({
            "metric": "legality", "version": 1, "checkpoint": { "name": "best", "step": 1300, "tokens": 2_662_400 },
            "protocol": { "metric": "legality", "version": 1, "data": "9f2c".repeat(16), "positions": "a random ply of a random validation game",
                          "temperature": 1.0, "masked": false, "context": 128, "precision": "f32", "seed": 7 },
            "fingerprint": "9582b1b1693a800f", "counts": {},
            "values": [Value::share("rate", 1776, 4000).expect("a sample")],
        });
        let score: Score = serde_json::from_value(score).expect("a score");
        let card = Card {
            folder: "quickstart-hf",
            name: "quickstart",
            question: "How much of the rules does a small model learn?\n\nOn two cores.",
            model: &ModelConfig { layers: 4, heads: 4, width: 128, hidden: 352, context: 128 },
            weights: "the best by validation loss, after 1,300 steps and 2,662,400 tokens",
            tainted: &["Tainted: trained although the gate `overfit` refused: the loss is 0.3".to_owned()],
            scores: &[score],
            sources: &[
                Source::Month { month: "2013-01".into(), sha256: None },
                Source::File { name: "mined.pgn.zst".into(), blake3: "ab".repeat(32) },
            ],
            learned: true,
            provenance: &[("git", "47247ec".into()), ("host", String::new())],
            check: &[Compared { length: 1, greatest_difference: 1.2e-6 }, Compared { length: 128, greatest_difference: 3e-6 }],
        };
        insta::assert_snapshot!(card.text());
        assert!(card.text().contains("\n> **Tainted: trained although the gate `overfit` refused"));
        let bare = Card { tainted: &[], scores: &[], question: "", learned: false, ..card };
        assert!(bare.text().contains("## What it was measured on;"));
        assert!(bare.text().contains("Of these weights nothing was measured.") && !bare.text().contains("Tainted"));
    }
}
