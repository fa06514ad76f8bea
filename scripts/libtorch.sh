#!/usr/bin/env bash
# Lays out libtorch in .libtorch/ (or in the folder given), from PyPI's torch wheel.
#
#   scripts/libtorch.sh [auto|cpu|cuda] [FOLDER]
#
# cpu   only what the programs link to (0.5 GB).
# cuda  the same, and a full CUDA install beside it (.libtorch/cuda) that the worker loads when a
#       CUDA device is asked for: one build serves both.
# auto  cuda where an NVIDIA driver answers, else cpu.
#
# An existing LIBTORCH is respected and left alone. Done once, a second call takes no time. The folder
# appears under its name only when it is whole.
set -euo pipefail

TORCH=2.11.0
CUDART=13.0.96
CUPTI=13.0.85

die() { printf 'libtorch: %s\n' "$*" >&2; exit 1; }

root=$(cd "$(dirname "$0")/.." && pwd)
kind=${1:-auto}
into=${2:-$root/.libtorch}

# `cargo` hands scripts and build.rs the default of .cargo/config.toml, which is no choice of the user's.
if [ -n "${LIBTORCH:-}" ] && [ "$LIBTORCH" != "$into" ]; then
  [ -e "$LIBTORCH/lib/libtorch_cpu.so" ] ||
    die "LIBTORCH is \`$LIBTORCH\`, where there is no lib/libtorch_cpu.so

hint: unset LIBTORCH and run this again, or point it at a libtorch $TORCH"
  printf 'libtorch: using LIBTORCH=%s\n' "$LIBTORCH"
  exit 0
fi

case $kind in
  auto) if command -v nvidia-smi >/dev/null 2>&1 && nvidia-smi -L >/dev/null 2>&1; then kind=cuda; else kind=cpu; fi ;;
  cpu | cuda) ;;
  *) die "the kind is auto, cpu or cuda, not \`$kind\`" ;;
esac

have() { [ "$(cat "$into/build-version" 2>/dev/null || true)" = "$TORCH" ] && [ -e "$into/lib/libtorch_cpu.so" ]; }
if have && { [ "$kind" = cpu ] || [ -e "$into/cuda/done" ]; }; then
  exit 0
fi

[ "$(uname -sm)" = "Linux x86_64" ] || die "wheels are laid out for Linux on x86-64 only, not for $(uname -sm)

hint: set LIBTORCH to a libtorch $TORCH of your own"
python=$(command -v python3) || die "python3 is needed to fetch the wheel

hint: apt-get install python3 python3-pip"
"$python" -m pip --version >/dev/null 2>&1 || die "python3 has no pip

hint: apt-get install python3-pip"

mkdir -p "$(dirname "$into")"
exec 9>"$into.lock"
flock 9 # Two builds at once: the second waits, and then finds it done.
if have && { [ "$kind" = cpu ] || [ -e "$into/cuda/done" ]; }; then
  exit 0
fi

part=$into.part
rm -rf "$part"
mkdir -p "$part/lib"
fetch() { "$python" -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-compile --target "$@"; }

printf 'libtorch: fetching torch %s (%s) …\n' "$TORCH" "$kind"
if ! have; then
  fetch "$part/wheel" --no-deps "torch==$TORCH" "nvidia-cuda-runtime==$CUDART" "nvidia-cuda-cupti==$CUPTI"
  mv "$part/wheel/torch/include" "$part/include"
  for so in libtorch_cpu.so libc10.so libgomp.so.1; do cp "$part/wheel/torch/lib/$so" "$part/lib/"; done
  for so in libcudart.so.13 libcupti.so.13; do cp "$part/wheel/nvidia/cu13/lib/$so" "$part/lib/"; done
  printf 'INPUT ( libtorch_cpu.so )\n' >"$part/lib/libtorch.so"
  rm -rf "$part/wheel"
  printf '%s\n' "$TORCH" >"$part/build-version"
  sync "$part"/lib/*
  rm -rf "$into"
  mv "$part" "$into"
fi
if [ "$kind" = cuda ]; then
  rm -rf "$into/cuda"
  fetch "$into/cuda" "torch==$TORCH"
  : >"$into/cuda/done"
fi
rm -rf "$part"
printf 'libtorch: %s is ready in %s\n' "$TORCH" "$into"
