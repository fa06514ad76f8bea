//! What was damaged behind our back is never taken for whole, and what the system refuses is no bug of ours.

use std::process::Stdio;

use crate::support::{Lab, said};

#[test]
fn an_artifact_with_a_file_cut_short_or_gone_is_made_again() {
    let lab = Lab::new();
    lab.philidor(&["run", "tiny.toml", "--until", "inspect"]).ended(0);
    let (encoded, inspected) = (lab.only("encode"), lab.only("inspect"));
    let tokens = std::fs::read(encoded.join("train.u16")).expect("made");
    std::fs::write(encoded.join("train.u16"), &tokens[..10]).expect("ours");
    std::fs::write(inspected.join("manifest.json"), "{").expect("ours");
    let planned = lab.philidor(&["plan", "tiny.toml"]).ended(0).stdout;
    assert!(planned.contains("damaged: `train.u16` has 10 bytes, and "), "{planned}");
    assert!(lab.philidor(&["why", "tiny.toml", "inspect"]).ended(0).stdout.contains("manifest.json"), "why names the file");
    let run = lab.philidor(&["run", "tiny.toml", "--until", "inspect"]).ended(0);
    assert!(run.stderr.contains("made     encode") && run.stderr.contains("made     inspect"), "{}", run.stderr);
    assert!(run.stderr.contains("what was kept is damaged, and is made again"), "{}", run.stderr);
    assert_eq!(std::fs::read(encoded.join("train.u16")).expect("made again"), tokens);
    assert_eq!(std::fs::read(encoded.with_extension("damaged").join("train.u16")).expect("set aside").len(), 10);
}

#[test]
fn a_file_in_the_way_of_the_store_is_named_with_a_next_step() {
    let lab = Lab::new();
    lab.write("file", "");
    let said = lab.philidor(&["run", "tiny.toml", "-S", "machine.store=file"]).ended(1);
    assert!(
        said.stderr.contains("`file/v1/locks`") && said.stderr.contains("hint: something else lies there"),
        "{}",
        said.stderr
    );
    assert!(!said.stderr.contains("report it"), "{}", said.stderr);
}

#[test]
fn a_run_whose_records_are_damaged_says_so_and_the_next_run_is_a_new_one() {
    let lab = Lab::new();
    lab.philidor(&["run", "tiny.toml", "--until", "parse"]).ended(0);
    std::fs::remove_file(lab.path("runs/tiny/latest")).expect("a link");
    lab.philidor(&["show", "tiny"]).ended(0);
    lab.philidor(&["run", "tiny.toml", "--until", "parse"]).ended(0);
    for file in ["plan.json", "resolved.json"] {
        lab.write(&format!("runs/tiny/latest/{file}"), "{");
        let said = lab.philidor(&["report", "tiny"]).ended(1);
        assert!(said.stderr.contains(&format!("{file}` is damaged")) && said.stderr.contains("hint: "), "{}", said.stderr);
    }
    lab.philidor(&["run", "tiny.toml", "--until", "parse"]).ended(0);
    lab.philidor(&["report", "tiny"]).ended(0);
}

#[test]
fn nobody_listening_ends_no_work_and_no_print_panics() {
    let lab = Lab::new();
    let full = || Stdio::from(std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it"));
    let output = lab.command(&["run", "tiny.toml", "--until", "parse"]).stderr(full()).output().expect("it starts");
    said(&output).ended(0);
    for arguments in [&["plan", "tiny.toml"][..], &["why", "tiny.toml", "parse"], &["export", "vocab"]] {
        let mut command = lab.command(arguments);
        let output = command.stdout(full()).stderr(Stdio::piped()).output().expect("it starts");
        let answer = said(&output).ended(1);
        assert!(answer.stderr.contains("hint: make space there"), "{arguments:?}: {}", answer.stderr);
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        said(&lab.command(arguments).stdout(writer).output().expect("it starts")).ended(0);
    }
}
