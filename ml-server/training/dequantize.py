"""Makes a training folder from a shipped verifier, so that training can go on from its weights.

    dequantize.py GGUF OUT
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import gguf
import torch
from safetensors.torch import save_file

if __name__ == "__main__":
    reader, out = gguf.GGUFReader(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    tensors = {tensor.name: torch.from_numpy(gguf.dequantize(tensor.data, tensor.tensor_type).copy()) for tensor in reader.tensors}
    save_file({name: value.float().contiguous() for name, value in tensors.items()}, out / "model.safetensors")
    (out / "config.json").write_text(json.dumps(json.loads(reader.fields["lyra.config"].contents()), indent=1) + "\n", encoding="utf8")
    (out / "tokenizer.json").write_text(reader.fields["tokenizer.huggingface.json"].contents(), encoding="utf8")
