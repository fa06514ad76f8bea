//! `philidor bench loader`: what it prints, on tokens too few to say anything of speed.

use serde_json::Value;

use crate::support::Lab;

const QUICK: [&str; 5] = ["bench", "loader", "tiny.toml", "--seconds", "0.01"];

#[test]
fn the_loader_is_measured_alone_on_kept_tokens_or_drawn_ones_and_beside_what_was_trained() {
    let lab = Lab::new();
    let told = |more: &[&str]| -> (Value, String) {
        let said = lab.philidor(&[&QUICK[..], &["--json"], more].concat()).ended(0);
        (serde_json::from_str(&said.stdout).expect("one JSON document"), said.stderr)
    };
    let (drawn, aside) = told(&["-S", "corpus.moves=20_000", "-S", "train.packing=games"]);
    assert!(drawn["loader"]["tokens"]["drawn"] == true && aside.contains("drawn games are loaded"), "{drawn} {aside}");
    assert!(drawn["loader"]["packing"].as_str().is_some_and(|packing| packing.contains(" games are packed into ")), "{drawn}");
    assert!(drawn["training"].is_null());

    lab.philidor(&["run", "tiny.toml", "--until", "train"]).ended(0);
    let (kept, _) = told(&[]);
    assert_eq!((&kept["loader"]["tokens"]["drawn"], &kept["schema"], &kept["batch"]), (&false.into(), &1.into(), &4.into()));
    let rate = &kept["loader"]["tokens_per_second"];
    assert!(rate["least"].as_f64() <= rate["median"].as_f64() && rate["median"].as_f64() <= rate["most"].as_f64(), "{rate}");
    assert!(kept["training"]["times"].as_f64().is_some_and(|times| times > 0.0), "{kept}");

    let said = lab.philidor(&QUICK).ended(0);
    let lines: Vec<&str> = said.stdout.lines().collect();
    assert!(
        lines[0].ends_with("the experiment's games; 4 windows of 32 tokens a batch, sampler windows, packing stream, for cpu")
    );
    assert!(
        lines[1].contains(" tokens/s [") && lines[2].contains(" times what a training of this model took here, "),
        "{lines:?}"
    );
}
