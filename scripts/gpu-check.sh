#!/usr/bin/env bash
# Shows in under eight minutes what Philidor does on a CUDA machine, and writes it all into one JSON file.
#
#   scripts/gpu-check.sh --pack FOLDER         here: builds for release, and collects into FOLDER all that is to be carried
#   scripts/gpu-check.sh [OUT.json]            there: gpu-check.json where no name is given
#   scripts/gpu-check.sh --small [OUT.json]    anywhere: the same on the CPU, in little, to see that it runs
#
# That machine needs a Python with torch 2.11.0 (PYTHON, else python3), whose libtorch is used; no cargo, no network.
# DEVICE is `cuda` (`cuda:1` …), with --small `cpu`. Each part has a time of its own and its own status: one that fails, or is
# late, loses no other. Ends with 0 where every part that ran is fine.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
die() { printf 'gpu-check: %s\n' "$*" >&2; exit 2; }

pack() {
  local into=$1
  if [ -e "$into" ] && [ -n "$(ls -A "$into")" ]; then die "\`$into\` is not empty"; fi
  (cd "$root" && scripts/libtorch.sh auto && cargo build --locked --release --bins)
  mkdir -p "$into/bin" "$into/scripts" "$into/benches" "$into/experiments"
  cp "$root"/target/release/philidor "$root"/target/release/philidor-worker "$into/bin/"
  cp "$root/scripts/gpu-check.sh" "$into/scripts/"
  cp "$root/benches/torch_train.py" "$into/benches/"
  cp "$root"/experiments/{base,quickstart,run1,run2}.toml "$root"/experiments/mined-2026-01.pgn.zst "$into/experiments/"
  (cd "$root" && git describe --always --dirty --abbrev=12 2>/dev/null || echo unknown) >"$into/commit"
  du -sh "$into"
  printf 'gpu-check: carry it over, and there: scripts/gpu-check.sh\n'
}

