//! What is asked of models: the tokens of every measure and what they take, and those of the trainings beside them.

use serde_json::{Value, json};

use crate::passes::{Count, Passes};
use crate::text::{duration, thousands};
use crate::ui::paint::Paint;

/// A node that is to be made, or the rest of it.
pub(super) struct Asked<'a> {
    pub(super) passes: &'a Passes,
    /// The share of it that is left.
    pub(super) left: f64,
    /// None where nothing tells how long it takes.
    pub(super) seconds: Option<f64>,
}

/// Nodes in which the same is done, with other weights or to other sizes.
#[derive(Clone)]
pub(super) struct Group {
    of: String,
    learns: bool,
    nodes: u64,
    forward: Sum,
    generated: Count,
    seconds: f64,
    untimed: u64,
}

/// Tokens of several nodes, some of which may be untold.
#[derive(Clone, Copy)]
struct Sum {
    told: Count,
    untold: bool,
}

impl Sum {
    const NONE: Self = Self { told: Count::NONE, untold: false };

    fn and(self, other: Self) -> Self {
        Self { told: self.told + other.told, untold: self.untold || other.untold }
    }
}

impl Group {
    fn of(asked: &Asked) -> Self {
        let Asked { passes, left, seconds } = *asked;
        let of_it = |count: Count| Count { tokens: (count.tokens as f64 * left).round() as u64, ..count };
        Self {
            of: passes.of.clone(),
            learns: passes.learns,
            nodes: 1,
            forward: Sum { told: passes.forward.map_or(Count::NONE, of_it), untold: passes.forward.is_none() },
            generated: of_it(passes.generated),
            seconds: seconds.unwrap_or(0.0),
            untimed: u64::from(seconds.is_none()),
        }
    }

    fn and(self, other: &Self) -> Self {
        Self {
            nodes: self.nodes + other.nodes,
            forward: self.forward.and(other.forward),
            generated: self.generated + other.generated,
            seconds: self.seconds + other.seconds,
            untimed: self.untimed + other.untimed,
            ..self
        }
    }

    fn total(groups: &[Self], learns: bool) -> Self {
        let none = Self {
            of: "in all".to_owned(),
            learns,
            nodes: 0,
            forward: Sum::NONE,
            generated: Count::NONE,
            seconds: 0.0,
            untimed: 0,
        };
        groups.iter().filter(|group| group.learns == learns).fold(none, Self::and)
    }

    fn time(&self) -> String {
        match (self.seconds < super::NO_TIME, self.untimed) {
            (true, 0) => "–".to_owned(),
            (true, _) => "?".to_owned(),
            (false, 0) => format!("~{}", duration(self.seconds)),
            (false, _) => format!("~{} + ?", duration(self.seconds)),
        }
    }

    fn line(&self) -> String {
        let Self { of, nodes, forward, generated, .. } = self;
        let forward = match forward {
            Sum { told: Count::NONE, untold: true } => "?".to_owned(),
            Sum { told, untold } => format!("{}{}", tokens(*told), if *untold { " + ?" } else { "" }),
        };
        format!("  {of:<42}{:>6}{forward:>20}{:>14}{:>14}", thousands(*nodes), tokens(*generated), self.time())
    }
}

/// In the order of the plan.
pub(super) fn groups(asked: &[Asked]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for one in asked.iter().map(Group::of) {
        match groups.iter_mut().find(|group| group.of == one.of) {
            Some(group) => *group = group.clone().and(&one),
            None => groups.push(one),
        }
    }
    groups
}

/// A table for people, of at most 96 columns; nothing where nothing is asked.
pub(super) fn lines(groups: &[Group], paint: Paint) -> Vec<String> {
    let mut lines = Vec::new();
    for (title, learns) in [("measuring", false), ("training", true)] {
        let own: Vec<&Group> = groups.iter().filter(|group| group.learns == learns).collect();
        if own.is_empty() {
            continue;
        }
        lines.push(String::new());
        let head = format!("{title:<44}{:>6}{:>20}{:>14}{:>14}", "nodes", "tokens forward", "generated", "time");
        lines.push(paint.bold(&head));
        lines.extend(own.iter().map(|group| group.line()));
        if own.len() > 1 {
            lines.push(Group::total(groups, learns).line());
        }
    }
    lines.extend(notes(groups).into_iter().map(|note| paint.dim(&note)));
    lines
}

