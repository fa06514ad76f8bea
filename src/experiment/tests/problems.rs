//! What is said when something is wrong: the place, the key, what was wanted, one next step.

use insta::assert_snapshot;

use crate::error::{Exit, exit_of};
use crate::experiment::load;

use super::{BASE, Folder, asking};

#[test]
fn a_typo_is_shown_at_its_line_with_the_key_that_was_meant() {
    assert_snapshot!(asking("[train]\nlerning_rate = { peak = 1e-3 }\n").problems(&[]), @r#"
    experiments/x.toml:3: unknown key `train.lerning_rate`
        lerning_rate = { peak = 1e-3 }
        ^^^^^^^^^^^^
      hint: did you mean `learning_rate`?

    1 problem
    "#);
}

#[test]
fn a_misspelt_key_that_is_missing_is_one_problem() {
    let text = BASE.replace("heads", "haeds");
    assert_snapshot!(Folder::new().asking(&text).problems(&[]), @r#"
    experiments/x.toml:15: unknown key `model.haeds`
        haeds = 4
        ^^^^^
      hint: did you mean `heads`?

    1 problem
    "#);
}

#[test]
fn an_unknown_key_near_no_other_lists_what_is_wanted() {
    assert_snapshot!(asking("[model]\ndropout = 0.1\n").problems(&[]), @r#"
    experiments/x.toml:3: unknown key `model.dropout`
        dropout = 0.1
        ^^^^^^^
      hint: wanted here: `weights`, `layers`, `heads`, `width`, `hidden` or `context`

    1 problem
    "#);
}

#[test]
fn a_wrong_type_tells_the_type_wanted_and_the_value_seen() {
    let text = "[train]\nbatch = \"many\"\nclip = 0\nbetas = [0.9, 1.5]\n[model]\nlayers = 2.5\n[corpus]\nkeep = 3\n";
    assert_snapshot!(asking(text).problems(&[]), @r#"
    experiments/x.toml:3: `train.batch` wants an integer from 1 to 1048576, not the string `"many"`
        batch = "many"
                ^^^^^^

    experiments/x.toml:4: `train.clip` wants a number above 0, not `0`
        clip = 0
               ^

    experiments/x.toml:5: `train.betas` wants a list of two, each a number of at least 0 and below 1, not `1.5` in it
        betas = [0.9, 1.5]
                      ^^^

    experiments/x.toml:7: `model.layers` wants an integer from 1 to 1024, not `2.5`
        layers = 2.5
                 ^^^

    experiments/x.toml:9: `corpus.keep` wants a table, not `3`
        keep = 3
               ^

    5 problems
    "#);
}

#[test]
fn a_missing_file_is_a_problem_with_the_path_looked_at() {
    assert_snapshot!(asking("[corpus]\nfiles = [\n  \"games.pgn\",\n]\n").problems(&[]), @r#"
    experiments/x.toml:4: no such file: looked at `HERE/experiments/games.pgn`
          "games.pgn",
          ^^^^^^^^^^^
      hint: a path is relative to the file that names it; from --set, to where you are

    1 problem
    "#);
}

#[test]
fn missing_keys_and_sections_are_named() {
    let text = BASE.replace("width = 64\n", "").replace("[measure]\nseed = 7\n", "").replace(", warmup = 50", "");
    assert_snapshot!(Folder::new().asking(&text.replace("[gates]", "[gates.none]")).problems(&[]), @r#"
    experiments/x.toml:13: `[model]` lacks `width`
        [model]
         ^^^^^
      hint: set it, or extend `base.toml`, which explains every key; `width` is never guessed

    experiments/x.toml:24: `[train.learning_rate]` lacks `warmup`
        learning_rate = { schedule = "cosine", peak = 6e-4, floor = 6e-5 }
        ^^^^^^^^^^^^^
      hint: set it, or extend `base.toml`, which explains every key; `warmup` is never guessed

    experiments/x.toml:32: unknown key `gates.none`
        [gates.none]
               ^^^^
      hint: wanted here: `replay`, `initial_loss` or `overfit`

    experiments/x.toml:35: `[measure]` lacks `seed`
        [measure.snapshots]
         ^^^^^^^
      hint: set it, or extend `base.toml`, which explains every key; `seed` is never guessed

    4 problems
    "#);
    assert_snapshot!(Folder::new().asking("name = \"x\"\n").problems(&[]), @r#"
    experiments/x.toml: the experiment lacks `corpus`
      hint: set it, or extend `base.toml`, which explains every key; `corpus` is never guessed

    experiments/x.toml: the experiment lacks `model`
      hint: set it, or extend `base.toml`, which explains every key; `model` is never guessed

    experiments/x.toml: the experiment lacks `train`
      hint: set it, or extend `base.toml`, which explains every key; `train` is never guessed

    experiments/x.toml: the experiment lacks `measure`
      hint: set it, or extend `base.toml`, which explains every key; `measure` is never guessed

    4 problems
    "#);
}

#[test]
fn a_bad_name_of_a_choice_offers_the_nearest() {
    assert_snapshot!(asking("[train]\nsampler = \"epochs\"\nprecision = \"fp16\"\n").problems(&[]), @r#"
    experiments/x.toml:3: `train.sampler` wants `windows` or `epoch`, not the string `"epochs"`
        sampler = "epochs"
                  ^^^^^^^^
      hint: did you mean `epoch`?

    experiments/x.toml:4: `train.precision` wants `f32`, `tf32` or `bf16`, not the string `"fp16"`
        precision = "fp16"
                    ^^^^^^

    2 problems
    "#);
}

#[test]
fn rules_across_keys_name_both_and_where_both_are_set() {
    let text = "[model]\nheads = 6\ncontext = 4\n[train]\nsteps = 40\nlearning_rate = { floor = 1.0 }\n\
        [corpus.keep]\nelo = [2600, 1800]\n[measure.final]\ncheckpoint = 7\nfull_games = { temperatures = [1, 1.0, -1] }\n";
    assert_snapshot!(asking(text).problems(&[]), @r"
    experiments/x.toml:3: `model.heads` is 6, but `model.width` 64 is not a multiple of it (`model.width` is set at experiments/base.toml:16)
        heads = 6
                ^
      hint: try heads = 4 or 8

    experiments/x.toml:4: `model.context` wants an integer from 8 to 65536, not `4`
        context = 4
                  ^

    experiments/x.toml:6: `train.learning_rate.warmup` is 50 steps, and the whole training 40 (`train.learning_rate.warmup` is set at experiments/base.toml:25)
        steps = 40
                ^^
      hint: warm up for less than the training, such as 3 % of it

    experiments/x.toml:7: `train.learning_rate.floor` 1.0 is above the peak 0.0006 (`train.learning_rate.peak` is set at experiments/base.toml:25)
        learning_rate = { floor = 1.0 }
                                  ^^^
      hint: the rate falls from the peak to the floor; a tenth of the peak is usual

    experiments/x.toml:9: `corpus.keep.elo` runs from 2600 to 1800, which keeps no game
        elo = [2600, 1800]
              ^^^^^^^^^^^^
      hint: write the lower one first

    experiments/x.toml:11: `measure.final.checkpoint` is step 7, of which there is no snapshot
        checkpoint = 7
                     ^
      hint: snapshots are taken every 200 of 40 steps; the nearest is 0

    experiments/x.toml:12: `measure.final.full_games.temperatures` wants a list, each item a number of at least 0, not `-1` in it
        full_games = { temperatures = [1, 1.0, -1] }
                                               ^^

    7 problems
    ");
}

#[test]
fn a_corpus_is_named_once_and_in_a_form_that_can_be_checked() {
    let folder = asking("[corpus]\nmonths = [\"2013-01\", \"2013-13\"]\n[corpus.sha256]\n\"2013-1\" = \"ab\"\n");
    assert_snapshot!(folder.problems(&[]), @r#"
    experiments/x.toml:3: `corpus.months` wants a list, each item a month such as `2026-07`, not the string `"2013-13"` in it
        months = ["2013-01", "2013-13"]
                             ^^^^^^^^^

    experiments/x.toml:5: `2013-1` is no month
        "2013-1" = "ab"
                   ^^^^
      hint: write it as in "2026-07"

    experiments/x.toml:5: `corpus.sha256.2013-1` wants a SHA-256 of 64 hexadecimal digits, not the string `"ab"`
        "2013-1" = "ab"
                   ^^^^

    3 problems
    "#);
    assert_snapshot!(asking("").problems(&["corpus.months=[2013-01, 2013-02, 2013-01]"]), @r#"
    --set corpus.months=[2013-01, 2013-02, 2013-01]: `corpus.months` names `2013-01` twice
      hint: name each month once

    1 problem
    "#);
    assert_snapshot!(asking("").problems(&["corpus.months=[2013-01]", "corpus.files=[]"]), @r#"
    --set corpus.files=[]: `corpus.files` is empty
      hint: name at least one

    1 problem
    "#);
    let folder = asking("[corpus]\nfiles = [\"a.pgn\", \"../b.pgn\"]\n").with("experiments/a.pgn", "x").with("b.pgn", "y");
    assert_eq!(folder.loaded(&[]).files.len(), 2);
    assert_eq!(folder.loaded(&["corpus.files=[b.pgn]"]).files.len(), 1, "from where the user is");
    assert!(folder.with("b.pgn", "").problems(&["corpus.files=[b.pgn, experiments]"]).contains("`HERE/experiments` is no file"));
}

#[test]
fn a_published_figure_names_what_a_report_has_and_lies_in_its_interval() {
    let text = "[published]\n\"legality.rates\" = { value = 1 }\n\"full_games.clean@T=hot\" = { value = 1 }\n\"elo\" = false\n\
        \"agreement.top1\" = { value = 0.5, low = 0.6, hihg = 0.7 }\n";
    assert_snapshot!(asking(text).problems(&[]), @r#"
    experiments/x.toml:3: no report has `legality.rates`
        "legality.rates" = { value = 1 }
        ^^^^^^^^^^^^^^^^
      hint: did you mean `legality.rate`?

    experiments/x.toml:4: no report has `full_games.clean@T=hot`
        "full_games.clean@T=hot" = { value = 1 }
        ^^^^^^^^^^^^^^^^^^^^^^^^
      hint: did you mean `full_games.clean`?

    experiments/x.toml:5: no report has `elo`
        "elo" = false
                ^^^^^
      hint: write it as in `legality.rate`; known are figures of `agreement`, `calibration`, `corpus`, `dense`, `full_games`, `legality`, `loss`, `mass`, `model`, `probe`, `puzzles`, `rules` or `tokens`

    experiments/x.toml:6: `published."agreement.top1".value` is 0.5, outside its own interval
        "agreement.top1" = { value = 0.5, low = 0.6, hihg = 0.7 }
                                     ^^^
      hint: low <= value <= high

    experiments/x.toml:6: unknown key `published."agreement.top1".hihg`
        "agreement.top1" = { value = 0.5, low = 0.6, hihg = 0.7 }
                                                     ^^^^
      hint: did you mean `high`?

    5 problems
    "#);
}

#[test]
fn files_that_extend_each_other_are_named_in_order() {
    let folder = asking("").with("experiments/base.toml", "extends = \"../experiments/x.toml\"\n");
    assert_snapshot!(folder.problems(&[]), @r#"
    experiments/base.toml:1: these extend each other: experiments/x.toml -> experiments/base.toml -> experiments/x.toml
        extends = "../experiments/x.toml"
                  ^^^^^^^^^^^^^^^^^^^^^^^
      hint: take one `extends` out

    1 problem
    "#);
}

#[test]
fn a_missing_base_and_text_that_is_no_toml_are_problems_at_their_lines() {
    assert_snapshot!(Folder::new().asking("\nextends = \"bass.toml\"\n").problems(&[]), @r#"
    experiments/x.toml:2: no such file: looked at `HERE/experiments/bass.toml`
        extends = "bass.toml"
                  ^^^^^^^^^^^
      hint: a path is relative to the file that extends it

    1 problem
    "#);
    assert!(Folder::new().asking("\u{feff}# é\r\nname = é\r\n").problems(&[]).contains("x.toml:2: not TOML"));
    assert_snapshot!(asking("[train\nsteps = 1").problems(&[]), @r#"
    experiments/x.toml:2: not TOML: unclosed table, expected `]`
        [train
              ^

    1 problem
    "#);
}

#[test]
fn bad_overrides_are_problems_too() {
    let sets = [
        "train.lerning_rate.peak=1",
        "train.steps=many",
        "train.seed",
        "device=cpu",
        "machine.devise=cpu",
        "a..b=1",
        "extends=x",
    ];
    assert_snapshot!(asking("").problems(&sets), @r#"
    --set a..b=1: `a..b` is no key
      hint: such as train.learning_rate.peak

    --set device=cpu: unknown key `device`
      hint: a machine setting decides no result: put it in philidor.toml, in PHILIDOR_…, or in --set machine.…

    --set extends=x: `extends` cannot be overridden
      hint: set the keys that should differ

    --set machine.devise=cpu: unknown key `machine.devise`
      hint: did you mean `device`?

    --set train.lerning_rate.peak=1: unknown key `train.lerning_rate`
      hint: did you mean `learning_rate`?

    --set train.seed: `train.seed` sets nothing
      hint: write key=value, such as --set train.seed=2

    --set train.steps=many: `train.steps` wants an integer of at least 1, not `many`

    7 problems
    "#);
}

#[test]
fn machine_settings_and_science_do_not_mix() {
    let folder = asking("threads = 3\n[machine]\ndevice = \"cpu\"\n[[arena]]\nname = \"ladder\"\n")
        .with("philidor.toml", "device = \"gpu\"\nthreads = 2\n[train]\nseed = 3\n");
    let request = folder.request(&[], &[("PHILIDOR_THREADS", "two"), ("PHILIDOR_DEVISE", "cpu"), ("PHILIDOR_NONE", "1")]);
    assert_snapshot!(load(&request).expect_err("they are mixed"), @r#"
    PHILIDOR_DEVISE: unknown variable `PHILIDOR_DEVISE`
      hint: did you mean `PHILIDOR_DEVICE`?

    PHILIDOR_THREADS: `machine.threads` wants an integer from 0 to 4096, not `two`

    experiments/x.toml:2: unknown key `threads`
        threads = 3
        ^^^^^^^
      hint: a machine setting decides no result: put it in philidor.toml, in PHILIDOR_…, or in --set machine.…

    experiments/x.toml:3: an experiment sets nothing of the machine
        [machine]
         ^^^^^^^
      hint: a machine setting decides no result: put it in philidor.toml, in PHILIDOR_…, or in --set machine.…

    experiments/x.toml:5: `arena` is not built yet
        [[arena]]
          ^^^^^
      hint: take it out; the rest of the experiment runs without it

    philidor.toml:1: `machine.device` wants `auto`, `cpu`, `cuda` or `cuda:1`, not the string `"gpu"`
        device = "gpu"
                 ^^^^^

    philidor.toml:3: `train` belongs to an experiment, and philidor.toml to the machine
        [train]
         ^^^^^
      hint: what decides a result is set in the experiment

    7 problems
    "#);
}

#[test]
fn problems_end_the_program_with_exit_code_2() {
    let problems = asking("x = 1\n").load(&[]).expect_err("a key is unknown");
    assert_eq!(problems.iter().count(), 1);
    assert_eq!(exit_of(&anyhow::Error::from(problems)), Exit::Usage);
}

#[test]
fn full_games_at_temperature_0_are_one_game_and_no_sample() {
    let text = "[measure.final]\nfull_games = { temperatures = [1.0, 0] }\n";
    assert_snapshot!(asking(text).problems(&[]), @r#"
    experiments/x.toml:3: `measure.final.full_games.temperatures` has 0, at which every game is the same game
        full_games = { temperatures = [1.0, 0] }
                                      ^^^^^^^^
      hint: an interval needs games that differ; take a temperature above 0, such as 0.2

    1 problem
    "#);
}
