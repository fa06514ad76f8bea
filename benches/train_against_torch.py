#!/usr/bin/env python3
"""Our training step and PyTorch's in turn: medians of whole processes, their ratios, and peak memory beside each other.

    python3 benches/train_against_torch.py [--python PYTHON] [--philidor target/release/philidor] [--rounds 5]
                                           [--sizes tiny,small,run1] [--precisions f32,bf16] [--batch SIZE=N …]
                                           [--steps 20] [--device cpu] [--threads N] [--no-compile] [--json OUT]

PYTHON is one that has torch 2.11.0. In each round every contender runs once, as a process of its own, so that what the
machine does meanwhile falls on all of them. Ours is `philidor bench train FILE --json` on an experiment of the same shape;
PyTorch's is `benches/torch_train.py`. MFU is a rate times FLOPs per token over the matmul rate that ours measured.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

# As in torch_train.py, which cannot be imported where this Python has no torch.
SIZES = {
    "tiny": (4, 4, 128, 352, 256, 8),
    "small": (8, 8, 256, 704, 256, 8),
    "run1": (16, 8, 512, 1408, 256, 4),
    "run2": (20, 12, 768, 2048, 256, 2),
}


def experiment(folder, size, precision, batch):
    layers, heads, width, hidden, context, _ = SIZES[size]
    path = pathlib.Path(folder) / f"{size}-{precision}-{batch}.toml"
    path.write_text(
        f"# How fast is a training step of this shape?\n"
        f"extends = {json.dumps(str(HERE.parent / 'experiments' / 'quickstart.toml'))}\n"
        f"[model]\nlayers = {layers}\nheads = {heads}\nwidth = {width}\nhidden = {hidden}\ncontext = {context}\n"
        f'[train]\nsampler = "windows"\nbatch = {batch}\naccumulate = 1\nprecision = "{precision}"\n'
    )
    return path


def find(document, name):
    """The first number of that name, or the median of the first table of it, however deep it lies."""
    if isinstance(document, dict):
        if name in document:
            value = document[name]
            return value.get("median") if isinstance(value, dict) else value
        document = list(document.values())
    if isinstance(document, list):
        for inner in document:
            value = find(inner, name)
            if value is not None:
                return value
    return None


def run(command, environment, timeout):
    """What a contender printed, or why it printed nothing."""
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return {"error": f"no answer within {timeout} s"}
    except OSError as error:
        return {"error": str(error)}
    if done.returncode != 0:
        return {"error": done.stderr.strip()[-2000:] or f"exit code {done.returncode}"}
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {"error": f"no JSON: {done.stdout[:500]}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--philidor", default=str(HERE.parent / "target/release/philidor"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sizes", default="tiny,small,run1")
    parser.add_argument("--precisions", default="f32,bf16")
    parser.add_argument("--batch", action="append", default=[], metavar="SIZE=N")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--timeout", type=int, default=900, help="seconds for one process")
    parser.add_argument("--json", metavar="OUT", help="write every single figure here")
    args = parser.parse_args()
    batches = dict(pair.split("=") for pair in args.batch)

    environment = {name: value for name, value in os.environ.items() if not name.startswith("PHILIDOR_")}
    ours = dict(environment, PHILIDOR_DEVICE=args.device, PHILIDOR_THREADS=str(args.threads), PHILIDOR_MIRROR="none")
    lanes = []
    with tempfile.TemporaryDirectory() as folder:
        for size in args.sizes.split(","):
            for precision in args.precisions.split(","):
                batch = int(batches.get(size, SIZES[size][5]))
                file = experiment(folder, size, precision, batch)
                lane = f"{size} {precision} batch {batch}"
                lanes.append((lane, "philidor", [args.philidor, "bench", "train", str(file), "--steps", str(args.steps),
                                                 "--batch", str(batch), "--json"], ours))
                torch = [args.python, str(HERE / "torch_train.py"), "--size", size, "--batch", str(batch), "--precision", precision,
                         "--steps", str(args.steps), "--device", args.device, "--threads", str(args.threads)]
                lanes.append((lane, "eager", torch, environment))
                if not args.no_compile:
                    lanes.append((lane, "compiled", [*torch, "--compile"], environment))
        found = {}
        for turn in range(args.rounds):
            # Each round begins with another one, so that none always runs behind the same.
            order = lanes[turn % len(lanes) :] + lanes[: turn % len(lanes)]
            for lane, who, command, variables in order:
                told = run(command, variables, args.timeout)
                found.setdefault((lane, who), []).append(told)
                rate = find(told, "tokens_per_second")
                print(f"{turn + 1}/{args.rounds}  {lane}  {who}: {told.get('error') or f'{rate:,.0f} tokens/s'}", file=sys.stderr)
    table(found)
    if args.json:
        document = {"schema": 1, "runs": [{"lane": lane, "who": who, "told": told} for (lane, who), told in found.items()]}
        pathlib.Path(args.json).write_text(json.dumps(document, indent=2) + "\n")


def table(found):
    def middle(lane, who, name):
        values = [find(told, name) for told in found.get((lane, who), []) if "error" not in told]
        values = [value for value in values if value is not None]
        return statistics.median(values) if values else None

    def shown(value, form):
        return format(value, form) if value is not None else "–"

    print(f"{'':<24}{'':<10}{'n':>3}{'tokens/s':>12}{'of eager':>10}{'MFU':>8}{'peak MiB':>10}")
    for lane in dict.fromkeys(lane for lane, _ in found):
        eager, peak_rate = middle(lane, "eager", "tokens_per_second"), middle(lane, "philidor", "matmul_flops_per_second")
        for who in ("philidor", "eager", "compiled"):
            runs = [told for told in found.get((lane, who), []) if "error" not in told]
            if (lane, who) not in found:
                continue
            rate, memory = middle(lane, who, "tokens_per_second"), middle(lane, who, "peak_memory_bytes")
            flops = middle(lane, "eager", "flops_per_token")
            mfu = rate * flops / peak_rate if rate and flops and peak_rate else middle(lane, who, "mfu")
            ratio = rate / eager if rate and eager else None
            print(f"{lane:<24}{who:<10}{len(runs):>3}{shown(rate, ',.0f'):>12}{shown(ratio, '.2f'):>10}{shown(mfu, '.3f'):>8}"
                  f"{shown(memory and memory / 2**20, ',.0f'):>10}")


if __name__ == "__main__":
    sys.exit(main())
