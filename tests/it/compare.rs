//! `philidor compare` on real runs: pairs where there are pairs, and a refusal where the thermometers differ.

use serde_json::Value;

use crate::support::Lab;

/// Three runs of the tiny experiment: two models, and the first once more at another temperature.
fn measured() -> Lab {
    let lab = Lab::new();
    for settings in [
        vec!["name=small"],
        vec!["name=wide", "model.width=48", "model.hidden=96"],
        vec!["name=cool", "measure.final.legality.temperature=0.5"],
        vec!["name=swept", "sweep.grid={\"train.seed\" = [7, 8]}"],
    ] {
        let mut arguments = vec!["run", "tiny.toml"];
        for setting in settings {
            arguments.extend(["-S", setting]);
        }
        lab.philidor(&arguments).ended(0);
    }
    lab
}

#[test]
fn runs_are_compared_pair_by_pair_and_other_protocols_are_refused() {
    let lab = measured();
    let said = lab.philidor(&["compare", "small", "wide"]).ended(0);
    assert!(said.stdout.lines().all(|line| line.chars().count() <= 100), "{}", said.stdout);
    let unbroken = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for wanted in
        ["model.width", "Final figures", "Legal moves", "points [", "McNemar p", "Protocols", "on cpu, 1 thread", "made by"]
    {
        assert!(unbroken.contains(wanted), "{wanted}: {}", said.stdout);
    }
    assert!(!said.stdout.contains("corpus.files"), "what is alike is not told: {}", said.stdout);

    let said = lab.philidor(&["compare", "small", "wide", "--json"]).ended(0);
    let document: Value = serde_json::from_str(&said.stdout).expect("one document");
    let rows = document["sections"][0]["rows"].as_array().expect("final figures");
    let of = |metric: &str| {
        let row = rows.iter().find(|row| row["metric"] == metric).expect("measured");
        row["differences"][0]["method"].as_str().expect("a method").to_owned()
    };
    // All positions are the same ones; games that each played on its own are not.
    assert_eq!(of("legality"), "paired, Newcombe 95 %");
    assert_eq!(of("agreement"), "paired, Newcombe 95 %");
    assert_eq!(of("full_games"), "independent, square and add 95 %");
    let difference = |row: &Value| {
        let value = |at: usize| row["cells"][at]["value"].as_f64().expect("a number");
        (value(1) - value(0), row["differences"][0]["value"].as_f64().expect("a number"))
    };
    for row in rows.iter().filter(|row| row["cells"][0]["n"] == row["cells"][1]["n"] && row["slice"] == "") {
        let (wanted, got) = difference(row);
        assert!((wanted - got).abs() < 1e-9, "{}: {got}, not {wanted}", row["label"]);
    }
    let csv = lab.philidor(&["compare", "small", "wide", "--csv"]).ended(0).stdout;
    assert!(csv.starts_with("equal,at,metric,slice,temperature,protocol,subject,"), "{csv}");

    // A model is never better than itself, and a verdict may be wanted one way.
    let itself = lab.philidor(&["compare", "small", "small", "--verdict", "agreement.top1"]).ended(5);
    assert!(itself.stderr.contains("agreement.top1: same"), "{}", itself.stderr);
    let odd = lab.philidor(&["compare", "small", "wide", "--verdict", "agreement.top1=best"]).ended(2);
    assert!(odd.stderr.contains("one of better, worse, higher, lower, inconclusive"), "{}", odd.stderr);

    let refused = lab.philidor(&["compare", "small", "cool"]).ended(5);
    assert!(refused.stderr.contains("temperature: 1.0 and 0.5") && refused.stdout.is_empty(), "{}", refused.stderr);
    let shown = lab.philidor(&["compare", "small", "cool", "--exploratory", "--md"]).ended(0);
    assert!(shown.stdout.starts_with("NOT COMPARABLE: legality of small and of cool"), "{}", shown.stdout);

    // A figure of so few positions tells nothing.
    let said = lab.philidor(&["compare", "small", "wide", "--at", "end", "--verdict", "rules.check.mass_max"]);
    assert!([0, 5].contains(&said.code), "{}", said.stderr);
    lab.philidor(&["compare", "small", "wide", "--verdict", "no.such"]).ended(2);

    // The points of a sweep over seeds are one column; one of them is named by its number.
    let seeds = lab.philidor(&["compare", "wide", "swept"]).ended(0);
    assert!(seeds.stdout.contains("swept (2 seeds)") && seeds.stdout.contains("2 × 60"), "{}", seeds.stdout);
    let same = lab.philidor(&["compare", "small", "swept:1"]).ended(0);
    assert!(same.stdout.contains("the same"), "{}", same.stdout);
    let said = lab.philidor(&["compare", "small", "swept:9"]).ended(2);
    assert!(said.stderr.contains("`swept` has no point `9`"), "{}", said.stderr);
    lab.philidor(&["compare", "small"]).ended(2);
    lab.philidor(&["compare", "small", "nobody"]).ended(2);
    lab.philidor(&["compare", "small", "wide", "--at", "steps=4"]).ended(2);
}
