//! What the programs load when they start.

use std::process::Command;

/// The libraries that the loader looks for, as glibc tells them.
fn loaded(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).env("LD_DEBUG", "libs").output().expect("the program starts");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_runner_needs_no_libtorch_and_the_worker_does() {
    let runner = loaded(env!("CARGO_BIN_EXE_philidor"), &["--help"]);
    assert!(runner.contains("find library=libc.so"), "the loader told what it did:\n{runner}");
    assert!(!runner.contains("find library=libtorch"), "the runner loads libtorch");
    assert!(!runner.contains("find library=libc10"), "the runner loads libtorch");
    let worker = std::path::Path::new(env!("CARGO_BIN_EXE_philidor")).with_file_name("philidor-worker");
    let worker = loaded(&worker.to_string_lossy(), &["anything"]);
    assert!(worker.contains("find library=libtorch_cpu.so"), "the worker loads libtorch");
}
