//! The rules of `[corpus.keep]` that an experiment may leave out.

use std::num::NonZeroU32;

use insta::assert_snapshot;

use crate::corpus::config::Keep;
use crate::corpus::date::Date;
use crate::experiment::Show;

use super::{Folder, asking};

const RULES: &str = "[corpus.keep]
rated = true
exclude_bots = true
estimated_seconds = [180, 1_499]
base_seconds = [180, 900]
increment_seconds = [0, 10]
rating_difference = [0, 200]
rating_band = 100
results = [\"1-0\", \"0-1\"]
dates = [2013-01-01, \"2013-01-31\"]
exclude_duplicates = true
games_per_player = 50
";

fn keep(folder: &Folder, sets: &[&str]) -> Keep {
    folder.loaded(sets).points[0].corpus.keep.clone()
}

#[test]
fn every_rule_is_read_and_printed() {
    let folder = asking(RULES);
    let day = |text| Date::of_iso(text).expect("a day");
    let wanted = Keep {
        rated: true,
        exclude_bots: true,
        estimated_seconds: Some([180, 1499]),
        base_seconds: Some([180, 900]),
        increment_seconds: Some([0, 10]),
        rating_difference: Some([0, 200]),
        rating_band: NonZeroU32::new(100),
        results: vec!["1-0".into(), "0-1".into()],
        dates: Some([day("2013-01-01"), day("2013-01-31")]),
        exclude_duplicates: true,
        games_per_player: NonZeroU32::new(50),
        ..keep(&asking(""), &[])
    };
    assert_eq!(keep(&folder, &[]), wanted);
    let resolved = folder.loaded(&[]).resolved(0, Show::Values);
    assert_eq!(keep(&Folder::new().asking(&resolved), &[]), wanted, "{resolved}");
    assert!(resolved.contains("dates = [2013-01-01, 2013-01-31]"), "{resolved}");
}

#[test]
fn an_override_sets_a_rule_or_turns_an_inherited_one_off() {
    let day = |text| Date::of_iso(text).expect("a day");
    let set = keep(&asking(""), &["corpus.keep.dates=[2013-01-01, 2013-01-02]", "corpus.keep.results=[1-0]"]);
    assert_eq!(set.dates, Some([day("2013-01-01"), day("2013-01-02")]));
    assert_eq!(set.results, ["1-0"]);
    let names: Vec<&str> = RULES.lines().skip(1).filter_map(|line| line.split(' ').next()).collect();
    let off: Vec<String> = names.iter().map(|name| format!("corpus.keep.{name}=false")).collect();
    let off: Vec<&str> = off.iter().map(String::as_str).collect();
    assert_eq!(keep(&asking(RULES), &off), keep(&asking(""), &[]));
    // What is off stays so when the resolved experiment is asked again.
    let resolved = asking(RULES).loaded(&off).resolved(0, Show::Values);
    assert_eq!(keep(&Folder::new().asking(&resolved), &[]), keep(&asking(""), &[]));
}

#[test]
fn a_rule_that_keeps_nothing_or_means_nothing_is_a_problem() {
    let text = "[corpus.keep]
rated = \"yes\"
estimated_seconds = 180
base_seconds = [600, 180]
rating_band = 0
results = []
dates = [\"2013-02-30\", 2013-03-31]
exclude_duplicate = true
";
    assert_snapshot!(asking(text).problems(&["corpus.keep.games_per_player=few"]), @r#"
    --set corpus.keep.games_per_player=few: `corpus.keep.games_per_player` wants an integer of at least 1, not `few`

    experiments/x.toml:3: `corpus.keep.rated` wants `true` or `false`, not the string `"yes"`
        rated = "yes"
                ^^^^^

    experiments/x.toml:4: `corpus.keep.estimated_seconds` wants a list of two, each an integer of at least 0, not `180`
        estimated_seconds = 180
                            ^^^

    experiments/x.toml:5: `corpus.keep.base_seconds` runs from 600 to 180, which keeps no game
        base_seconds = [600, 180]
                       ^^^^^^^^^^
      hint: write the lower one first

    experiments/x.toml:6: `corpus.keep.rating_band` wants an integer of at least 1, not `0`
        rating_band = 0
                      ^

    experiments/x.toml:7: `corpus.keep.results` is empty, which keeps no game
        results = []
                  ^^
      hint: such as ["1-0", "0-1"], or leave it out

    experiments/x.toml:8: `corpus.keep.dates` wants a list of two, each a date such as `2013-01-31`, not the string `"2013-02-30"` in it
        dates = ["2013-02-30", 2013-03-31]
                 ^^^^^^^^^^^^

    experiments/x.toml:9: unknown key `corpus.keep.exclude_duplicate`
        exclude_duplicate = true
        ^^^^^^^^^^^^^^^^^
      hint: did you mean `exclude_duplicates`?

    8 problems
    "#);
    let text = "[corpus.keep]\nresults = [\"win\"]\ndates = [2013-02-01, 2013-01-01]\n";
    assert_snapshot!(asking(text).problems(&[]), @r#"
    experiments/x.toml:3: `corpus.keep.results` wants a list, each item a result: `1-0`, `0-1`, `1/2-1/2` or `*`, not the string `"win"` in it
        results = ["win"]
                   ^^^^^

    experiments/x.toml:4: `corpus.keep.dates` runs from 2013-02-01 to 2013-01-01, which keeps no game
        dates = [2013-02-01, 2013-01-01]
                ^^^^^^^^^^^^^^^^^^^^^^^^
      hint: write the lower one first

    2 problems
    "#);
}

#[test]
fn a_word_that_is_nearly_the_archives_is_refused_and_a_strange_one_is_not() {
    let folder =
        asking("[corpus.keep]\nexclude_speeds = [\"bullet\", \"Freestyle\"]\nterminations = [\"Normal\", \"Time forfiet\"]\n");
    let problems = folder.problems(&[]);
    for told in ["`bullet`", "did you mean `Bullet`?", "`Time forfiet`", "did you mean `Time forfeit`?", "2 problems"] {
        assert!(problems.contains(told), "{problems}");
    }
    asking("[corpus.keep]\nexclude_speeds = [\"Freestyle\"]\n").loaded(&[]);
}
