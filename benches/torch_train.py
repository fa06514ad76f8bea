#!/usr/bin/env python3
"""Our training step as a careful user of PyTorch writes it, for comparison: one process, one JSON line.

    pip install torch==2.11.0
    python3 benches/torch_train.py [--size tiny|small|run1|run2] [--batch N] [--accumulate N] [--precision f32|bf16]
                                   [--compile] [--device cpu|cuda] [--threads N] [--steps N] [--warmup N]

The model is ours: pre-norm, RMSNorm, rotary positions (half-split), fused qkv without bias, causal SDPA, SwiGLU, tied
embeddings. Weights stay float32; bf16 is autocast. AdamW is the fused one, with decay on matrices only, the gradient
is clipped to a norm of 1.0, and gradients are dropped, not zeroed. Tokens are random u16 in memory; each step takes
random windows of them, as int64 on the device. The loss is read once a lap.

Tokens a second are the median over laps: of one step on the CPU, of ten on CUDA, each with the device's work done at
its end. The first steps (compilation, allocation) come before the laps.
"""

import argparse
import json
import math
import resource
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

VOCABULARY = 1971
# layers, heads, width, hidden, context; windows in a batch on the CPU, which is no measure of a GPU's.
SIZES = {
    "tiny": (4, 4, 128, 352, 256, 8),
    "small": (8, 8, 256, 704, 256, 8),
    "run1": (16, 8, 512, 1408, 256, 4),
    "run2": (20, 12, 768, 2048, 256, 2),
}


def rotate(x, cos, sin):
    """Dimensions i and i + d/2 of a head turn together, in float32."""
    left, right = x.float().chunk(2, dim=-1)
    return torch.cat((left * cos - right * sin, right * cos + left * sin), dim=-1).to(x.dtype)


class Block(nn.Module):
    def __init__(self, heads, width, hidden):
        super().__init__()
        self.heads, self.width = heads, width
        self.norm_attn = nn.Parameter(torch.ones(width))
        self.norm_mlp = nn.Parameter(torch.ones(width))
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.proj = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x, cos, sin):
        b, t, c = x.shape
        h = F.rms_norm(x, (c,), self.norm_attn, 1e-6)
        q, k, v = self.qkv(h).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(rotate(q, cos, sin), rotate(k, cos, sin), v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, c))
        h = F.rms_norm(x, (c,), self.norm_mlp, 1e-6)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Decoder(nn.Module):
    def __init__(self, layers, heads, width, hidden, context):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, width)
        self.blocks = nn.ModuleList(Block(heads, width, hidden) for _ in range(layers))
        self.norm = nn.Parameter(torch.ones(width))
        half = width // heads // 2
        frequency = 10_000.0 ** (-torch.arange(half, dtype=torch.float64) / half)
        angles = torch.outer(torch.arange(context, dtype=torch.float64), frequency)
        self.register_buffer("cos", angles.cos().float(), persistent=False)
        self.register_buffer("sin", angles.sin().float(), persistent=False)
        for name, weight in self.named_parameters():
            if weight.dim() > 1:
                residual = name.endswith(("proj.weight", "down.weight"))
                nn.init.normal_(weight, std=0.02 / math.sqrt(2 * layers) if residual else 0.02)

    def forward(self, inputs, targets):
        t = inputs.shape[1]
        x = self.embedding(inputs)
        for block in self.blocks:
            x = block(x, self.cos[:t], self.sin[:t])
        logits = F.linear(F.rms_norm(x, (x.shape[-1],), self.norm, 1e-6), self.embedding.weight)
        return F.cross_entropy(logits.float().flatten(0, 1), targets.flatten())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", choices=SIZES, default="tiny")
    parser.add_argument("--batch", type=int, help="windows in a forward pass")
    parser.add_argument("--accumulate", type=int, default=1)
    parser.add_argument("--precision", choices=("f32", "bf16"), default="f32")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=0, help="0: as many as torch takes")
    parser.add_argument("--steps", type=int, default=20, help="steps that are timed")
    parser.add_argument("--warmup", type=int, default=3, help="steps before that")
    args = parser.parse_args()
    if args.threads:
        torch.set_num_threads(args.threads)
    torch.manual_seed(1337)
    device = torch.device(args.device)
    on_cuda = device.type == "cuda"
    layers, heads, width, hidden, context, batch = SIZES[args.size]
    batch = args.batch or batch

    model = Decoder(layers, heads, width, hidden, context).to(device)
    parameters = list(model.parameters())
    groups = [
        {"params": [p for p in parameters if p.dim() > 1], "weight_decay": 0.1},
        {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0},
    ]
    optimiser = torch.optim.AdamW(groups, lr=6e-4, betas=(0.9, 0.95), eps=1e-8, fused=True)
    forward = torch.compile(model) if args.compile else model
    # Below 2^15, so that int16 holds what is u16 in the files.
    tokens = torch.randint(VOCABULARY, (1_000_000,), dtype=torch.int16)
    if on_cuda:
        tokens = tokens.pin_memory()

    def draw():
        starts = torch.randint(len(tokens) - context - 1, (batch,)).tolist()
        windows = torch.stack([tokens[start : start + context + 1] for start in starts])
        if on_cuda:
            windows = windows.pin_memory().to(device, non_blocking=True)
        windows = windows.long()
        return windows[:, :-1], windows[:, 1:]

    def step():
        total = 0.0
        for _ in range(args.accumulate):
            inputs, targets = draw()
            with torch.autocast(device.type, torch.bfloat16, enabled=args.precision == "bf16"):
                loss = forward(inputs, targets)
            if args.accumulate > 1:
                loss = loss / args.accumulate
            loss.backward()
            total = total + loss.detach()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        return total

    def synchronise():
        if on_cuda:
            torch.cuda.synchronize(device)

    for _ in range(args.warmup):
        loss = step()
    synchronise()
    lap = min(10 if on_cuda else 1, args.steps)
    rates, done = [], 0
    while done < args.steps:
        begin = time.perf_counter()
        for _ in range(lap):
            loss = step()
        loss = float(loss)
        synchronise()
        rates.append(lap * args.accumulate * batch * context / (time.perf_counter() - begin))
        done += lap

    size = sum(p.numel() for p in parameters) - VOCABULARY * width
    peak = torch.cuda.max_memory_allocated(device) if on_cuda else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(
        json.dumps(
            {
                "schema": 1,
                "torch": torch.__version__,
                "device": torch.cuda.get_device_name(device) if on_cuda else "cpu",
                "threads": torch.get_num_threads(),
                "size": args.size,
                "precision": args.precision,
                "compiled": args.compile,
                "batch": batch,
                "accumulate": args.accumulate,
                "context": context,
                "parameters": size,
                "flops_per_token": 6 * size + 12 * layers * width * context,
                "steps": done,
                "tokens_per_second": statistics.median(rates),
                "peak_memory_bytes": peak,
                "loss": loss,
            }
        )
    )


if __name__ == "__main__":
    sys.exit(main())
