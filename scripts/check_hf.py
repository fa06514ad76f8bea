#!/usr/bin/env python3
"""Holds transformers against what `philidor export hf` left beside a model.

    scripts/check_hf.py FOLDER

Loads FOLDER as LlamaForCausalLM with its tokenizer, and compares with check.json and check.safetensors: logits at several
lengths, greedy continuations, and the tokens of a game. One line a check; exit code 1 where one fails. It needs transformers,
torch and safetensors, and no network.
"""

import json
import os
import sys
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
import transformers
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
failures = 0


def tell(passed, text):
    global failures
    failures += not passed
    print(f"{'ok  ' if passed else 'FAIL'}  {text}")


def main(folder):
    told = json.loads((folder / "check.json").read_text())
    kept = load_file(folder / "check.safetensors")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    print(f"      transformers {transformers.__version__}, torch {torch.__version__}, {model.config.max_position_embeddings} tokens of context")
    tell(type(model).__name__ == "LlamaForCausalLM", f"it is a {type(model).__name__}")
    tied = model.get_input_embeddings().weight.data_ptr() == model.get_output_embeddings().weight.data_ptr()
    tell(tied, "the head is the embedding")

    with torch.no_grad():
        for length in [at["length"] for at in told["lengths"]]:
            wanted = kept[f"logits.{length}"]
            seen = model(kept["tokens"][None, :length]).logits[0, -len(wanted) :]
            apart = (seen - wanted).abs().max().item()
            tell(apart <= told["tolerance"], f"{length} tokens: logits at most {apart:.1e} apart, of {told['tolerance']:g} allowed")

        for greedy in told["greedy"]:
            wanted = greedy["continuation"].split()
            inputs = tokenizer(greedy["prompt"], return_tensors="pt")
            grown = model.generate(**inputs, do_sample=False, max_new_tokens=len(wanted))
            seen = tokenizer.convert_ids_to_tokens(grown[0, inputs["input_ids"].shape[1] :])
            same = seen == wanted
            tell(same, f"after `{greedy['prompt']}`: {len(wanted)} tokens continued alike" if same else f"after `{greedy['prompt']}`: {seen}, not {wanted}")

    game = told["game"]
    ids = tokenizer(game["text"])["input_ids"]
    tell(ids == game["ids"], f"a game of {len(game['ids']) - 1} moves has the tokens that it should have")
    text = tokenizer.decode(ids, skip_special_tokens=True)
    tell(text == game["text"], "and comes back as it was written")
    specials = [tokenizer.pad_token_id, tokenizer.bos_token_id, tokenizer.eos_token_id]
    tell(specials == [0, 1, 2], f"<pad>, <bos> and <eos> are {specials}")
    try:
        tell(False, f"`e2e5e4` is no move, and became {tokenizer('e2e5e4')['input_ids']}")
    except Exception as error:
        tell(True, f"`e2e5e4` is no move, and is refused: {error}")


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
    sys.exit(1 if failures else 0)
