# `make quickstart` and `make test` are each enough on a fresh machine; the README says what that needs.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.PHONY: quickstart build test libtorch clean

# From nothing to a report: libtorch, both programs, a tiny model trained and measured.
quickstart: build
	target/debug/philidor run experiments/quickstart.toml

build: libtorch
	cargo build --locked --bins

libtorch:
	scripts/libtorch.sh auto

# Formatting, lints, tests, examples and pages of the documentation, and a bench on a tiny month. Clippy is the compiler here, so that one
# build of the dependencies serves all four.
test: export RUSTC_WORKSPACE_WRAPPER = clippy-driver
test: export CLIPPY_ARGS = -D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__
test: export RUSTDOC = $(CURDIR)/scripts/rustdoc
test: libtorch
	cargo fmt --check
	bash -n scripts/libtorch.sh scripts/rustdoc scripts/fuzz.sh scripts/mpi-check.sh scripts/gpu-check.sh scripts/check-html.sh .ci/run
	cargo build --locked --bins --tests
	cargo test --locked --lib --bins --tests
	cargo test --locked --doc
	RUSTC_WORKSPACE_WRAPPER= cargo test --locked --manifest-path benches/Cargo.toml --bench corpus

clean:
	cargo clean
