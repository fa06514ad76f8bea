//! The points of a sweep: how many, in which order, under which names.

use insta::assert_snapshot;

use super::{BASE, asking, train};

#[test]
fn a_sweep_is_a_grid_times_a_zip_times_a_list_without_what_is_excluded() {
    let text = "[sweep]\nlist = [{ \"train.batch\" = 2 }, { train.batch = 4, train.clip = 2.0 }]\nexclude = [{ \"model.width\" = 128, seed = 2 }]\n\
        [sweep.grid]\n\"model.width\" = [64, 128]\nseed = [1, 2]\n[sweep.zip]\nmodel.layers = [1, 2]\n\"train.learning_rate.peak\" = [1e-3, 6e-4]\n";
    let loaded = asking(text).loaded(&[]);
    let points: Vec<&str> = loaded.points.iter().map(|e| e.point.as_str()).collect();
    assert_eq!(points.len(), (2 * 2 - 1) * 2 * 2);
    assert_eq!(points[0], "width=64 seed=1 layers=1 peak=0.001 batch=2");
    assert_eq!(points[11], "width=128 seed=1 layers=2 peak=6e-4 batch=4 clip=2");
    let last = &loaded.points[11];
    assert_eq!((last.model.width, train(last).seed, last.model.layers, train(last).batch, train(last).clip), (128, 1, 2, 4, 2.0));
    assert_eq!(last.name, "x");
    let keys: Vec<&str> = loaded.axes.iter().map(|axis| axis.key.as_str()).collect();
    assert_eq!(keys, ["model.width", "train.seed", "model.layers", "train.learning_rate.peak", "train.batch", "train.clip"]);
    assert_eq!(loaded.axes[5].values[..2], ["1", "2"], "a point that does not set a key has the experiment's value");
    assert!(loaded.axes[1].is_seed() && !loaded.axes[0].is_seed());
    assert_eq!(loaded.origins.of("model.width").as_deref(), Some("experiments/x.toml:6"));
}

#[test]
fn points_are_named_by_more_of_the_key_where_the_end_is_ambiguous() {
    let sets = ["sweep.grid.train.seed=[1,2]", "sweep.grid.corpus.split.seed=[3]", "sweep.grid.measure.seed=[4, 5]"];
    let loaded = asking("").loaded(&sets);
    assert_eq!(loaded.points[3].point, "train.seed=2 measure.seed=5", "what does not differ is not named");
    let temperatures = ["sweep.grid.measure.final.full_games.temperatures=[[0.2], [0.4, 1]]"];
    assert_eq!(asking("").loaded(&temperatures).points[1].point, "temperatures=0.4,1");
}

#[test]
fn overrides_and_experiments_change_a_sweep_they_inherit() {
    let folder = asking("").with("experiments/base.toml", &format!("{BASE}\n[sweep.grid]\n\"model.width\" = [64, 128]\n"));
    assert_eq!(folder.loaded(&["sweep.grid.model.width=[32, 64, 96]"]).points.len(), 3);
    assert_eq!(folder.loaded(&["sweep=false"]).points[0].point, "x");
}

#[test]
fn an_override_of_what_is_swept_is_refused() {
    let folder = asking("[sweep.grid]\nseed = [1, 2]\n");
    assert_snapshot!(folder.problems(&["train.seed=3"]), @r#"
    --set train.seed=3: `train.seed` is swept, so that setting it changes nothing
      hint: set sweep=false for one point, or other values to sweep: sweep.grid.train.seed=[…]

    1 problem
    "#);
    assert_eq!(train(&folder.loaded(&["train.seed=3", "sweep=false"]).points[0]).seed, 3);
}

#[test]
fn mistakes_in_a_sweep_are_problems_at_their_lines() {
    let text = "[sweep]\nzpi = 1\nexclude = [{ \"model.width\" = 3 }]\n[sweep.grid]\n\"model.width\" = 64\nname = [\"a\", \"b\"]\n\
        [sweep.zip]\n\"train.seed\" = [1, 2]\n\"model.layers\" = [1]\n";
    assert_snapshot!(asking(text).problems(&[]), @r#"
    experiments/x.toml:3: unknown key `sweep.zpi`
        zpi = 1
        ^^^
      hint: did you mean `zip`?

    experiments/x.toml:6: `sweep.grid.model.width` wants a list of values, not `64`
        "model.width" = 64
                        ^^
      hint: such as "model.width" = [128, 256]

    experiments/x.toml:7: `name` cannot be swept
        name = ["a", "b"]
        ^^^^
      hint: a sweep varies what decides a result, such as `model.width` or `train.seed`

    experiments/x.toml:8: the lists of `sweep.zip` differ in length: `model.layers` has 1, `train.seed` has 2
        [sweep.zip]
               ^^^
      hint: give each key as many values; for all combinations use `sweep.grid`

    4 problems
    "#);
    assert_snapshot!(asking("[sweep.grid]\n\"model.widht\" = [64, 65]\n\"model.width\" = [64, 66]\n").problems(&[]), @r#"
    experiments/x.toml:3: unknown key `model.widht`
        "model.widht" = [64, 65]
        ^^^^^^^^^^^^^
      hint: did you mean `width`?

    experiments/x.toml:4: `model.heads` is 4, but `model.width` 66 is not a multiple of it (`model.heads` is set at experiments/base.toml:15)
        "model.width" = [64, 66]
                             ^^
      hint: try heads = 3 or 11

    2 problems
    "#);
    assert_snapshot!(asking("[sweep.grid]\nseed = [1, 1]\n").problems(&[]), @r#"
    experiments/x.toml:2: two points are the same: `train.seed` = 1
        [sweep.grid]
         ^^^^^
      hint: name each value once

    1 problem
    "#);
}

#[test]
fn points_that_come_to_the_same_experiment_are_refused_however_they_are_written() {
    let seed = train(&asking("").loaded(&[]).points[0]).seed;
    let list = format!("[{{ \"model.layers\" = 3 }}, {{ \"model.layers\" = 3, \"train.seed\" = {seed} }}]");
    let problems = asking(&format!("[sweep]\nlist = {list}\n")).problems(&[]);
    assert!(problems.contains("two points are the same experiment: "), "{problems}");
}