/// What the signs in the table say.
fn notes(groups: &[Group]) -> Vec<String> {
    let measures = || groups.iter().filter(|group| !group.learns);
    let open = |group: &Group| group.generated == Count::NONE && (group.forward.untold || !group.forward.told.exact);
    let mut notes = Vec::new();
    if measures().any(open) {
        notes.push("  ≤ and ? of tokens forward: counted once the games that are read are encoded");
    }
    if measures().any(|group| group.generated != Count::NONE) {
        notes.push("  ≤ of generated tokens: games end where the model ends them, at 250 plies at the latest");
    }
    if measures().any(|group| group.untimed > 0 && group.generated == Count::NONE) {
        notes.push("  ? of time: until a training or such a measure is kept that was made on this kind of device");
    }
    if measures().any(|group| group.untimed > 0 && group.generated != Count::NONE) {
        notes.push("  ? of time to generate: until such a measure is kept that was made on this kind of device");
    }
    if !notes.is_empty() {
        notes.insert(0, "");
    }
    notes.into_iter().map(str::to_owned).collect()
}

fn tokens(count: Count) -> String {
    match count {
        Count::NONE => "–".to_owned(),
        Count { tokens, exact } => format!("{}{}", if exact { "" } else { "≤ " }, thousands(tokens)),
    }
}

/// For programs. A number of tokens is null where nothing bounds it.
pub(super) fn document(groups: &[Group], learns: bool) -> Value {
    let told = |group: &Group| {
        let forward = (!group.forward.untold).then_some(group.forward.told);
        json!({ "of": group.of, "nodes": group.nodes, "forward": forward, "generated": group.generated, "seconds": group.seconds,
                "nodes_never_timed": group.untimed })
    };
    let own: Vec<Value> = groups.iter().filter(|group| group.learns == learns).map(told).collect();
    json!({ "total": told(&Group::total(groups, learns)), "groups": own })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes() -> Vec<(Passes, f64, Option<f64>)> {
        let ask = |exact| Passes::reading("ask 2000 positions", Some(Count { tokens: 512_000, exact }));
        let games = Passes {
            generated: Count::at_most(125_000),
            ..Passes::reading("evaluate full_games T=1", Some(Count::at_most(149_000)))
        };
        vec![
            (Passes::learning("overfit", Some(Count::at_most(640_000))), 1.0, Some(3.0)),
            (Passes::learning("train", Some(Count::exactly(800_000_000))), 0.5, Some(3_600.0)),
            (ask(true), 1.0, Some(1.5)),
            (ask(false), 1.0, Some(1.5)),
            (Passes::reading("evaluate legality T=1", Some(Count::NONE)), 1.0, Some(0.01)),
            (games.clone(), 1.0, None),
            (games, 1.0, Some(40.0)),
            (Passes::reading("evaluate loss", None), 1.0, None),
        ]
    }

    fn told(passes: &[(Passes, f64, Option<f64>)]) -> Vec<Group> {
        let asked: Vec<Asked> =
            passes.iter().map(|(passes, left, seconds)| Asked { passes, left: *left, seconds: *seconds }).collect();
        groups(&asked)
    }

    #[test]
    fn people_read_the_tokens_of_each_measure_and_what_is_not_known() {
        let lines = lines(&told(&passes()), Paint::none());
        assert!(lines.iter().all(|line| line.chars().count() <= 100), "{lines:#?}");
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn where_all_is_known_no_sign_is_explained_and_where_nothing_is_asked_nothing_is_said() {
        let exact = [(Passes::reading("ask 5 positions", Some(Count::exactly(1_234))), 1.0, Some(0.25))];
        let lines = lines(&told(&exact), Paint::none());
        assert_eq!(lines.len(), 3, "{lines:#?}");
        assert!(super::lines(&[], Paint::none()).is_empty());
    }

    #[test]
    fn a_program_reads_the_same_and_null_where_nothing_bounds_the_tokens() {
        let document = document(&told(&passes()), false);
        assert_eq!(document["total"]["nodes"], 6);
        assert_eq!((&document["total"]["forward"], &document["total"]["nodes_never_timed"]), (&Value::Null, &json!(2)));
        assert_eq!(document["groups"][0]["forward"], json!({ "tokens": 1_024_000, "exact": false }));
        let training = super::document(&told(&passes()), true);
        assert_eq!(training["groups"][1]["forward"], json!({ "tokens": 400_000_000, "exact": true }), "half of it is left");
    }
}
