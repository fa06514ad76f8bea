//! Artifacts that are cut short, empty, equal, wild or wrong.

use serde_json::json;

/// Changes of artifacts that no chart may stumble over.
pub(super) type Change = (&'static str, fn(&str, &str, String) -> String);

pub(super) const CHANGES: &[Change] = &[
    ("as usual", |_, _, content| content),
    ("one step", |_, name, content| if name.contains("jsonl") { content.lines().take(1).collect() } else { content }),
    ("two steps", |_, name, content| {
        if name.contains("jsonl") { content.lines().take(2).map(|line| line.to_owned() + "\n").collect() } else { content }
    }),
    ("no lines", |_, name, content| if name.contains("jsonl") { String::new() } else { content }),
    ("not JSON", |stage, _, content| if stage == "evaluate" { content.replace('{', "") } else { content }),
    ("a loss that is not a number", |_, name, content| {
        if !name.contains("jsonl") {
            return content;
        }
        let broken = |(i, line): (usize, &str)| {
            let mut value: serde_json::Value = serde_json::from_str(line).expect("a line of the fixture");
            if i > 30 && value["loss"].is_number() {
                value["loss"] = serde_json::Value::Null;
            }
            value.to_string() + "\n"
        };
        content.lines().enumerate().map(broken).collect()
    }),
    (
        "a huge loss",
        |_, name, content| {
            if name.contains("jsonl") { content.replace("\"loss\":", "\"loss\":1e30,\"was\":") } else { content }
        },
    ),
    (
        "equal values",
        |_, name, content| {
            if name.contains("jsonl") { content.replace("\"loss\":", "\"loss\":2.5,\"was\":") } else { content }
        },
    ),
    ("equal scores", |stage, _, content| {
        edit_values(stage, content, |value| {
            for bound in ["value", "low", "high"] {
                value[bound] = 0.5.into();
            }
        })
    }),
    ("wild scores", |stage, _, content| {
        edit_values(stage, content, |value| {
            value["value"] = 1e12.into();
            value["low"] = (-1e12).into();
            value["high"] = 1e15.into();
        })
    }),
    ("no values", |stage, _, content| edit(stage, content, |score| score["values"] = json!([]))),
    ("no counts", |stage, _, content| edit(stage, content, |score| score["counts"] = json!({}))),
    ("nothing read", |stage, _, content| {
        if stage == "parse" {
            json!({ "read": 0, "kept": 0, "plies": 0, "rejected": [], "lengths": [] }).to_string()
        } else {
            content
        }
    }),
    ("an inspection from before positions were looked for", |_, name, content| {
        if name == "inspection.json" {
            json!({ "replayed": 5, "failed": 0, "validation_games": 9, "distinct_validation_games": 9, "overlap_games": 1 })
                .to_string()
        } else {
            content
        }
    }),
    ("an inspection of nonsense", |_, name, content| {
        if name == "inspection.json" {
            let row =
                |ply: u32| json!({ "ply": ply, "positions": 2, "seen": 5, "distinct": 0, "distinct_seen": 7, "prefixes": 9 });
            json!({ "replayed": 5, "validation_games": 9, "distinct_validation_games": 2, "overlap_games": 7,
                "overlap": { "games": 1, "positions": 2, "seen": 5, "distinct": 0, "distinct_seen": 7, "prefixes": 9, "by_ply": [row(0), row(1)] } })
            .to_string()
        } else {
            content
        }
    }),
    ("one length", |stage, _, content| {
        if stage == "parse" {
            json!({ "read": 3, "kept": 1, "plies": 21, "lengths": [[21, 1]],
                "rejected": [["a reason with a name that is far longer than any reason ought to be", 2]] })
            .to_string()
        } else {
            content
        }
    }),
];

fn edit(stage: &str, content: String, change: impl FnOnce(&mut serde_json::Value)) -> String {
    // Games lie beside the score.
    if stage != "evaluate" || !content.starts_with('{') {
        return content;
    }
    let mut score = serde_json::from_str(&content).expect("a score of the fixture");
    change(&mut score);
    score.to_string()
}

fn edit_values(stage: &str, content: String, change: fn(&mut serde_json::Value)) -> String {
    edit(stage, content, |score| score["values"].as_array_mut().expect("values").iter_mut().for_each(change))
}
