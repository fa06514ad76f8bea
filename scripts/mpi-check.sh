#!/usr/bin/env bash
# Whether a training of several ranks is that of one process, and what it costs: fifty steps of the quickstart's model on the
# quickstart's games, by one process with all cores and by ranks that share them, in turn. One process that accumulates the
# shares of two ranks must have their curve to the bit: it adds the same numbers in the same order.
#
#   scripts/mpi-check.sh                                  two ranks, three rounds
#   RANKS=4 ROUNDS=1 BATCH=8 scripts/mpi-check.sh -S model.width=256 -S model.hidden=704
#
# A rate too high for a model makes any difference of rounding grow: lower train.learning_rate.peak for larger ones.
# PHILIDOR names another build of the program than target/debug/philidor, which is built here with the feature `mpi`.
set -euo pipefail
cd "$(dirname "$0")/.."
here=$PWD ranks=${RANKS:-2} rounds=${ROUNDS:-3} batch=${BATCH:-16}
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
batch = $batch
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
train() { # into FOLDER, with settings
  folder=$1
  shift
  PHILIDOR_MIRROR=none "$philidor" run fifty.toml --until train -S machine.runs="$folder/runs" -S machine.store="$folder/store" \
    --force train "$@" >run.log 2>&1 || { cat run.log >&2; exit 1; }
}
for ((round = 1; round <= rounds; round++)); do
  for size in 1 "$ranks"; do
    train "$size" -S machine.ranks="$size" "$@"
    cp "$size"/store/v1/train/*/speed.jsonl "speed-$size-$round.jsonl"
  done
done
# With the threads of one rank: another number of them adds in another order.
threads=$(($(nproc) / ranks))
train accumulated -S machine.threads=$((threads > 0 ? threads : 1)) \
  -S train.batch=$((batch / ranks)) -S train.accumulate="$ranks" "$@"
python3 - "$ranks" "$rounds" <<'PYTHON'
import glob, json, statistics, struct, sys

ranks, rounds = sys.argv[1], int(sys.argv[2])
lines = lambda path: [json.loads(line) for line in open(path)]
folders = {size: glob.glob(f"{size}/store/v1/train/*/")[0] for size in ("1", ranks, "accumulated")}
alone, shared, accumulated = [lines(folder + "curve.jsonl") for folder in folders.values()]
assert len(alone) == len(shared) == len(accumulated) == 50
weights = open(glob.glob(folders["1"] + "snapshots/*.safetensors")[0], "rb").read()
numbers = (len(weights) - 8 - struct.unpack("<Q", weights[:8])[0]) // 4 + 1  # and the loss
times = {
    size: [1000 * lap["seconds"] / 20 for round in range(1, rounds + 1) for lap in lines(f"speed-{size}-{round}.jsonl")]
    for size in ("1", ranks)
}
apart = max(abs(one["loss"] - other["loss"]) for one, other in zip(alone, shared))
print(json.dumps({
    "ranks": int(ranks),
    "greatest_difference_of_loss": apart,
    "same_bits_as_accumulated": shared == accumulated,
    "ms_per_step_of_one_process": round(statistics.median(times["1"]), 2),
    "ms_per_step_of_all_ranks": round(statistics.median(times[ranks]), 2),
    "laps_ms_per_step": {size: [round(time, 2) for time in laps] for size, laps in times.items()},
    "bytes_summed_per_step": 4 * numbers,
    "device": json.load(open(folders[ranks] + "device.json")),
}, indent=2))
sys.exit(apart > 1e-5 or (ranks == "2" and shared != accumulated))
PYTHON
