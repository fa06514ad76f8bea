//! Tells the linker where libtorch is, now and when the programs start.

use std::env;
use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=LIBTORCH");
    // Set by torch-sys, as a direct dependency: the folder it linked against.
    let Some(lib) = env::var_os("DEP_TCH_LIBTORCH_LIB").map(PathBuf::from) else {
        panic!("torch-sys did not say where libtorch is; run scripts/libtorch.sh")
    };
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", lib.display());
}
