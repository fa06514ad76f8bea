//! What figures do along an axis of numbers: from its smallest setting to its largest, and step by step.

use super::{is_settled, list, list_of_pairs, noun, size, told};
use crate::report::sweep::{Axis, Figure, Kind, Sweep, written};
use crate::report::words::training::passes;
use crate::text::si;

/// Of several axes the others stand still, at the last of their values: that is told beside.
pub(super) fn sentences(sweep: &Sweep) -> Vec<String> {
    let of = |axis: &Axis| {
        let Some(stretch) = Stretch::of(sweep, axis) else { return Vec::new() };
        let figures: Vec<&Figure> = told(sweep).filter(|figure| figure.comparable).collect();
        let each = figures.iter().filter_map(|figure| stretch.figure(figure));
        stretch.headline(&figures).into_iter().chain(each).collect::<Vec<_>>()
    };
    sweep.axes.iter().filter(|axis| !axis.is_temperature()).flat_map(of).collect()
}

/// Settings along an axis, smallest first, that are equal in all else.
struct Stretch<'s> {
    sweep: &'s Sweep<'s>,
    axis: &'s Axis,
    order: Vec<usize>,
    /// What else there is, and stands still.
    beside: String,
}

enum Turn {
    Rises,
    Falls,
    Open,
}

impl<'s> Stretch<'s> {
    fn of(sweep: &'s Sweep<'s>, axis: &'s Axis) -> Option<Self> {
        let others: Vec<&Axis> = sweep.axes.iter().filter(|other| other.kind != axis.kind).collect();
        let ascending = axis.ascending()?;
        let is_beside = |a: usize, b: usize| others.iter().all(|other| other.texts[a] == other.texts[b]);
        // The longest stretch, and of several the one that stands last in the file.
        let longest =
            (0..sweep.settings.len()).max_by_key(|&at| (0..sweep.settings.len()).filter(|&b| is_beside(at, b)).count())?;
        let order: Vec<usize> = ascending.into_iter().filter(|&at| is_beside(at, longest)).collect();
        let beside: Vec<String> = others.iter().map(|other| format!("{} {}", other.label(), other.texts[longest])).collect();
        (order.len() > 1).then(|| Self { sweep, axis, order, beside: beside.join(", ") })
    }

    fn number(&self, at: usize) -> f64 {
        self.axis.numbers.as_ref().map_or(f64::NAN, |numbers| numbers[at])
    }

    /// `2 × 32`, `205 M tokens`, `3e-4`.
    fn place(&self, at: usize) -> String {
        match self.axis.kind {
            Kind::Parameters => self.sweep.settings[at].name.clone(),
            Kind::Tokens => format!("{} tokens", si(self.number(at))),
            Kind::Setting(_) => written(self.number(at)),
        }
    }

    fn ends(&self) -> (usize, usize) {
        (self.order[0], self.order[self.order.len() - 1])
    }

    fn turn(&self, figure: &Figure) -> Option<Turn> {
        let (first, last) = self.ends();
        let apart = figure.apart(first, last).filter(|apart| !apart.low.is_nan())?;
        Some(match (apart.low > 0.0, apart.high < 0.0) {
            (true, _) => Turn::Rises,
            (_, true) => Turn::Falls,
            _ => Turn::Open,
        })
    }

    /// The answer in one sentence.
    fn headline(&self, figures: &[&Figure]) -> Option<String> {
        let (mut rises, mut falls, mut open) = (Vec::new(), Vec::new(), Vec::new());
        for figure in figures {
            match self.turn(figure) {
                Some(Turn::Rises) => rises.push(noun(figure)),
                Some(Turn::Falls) => falls.push(noun(figure)),
                Some(Turn::Open) => open.push(noun(figure)),
                None => (),
            }
        }
        let mut turns = Vec::new();
        for (verb, verbs, nouns) in [("falls", "fall", &falls), ("rises", "rise", &rises)] {
            if !nouns.is_empty() {
                turns.push(format!("{} {}", list(nouns, nouns.len()), if nouns.len() > 1 { verbs } else { verb }));
            }
        }
        if !open.is_empty() {
            turns.push(format!("of {} it is not settled", list(&open, open.len())));
        }
        let (first, last) = self.ends();
        let from = match self.axis.kind {
            Kind::Parameters => {
                let [from, to] = [first, last].map(|at| (si(self.number(at)), &self.sweep.settings[at].name));
                format!("From {} to {} parameters without the embedding ({} to {})", from.0, to.0, from.1, to.1)
            }
            Kind::Tokens => format!("From {} to {} training tokens", si(self.number(first)), si(self.number(last))),
            Kind::Setting(_) => {
                format!("From {} {} to {}", self.axis.label(), written(self.number(first)), written(self.number(last)))
            }
        };
        let tokens = self.sweep.tokens[last].filter(|_| self.sweep.is_of_equal_tokens());
        let passes = passes(self.sweep.settings[last].first()).map_or_else(String::new, |passes| format!(", {passes}"));
        let tokens = tokens.map_or_else(String::new, |tokens| format!(", at equal tokens ({}{passes})", si(tokens as f64)));
        let beside = if self.beside.is_empty() { String::new() } else { format!(" (at {})", self.beside) };
        (!turns.is_empty()).then(|| format!("{from}{tokens}{beside}, {}.", turns.join("; ")))
    }

    /// What one figure does, with its numbers.
    fn figure(&self, figure: &Figure) -> Option<String> {
        let (first, last) = self.ends();
        let [low, high] = [first, last].map(|at| figure.cells[at].as_ref().map(|cell| figure.within(&cell.value)));
        let apart = figure.apart(first, last)?;
        let difference = size(figure, apart);
        let told = if apart.low.is_nan() {
            format!("a difference of {difference}, without an interval")
        } else if !is_settled(apart) {
            format!("the difference, {difference}, may be none: its interval holds 0")
        } else {
            format!("{difference} {}", if apart.value > 0.0 { "more" } else { "less" })
        };
        let label = match (figure.metric.as_str(), figure.name.as_str()) {
            ("agreement", "top1") => "Top-1 agreement: the first choice is the move played in",
            _ => figure.label.trim_end_matches(", nats"),
        };
        let colon = if label.contains(':') { "" } else { ":" };
        let steps = self.steps(figure).map_or_else(String::new, |steps| format!(" {steps}"));
        Some(format!("{label}{colon} {} at {}, {} at {}: {told}.{steps}", low?, self.place(first), high?, self.place(last)))
    }

    /// Whether each setting is told apart from the one before, where there are some between the ends.
    fn steps(&self, figure: &Figure) -> Option<String> {
        if self.order.len() < 3 {
            return None;
        }
        let mut open = Vec::new();
        let (mut up, mut down) = (0, 0);
        for pair in self.order.windows(2) {
            let apart = figure.apart(pair[0], pair[1])?;
            if apart.low.is_nan() {
                return None;
            }
            if is_settled(apart) {
                if apart.value > 0.0 { up += 1 } else { down += 1 }
            } else {
                open.push(format!("between {} and {}", self.sweep.settings[pair[0]].name, self.sweep.settings[pair[1]].name));
            }
        }
        Some(match (open.is_empty(), up > 0 && down > 0) {
            (true, false) => "Each step is settled.".to_owned(),
            (true, true) => "Each step is settled, and not all go one way.".to_owned(),
            (false, _) if up + down == 0 => "No single step is settled.".to_owned(),
            (false, turns) => format!(
                "Not settled: the difference {}{}.",
                list_of_pairs(&open, 3),
                if turns { "; the steps that are do not all go one way" } else { "" }
            ),
        })
    }
}
