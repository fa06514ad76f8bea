//! Builds the C++ shim, and tells the linker where libtorch is, now and when the programs start.

use std::env;
use std::path::PathBuf;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/model/shim.cpp");
    println!("cargo:rerun-if-env-changed=LIBTORCH");
    // Set by torch-sys, as a direct dependency: the folder it linked against.
    let Some(lib) = env::var_os("DEP_TCH_LIBTORCH_LIB").map(PathBuf::from) else {
        panic!("torch-sys did not say where libtorch is; run scripts/libtorch.sh")
    };
    let include = lib.with_file_name("include");
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .file("src/model/shim.cpp")
        .include(include.join("torch/csrc/api/include"))
        .include(include)
        .warnings(false) // Those of libtorch's headers.
        .compile("philidor_shim");
    // Where the worker looks for libtorch's CUDA half, beside the half that it links.
    println!("cargo:rustc-env=PHILIDOR_LIBTORCH_LIB={}", lib.display());
    println!("cargo:rustc-link-arg=-Wl,-rpath,{}", lib.display());
    // The runner links no libtorch. Its inline functions, compiled into torch-sys, have the names of functions that
    // libtorch exports; visible, they would be kept to stand in for those, and keep libtorch with them.
    println!("cargo:rustc-link-arg-bin=philidor=-Wl,--exclude-libs,ALL");
}
