"""Rounds matrices at random to what Q8_0 can store, up or down in proportion (stochastic rounding), so that `quantize` changes nothing more.

    rounding.py FOLDER OUT

Weights that were trained on from a shipped file lie close to its steps. To the nearest step, a short training would mostly be rounded away:
of the fifth one, 0.45 would be left, and at random all of it is, on average.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

BLOCK = 32
"""Weights that share a step, as in `ml-server/src/model/weights.rs`."""


def rounded(weights: Tensor, chosen: torch.Generator) -> Tensor:
    """A matrix `[outputs, inputs]` in whole steps: of each block, its largest weight / 127, in f16."""
    blocks = weights.float().reshape(-1, BLOCK)
    step = (blocks.abs().amax(1, keepdim=True) / 127).half().float().clamp(min=torch.finfo(torch.half).tiny)
    steps = blocks / step
    below = steps.floor()
    above = torch.rand(steps.shape, generator=chosen) < steps - below
    # The largest stays the largest, or the block would get another step.
    steps = torch.where(steps.abs() > 126.5, steps.round(), below + above)
    return (steps * step).reshape(weights.shape)


if __name__ == "__main__":
    source, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    for name in ("config.json", "tokenizer.json"):
        shutil.copy(source / name, out / name)
    random = torch.Generator().manual_seed(5)
    tensors = load_file(source / "model.safetensors")
    save_file({name: rounded(value, random).contiguous() if value.dim() == 2 and value.shape[1] % BLOCK == 0 else value for name, value in tensors.items()},
              out / "model.safetensors", metadata={"format": "pt"})
