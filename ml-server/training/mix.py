"""The weighted mean of verifiers that began from the same weights: steadier than each, and nearer to where they began.

    mix.py OUT FOLDER:WEIGHT FOLDER:WEIGHT…        the tokenizer and the configuration are the first folder's
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

from model import read_verifier, write_verifier

if __name__ == "__main__":
    parts = [(Path(name), float(weight)) for name, _, weight in (part.rpartition(":") for part in sys.argv[2:])]
    first, total = parts[0][0], sum(weight for _, weight in parts)
    mean = read_verifier(first)
    states = [(read_verifier(folder).state_dict(), weight / total) for folder, weight in parts]
    with torch.no_grad():
        for name, value in mean.state_dict().items():
            value.copy_(sum(state[name] * weight for state, weight in states))
    write_verifier(mean, Path(sys.argv[1]), first)
