#!/usr/bin/env bash
# Whether a training of several ranks is that of one process, and what it costs: fifty steps of the quickstart's model on the
# quickstart's games, by one process with all cores and by ranks that share them, in turn.
#
#   scripts/mpi-check.sh                                  two ranks, three rounds
#   RANKS=4 ROUNDS=1 scripts/mpi-check.sh -S train.batch=8 -S model.width=256 -S model.hidden=704
#
# PHILIDOR names another build of the program than target/debug/philidor, which is built here with the feature `mpi`.
set -euo pipefail
cd "$(dirname "$0")/.."
here=$PWD ranks=${RANKS:-2} rounds=${ROUNDS:-3}
if [ -z "${PHILIDOR:-}" ]; then
  cargo build --locked --bins --features mpi
  PHILIDOR=target/debug/philidor
fi
philidor=$(realpath "$PHILIDOR")
lab=$(mktemp -d)
trap 'rm -rf "$lab"' EXIT
cat > "$lab/fifty.toml" <<TOML
# Is a training of several ranks that of one process?
extends = "$here/experiments/quickstart.toml"
[train]
steps = 50
learning_rate = { warmup = 10 }
validate = { every = 25, batches = 4 }
snapshots = { every = 50 }
[gates]
initial_loss = false
overfit = false
[measure]
snapshots = false
TOML
cd "$lab"
for ((round = 1; round <= rounds; round++)); do
  for size in 1 "$ranks"; do
    PHILIDOR_MIRROR=none "$philidor" run fifty.toml --until train -S machine.ranks="$size" -S machine.runs="$size/runs" \
      -S machine.store="$size/store" --force train "$@" >run.log 2>&1 || { cat run.log >&2; exit 1; }
    cp "$size"/store/v1/train/*/speed.jsonl "speed-$size-$round.jsonl"
  done
done
python3 - "$ranks" "$rounds" <<'PYTHON'
import glob, json, statistics, struct, sys

ranks, rounds = sys.argv[1], int(sys.argv[2])
lines = lambda path: [json.loads(line) for line in open(path)]
folders = {size: glob.glob(f"{size}/store/v1/train/*/")[0] for size in ("1", ranks)}
curves = [lines(folders[size] + "curve.jsonl") for size in ("1", ranks)]
assert [len(curve) for curve in curves] == [50, 50]
weights = open(glob.glob(folders["1"] + "snapshots/*.safetensors")[0], "rb").read()
numbers = (len(weights) - 8 - struct.unpack("<Q", weights[:8])[0]) // 4 + 1  # and the loss
times = {
    size: [1000 * lap["seconds"] / 20 for round in range(1, rounds + 1) for lap in lines(f"speed-{size}-{round}.jsonl")]
    for size in ("1", ranks)
}
apart = max(abs(one["loss"] - other["loss"]) for one, other in zip(*curves))
print(json.dumps({
    "ranks": int(ranks),
    "greatest_difference_of_loss": apart,
    "ms_per_step_of_one_process": round(statistics.median(times["1"]), 2),
    "ms_per_step_of_all_ranks": round(statistics.median(times[ranks]), 2),
    "laps_ms_per_step": {size: [round(time, 2) for time in laps] for size, laps in times.items()},
    "bytes_summed_per_step": 4 * numbers,
    "device": json.load(open(folders[ranks] + "device.json")),
}, indent=2))
sys.exit(apart > 1e-5)
PYTHON