small=
if [ "${1:-}" = --pack ]; then
  [ $# = 2 ] || die "usage: scripts/gpu-check.sh --pack FOLDER"
  pack "$2"
  exit 0
fi
if [ "${1:-}" = --small ] || [ "${1:-}" = --cpu ]; then
  small=yes
  shift
fi
case ${1:-} in -*) die "\`$1\` is no option: --pack FOLDER, --small" ;; esac
[ $# -le 1 ] || die "usage: scripts/gpu-check.sh [--small] [OUT.json]"
out=$(realpath -m "${1:-gpu-check.json}")

bin=
for folder in "$root/bin" "$root/target/release" "$root/target/debug"; do
  if [ -x "$folder/philidor" ] && [ -x "$folder/philidor-worker" ]; then bin=$folder; break; fi
done
[ -n "$bin" ] || die "neither bin/ nor target/release/ beside the script holds philidor and philidor-worker; pack them with --pack FOLDER"
python=$(command -v "${PYTHON:-python3}") || die "\`${PYTHON:-python3}\` is not there; name a Python with torch 2.11.0 in PYTHON"

# Where that Python keeps torch, without loading it.
torch=$("$python" -c 'import importlib.util as u, os; s = u.find_spec("torch"); print(os.path.dirname(s.origin) if s else "")')
if [ -n "$torch" ]; then
  grep -q "^__version__ = '2\.11\.0" "$torch/version.py" ||
    die "$python has torch $(sed -n "s/^__version__ = '\(.*\)'/\1/p" "$torch/version.py"), and 2.11.0 is wanted; name another one in PYTHON"
  # The worker starts with this folder before all others, and takes the CUDA half from there.
  export PHILIDOR_LIBTORCH="$torch/lib"
elif [ -z "$small" ]; then
  die "$python has no torch; name a Python with torch 2.11.0 in PYTHON"
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/gpu-check.XXXXXX")
device=${DEVICE:-$([ -n "$small" ] && echo cpu || echo cuda)}
# torch's own spelling has no PCI order without this.
export CUDA_DEVICE_ORDER=${CUDA_DEVICE_ORDER:-PCI_BUS_ID}
export PHILIDOR_DEVICE=$device PHILIDOR_MIRROR=none PHILIDOR_STORE=$work/store PHILIDOR_RUNS=$work/runs
export TORCHINDUCTOR_CACHE_DIR=$work/inductor TRITON_CACHE_DIR=$work/triton
began=$(date +%s)
all=$([ -n "$small" ] && echo 900 || echo 470) # Seconds for everything.

# Writes what there is, also when the script is ended in the midst.
assemble() {
  local code=$?
  trap - EXIT
  "$python" - "$work" "$out" "$root" "$device" "${small:-no}" "$(($(date +%s) - began))" <<'PY' || code=1
import json, pathlib, platform, sys

work, out, root, device, small, seconds = sys.argv[1:]
work = pathlib.Path(work)


def read(path):
    return path.read_text(errors="replace") if path.exists() else ""


parts = {}
for line in read(work / "parts").splitlines():
    name, status, took, code = line.split("\t")
    said, heard = read(work / f"{name}.out"), read(work / f"{name}.err")
    part = {"status": status, "seconds": int(took), "exit_code": int(code) if code else None}
    try:
        part["result"] = json.loads(said)
    except ValueError:
        part["stdout"] = said[-4000:]
    if status != "ok":
        part["stderr"] = heard[-4000:]
    parts[name] = part

made = {}
for pattern in ("initial_loss/*/verdict.json", "overfit/*/verdict.json", "overfit/*/curve.jsonl", "train/*/*.json", "train/*/speed.jsonl",
                "train/*/validation.jsonl", "evaluate/*/*.json", "*/*.part/curve.jsonl"):
    for path in sorted((work / "store" / "v1").glob(pattern)):
        text = read(path)
        lines = [json.loads(line) for line in text.splitlines() if line.startswith("{") and line.endswith("}")]
        try:
            # Of a long file the first and the last lines.
            made[str(path.relative_to(work / "store" / "v1"))] = lines[:20] + lines[-20:] if path.suffix == ".jsonl" else json.loads(text)
        except ValueError:
            pass
document = {
    "schema": 1,
    "what": "philidor gpu-check",
    "commit": read(pathlib.Path(root) / "commit").strip() or None,
    "device": device,
    "small": small == "yes",
    "python": platform.python_version(),
    "glibc": " ".join(platform.libc_ver()),
    "kernel": platform.release(),
    "seconds": int(seconds),
    "passed": bool(parts) and all(part["status"] in ("ok", "skipped") for part in parts.values()),
    "parts": parts,
    "made": made,
}
pathlib.Path(out).write_text(json.dumps(document, indent=1) + "\n")
for name, part in parts.items():
    print(f"{part['status']:<9} {part['seconds']:>4} s  {name}")
print(f"gpu-check: {'passed' if document['passed'] else 'NOT passed'} in {seconds} s; all of it is in {out}")
sys.exit(0 if document["passed"] else 1)
PY
  rm -rf "$work"
  exit "$code"
}
trap assemble EXIT
trap 'exit 130' INT TERM

# part NAME SECONDS COMMAND…: at most so long, and no longer than there is time for everything.
part() {
  local name=$1 most=$2 left start status=ok code=0
  shift 2
  left=$((all - ($(date +%s) - began)))
  if [ "$left" -lt 10 ]; then
    printf '%s\tskipped\t0\t\n' "$name" >>"$work/parts"
    printf 'there was no time left for it\n' >"$work/$name.err"
    return 0
  fi
  if [ "$most" -gt "$left" ]; then most=$left; fi
  printf 'gpu-check: %s, at most %s s …\n' "$name" "$most" >&2
  start=$(date +%s)
  timeout --signal=INT --kill-after=10 "$most" "$@" >"$work/$name.out" 2>"$work/$name.err" </dev/null || code=$?
  if [ "$code" = 124 ] || [ "$code" = 137 ]; then status=late; elif [ "$code" != 0 ]; then status=failed; fi
  printf '%s\t%s\t%s\t%s\n' "$name" "$status" "$(($(date +%s) - start))" "$code" >>"$work/parts"
  if [ "$status" != ok ]; then tail -n 3 "$work/$name.err" | sed 's/^/    /' >&2; fi
}

# The batch of an experiment, for PyTorch to take the same.
setting() { sed -n "s/^$2 = \([0-9_]*\).*/\1/p" "$root/experiments/$1.toml" | tr -d _; }

philidor=$bin/philidor
torch_train() { part "$1" "$2" "$python" "$root/benches/torch_train.py" --device "$device" --precision bf16 "${@:3}"; }
quickstart=$root/experiments/quickstart.toml

part doctor 60 "$philidor" doctor --json
part bench_device 90 "$philidor" bench device --json
# The untrained loss, and a few games learned by heart in bf16: the run's own code on the device.
part overfit_quickstart 60 "$philidor" run "$quickstart" -S train.precision=bf16 --until overfit --json

if [ -n "$small" ]; then
  part train_small 120 "$philidor" run "$quickstart" -S train.precision=bf16 -S train.steps=40 -S train.learning_rate.warmup=4 \
    -S train.validate.every=20 -S train.snapshots.every=40 -S measure.snapshots=false -S measure.final.legality.positions=100 \
    -S measure.final.agreement.positions=100 -S measure.final.rules.positions=5 -S measure.final.full_games.games=2 --json
  part step_run1 120 "$philidor" bench train "$root/experiments/run1.toml" --batch 1 --steps 2 --json
  part step_run2 120 "$philidor" bench train "$root/experiments/run2.toml" --batch 1 --steps 2 --json
  if [ -n "$torch" ]; then
    torch_train torch_eager_run1 120 --size run1 --batch 1 --steps 2 --warmup 1
    torch_train torch_compiled_tiny 180 --size tiny --batch 2 --steps 3 --warmup 1 --compile
  fi
  exit 0
fi

# The same gate for a model of run1's shape.
part overfit_run1 60 "$philidor" run "$quickstart" -S model.layers=16 -S model.heads=8 -S model.width=512 -S model.hidden=1408 \
  -S model.context=256 -S train.precision=bf16 -S train.learning_rate.peak=6e-4 -S train.learning_rate.floor=6e-5 \
  -S gates.overfit.games=100 -S gates.overfit.steps=1200 -S gates.overfit.batch=64 --until overfit --json
run1=$(setting run1 batch) run2=$(setting run2 batch)
part step_run1 60 "$philidor" bench train "$root/experiments/run1.toml" --batch "$run1" --steps 30 --json
part step_run2 60 "$philidor" bench train "$root/experiments/run2.toml" --batch "$run2" --steps 20 --json
if [ -n "$torch" ]; then
  torch_train torch_eager_run1 60 --size run1 --batch "$run1" --steps 30
  torch_train torch_eager_run2 60 --size run2 --batch "$run2" --accumulate "$(setting run2 accumulate)" --steps 20
  torch_train torch_compiled_run1 100 --size run1 --batch "$run1" --steps 30 --compile
fi
# From nothing to a report on the device: checkpoints, snapshots, every measurement.
part quickstart 120 "$philidor" run "$quickstart" -S train.precision=bf16 --json
if [ -n "$torch" ]; then
  torch_train torch_compiled_run2 100 --size run2 --batch "$run2" --accumulate "$(setting run2 accumulate)" --steps 20 --compile
fi
