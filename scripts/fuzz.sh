#!/usr/bin/env bash
# Fuzzes the reading of games: scripts/fuzz.sh TARGET [libFuzzer's options]
#
#   board      a drawn game, spelt rightly and wrongly, against shakmaty
#   movetext   any movetext against a reading byte by byte
#   text       any text: alike in pieces of any size, by one thread or two
#   packed     any bytes behind any magic number
#   frames     a text in frames of zstd against the plain text
#
# It needs a nightly toolchain and `cargo install cargo-fuzz`. What it finds stays in tests/fuzz/corpus and
# tests/fuzz/artifacts, and is not committed.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
target=${1:?usage: scripts/fuzz.sh board|movetext|text|packed|frames [libFuzzer\'s options]}
shift
# libFuzzer would write what it finds into the first folder that it is given.
for option; do
  [[ $option == -* ]] || { echo "fuzz: \`$option\` is no option; to fuzz from files, copy them to tests/fuzz/corpus/$target" >&2; exit 2; }
done
cd "$root/tests/fuzz"
# The wrapper of the main build asks for libtorch, which nothing here needs.
export CARGO_BUILD_RUSTC_WRAPPER=
mkdir -p "corpus/$target"
# The crate has no unsafe code; only what calls a decoder in C is watched for errors of memory, which takes twice the time.
# What threads keep for themselves may be freed after they have said that they are done, so leaks are not looked for.
case $target in packed | frames) sanitizer=address ;; *) sanitizer=none ;; esac
exec cargo +nightly fuzz run --fuzz-dir . --sanitizer "$sanitizer" "$target" "corpus/$target" seeds -- -detect_leaks=0 "$@"
