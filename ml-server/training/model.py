"""The verifier in plain PyTorch: a BERT or MPNet encoder, a label head on the first token, a rationale head on separators."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Iterator, NamedTuple

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional as F

from labels import LABELS

TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")


class Shape(NamedTuple):
    """The shape of an encoder."""

    kind: str
    """`bert` or `mpnet`."""
    hidden: int
    heads: int
    inner: int
    layers: int
    words: int

    @property
    def eps(self) -> float:
        return 1e-12 if self.kind == "bert" else 1e-5

    @property
    def first_position(self) -> int:
        """Row of the position table that the first token takes."""
        return 0 if self.kind == "bert" else 2


class Layer(nn.Module):
    """One layer with the norm after each block. Attention has no dropout: with it there is no fused kernel."""

    def __init__(self, shape: Shape, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = shape.heads, dropout
        self.q, self.k, self.v, self.o = (nn.Linear(shape.hidden, shape.hidden) for _ in range(4))
        self.attended = nn.LayerNorm(shape.hidden, eps=shape.eps)
        self.up, self.down = nn.Linear(shape.hidden, shape.inner), nn.Linear(shape.inner, shape.hidden)
        self.norm = nn.LayerNorm(shape.hidden, eps=shape.eps)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        batch, tokens, hidden = x.shape
        q, k, v = (part(x).view(batch, tokens, self.heads, -1).transpose(1, 2) for part in (self.q, self.k, self.v))
        attention = F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).reshape(batch, tokens, hidden)
        x = self.attended(x + F.dropout(self.o(attention), self.dropout, self.training))
        return self.norm(x + F.dropout(self.down(F.gelu(self.up(x))), self.dropout, self.training))


class Verifier(nn.Module):
    """Reads what `encoding.encode` makes of a claim and a passage."""

    def __init__(self, shape: Shape, dropout: float = 0.1) -> None:
        super().__init__()
        self.shape, self.dropout, self.frozen = shape, dropout, 0
        self.words = nn.Embedding(shape.words, shape.hidden)
        self.positions = nn.Embedding(512 + shape.first_position, shape.hidden)
        self.segments = nn.Embedding(2, shape.hidden) if shape.kind == "bert" else None
        self.distances = nn.Embedding(32, shape.heads) if shape.kind == "mpnet" else None
        self.norm = nn.LayerNorm(shape.hidden, eps=shape.eps)
        self.layers = nn.ModuleList(Layer(shape, dropout) for _ in range(shape.layers))
        self.dense, self.output = nn.Linear(shape.hidden, shape.hidden), nn.Linear(shape.hidden, len(LABELS))
        self.rationale = nn.Linear(shape.hidden, 1)
        for head in (self.dense, self.output, self.rationale):
            nn.init.normal_(head.weight, std=0.02)
            nn.init.zeros_(head.bias)

    def frozen_states(self, ids: Tensor, segments: Tensor, padding: Tensor) -> tuple[Tensor, Tensor]:
        """Hidden states `[batch, tokens, hidden]` after the frozen layers, or after none, and the mask of attention; `padding` is true
        where there is no token."""
        tokens = ids.shape[1]
        places = torch.arange(tokens, device=ids.device)
        x = self.words(ids) + self.positions(places + self.shape.first_position)
        if self.segments is not None:
            x = x + self.segments(segments)
        x = F.dropout(self.norm(x), self.dropout, self.training and not self.frozen)
        kind = torch.get_autocast_dtype(ids.device.type) if torch.is_autocast_enabled(ids.device.type) else x.dtype
        mask = torch.zeros(len(ids), 1, 1, tokens, device=ids.device, dtype=kind).masked_fill(padding[:, None, None], -1e4)
        if self.distances is not None:
            # Not trained on: the fused kernels have no gradient for it at every length.
            bias = self.distances(buckets(places)).permute(2, 0, 1).detach()
            mask = mask + bias.to(kind)
        mask = mask.expand(len(ids), self.shape.heads, tokens, tokens)
        for layer in self.layers[: self.frozen]:
            x = layer(x, mask)
        return x, mask

    def forward(self, ids: Tensor, segments: Tensor, padding: Tensor, rows: Tensor, marks: Tensor, below: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """Logits `[batch, 3]`, and one rationale logit for each separator: `marks[i]` in sequence `rows[i]`. `below` are the
        `frozen_states` of a verifier that shares them."""
        hidden, mask = below or self.frozen_states(ids, segments, padding)
        for layer in self.layers[self.frozen :]:
            hidden = layer(hidden, mask)
        pooled = torch.tanh(self.dense(F.dropout(hidden[:, 0], self.dropout, self.training)))
        return self.output(pooled).float(), self.rationale(hidden[rows, marks]).squeeze(-1).float()

    def freeze(self, layers: int) -> None:
        """Keeps the embeddings and this many first layers as they are."""
        self.frozen = layers
        for part in [self.words, self.positions, self.norm, *([self.segments] if self.segments else []), *self.layers[:layers]]:
            part.requires_grad_(False)

    def keep_frozen(self) -> None:
        """Takes dropout from what is frozen; call it after `train`."""
        for layer in self.layers[: self.frozen]:
            layer.eval()

    def only(self, layers: list[int]) -> Verifier:
        """The same verifier with only these of its layers."""
        small = Verifier(self.shape._replace(layers=len(layers)), self.dropout)
        state = {name: value for name, value in self.state_dict().items() if not name.startswith("layers.")}
        for place, layer in enumerate(layers):
            state |= {f"layers.{place}.{name}": value for name, value in self.layers[layer].state_dict().items()}
        small.load_state_dict(state)
        return small


def buckets(places: Tensor) -> Tensor:
    """MPNet's 32 buckets of the distance from query to key, 16 for each direction: one by one up to 8, then by logarithm up to 128."""
    distance = places[None, :] - places[:, None]
    far = 8 + (torch.log(distance.abs().clamp(min=1) / 8) / math.log(128 / 8) * 8).long()
    return torch.where(distance.abs() < 8, distance.abs(), far.clamp(max=15)) + (distance > 0).long() * 16


LAYER_NAMES = {
    "mpnet": {"q": "attention.attn.q", "k": "attention.attn.k", "v": "attention.attn.v", "o": "attention.attn.o",
              "attended": "attention.LayerNorm", "up": "intermediate.dense", "down": "output.dense", "norm": "output.LayerNorm"},
    "bert": {"q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value", "o": "attention.output.dense",
             "attended": "attention.output.LayerNorm", "up": "intermediate.dense", "down": "output.dense", "norm": "output.LayerNorm"},
}
HEAD_NAMES = {
    "mpnet": {"dense": "classifier.dense", "output": "classifier.out_proj", "rationale": "rationale"},
    "bert": {"dense": "bert.pooler.dense", "output": "classifier", "rationale": "rationale"},
}


def encoder_names(shape: Shape) -> Iterator[tuple[str, str]]:
    """Names of the encoder's tensors here and in `transformers`, the latter without prefix."""
    yield "words.weight", "embeddings.word_embeddings.weight"
    yield "positions.weight", "embeddings.position_embeddings.weight"
    if shape.kind == "bert":
        yield "segments.weight", "embeddings.token_type_embeddings.weight"
    else:
        yield "distances.weight", "encoder.relative_attention_bias.weight"
    for part in ("weight", "bias"):
        yield f"norm.{part}", f"embeddings.LayerNorm.{part}"
        for layer in range(shape.layers):
            for ours, theirs in LAYER_NAMES[shape.kind].items():
                yield f"layers.{layer}.{ours}.{part}", f"encoder.layer.{layer}.{theirs}.{part}"


def from_embedder(kind: str, tensors: dict[str, Tensor]) -> Verifier:
    """A verifier on an embedder's weights, with new heads. Every layer has heads of 64 (MPNet) or 32 (MiniLM) numbers."""
    words, hidden = tensors["embeddings.word_embeddings.weight"].shape
    layers = 1 + max(int(name.split(".")[2]) for name in tensors if name.startswith("encoder.layer."))
    verifier = Verifier(Shape(kind, hidden, 12, 4 * hidden, layers, words))
    state = verifier.state_dict() | {ours: tensors[theirs].float() for ours, theirs in encoder_names(verifier.shape)}
    verifier.load_state_dict(state)
    return verifier


def read_embedder(folder: Path) -> Verifier:
    """From a folder in the layout of `transformers`."""
    kind = json.loads((folder / "config.json").read_text())["model_type"]
    tensors = load_file(folder / "model.safetensors")
    return from_embedder(kind, {name.removeprefix(f"{kind}."): value for name, value in tensors.items()})


def read_verifier(folder: Path) -> Verifier:
    """From a folder that `write_verifier` wrote."""
    config = json.loads((folder / "config.json").read_text())
    names = ("model_type", "hidden_size", "num_attention_heads", "intermediate_size", "num_hidden_layers", "vocab_size")
    verifier = Verifier(Shape(*(config[name] for name in names)))
    tensors, shape = load_file(folder / "model.safetensors"), verifier.shape
    state = {ours: tensors[f"{shape.kind}.{theirs}"] for ours, theirs in encoder_names(shape)}
    for ours, theirs in HEAD_NAMES[shape.kind].items():
        state |= {f"{ours}.{part}": tensors[f"{theirs}.{part}"] for part in ("weight", "bias")}
    verifier.load_state_dict(state)
    return verifier


def write_verifier(verifier: Verifier, folder: Path, tokenizer: Path, **stated: float) -> None:
    """Writes the layout of `transformers`, with the rationale head beside it. `stated` goes into `config.json`."""
    folder.mkdir(parents=True, exist_ok=True)
    shape, state = verifier.shape, verifier.state_dict()
    tensors = {f"{shape.kind}.{theirs}": state[ours] for ours, theirs in encoder_names(shape)}
    for ours, theirs in HEAD_NAMES[shape.kind].items():
        tensors |= {f"{theirs}.{part}": state[f"{ours}.{part}"] for part in ("weight", "bias")}
    save_file({name: value.float().cpu().contiguous() for name, value in tensors.items()}, folder / "model.safetensors")
    mpnet = shape.kind == "mpnet"
    config = {
        "architectures": [f"{'MPNet' if mpnet else 'Bert'}ForSequenceClassification"],
        "model_type": shape.kind,
        "hidden_act": "gelu",
        "hidden_size": shape.hidden,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "intermediate_size": shape.inner,
        "vocab_size": shape.words,
        "max_position_embeddings": 512 + shape.first_position,
        "layer_norm_eps": shape.eps,
        "hidden_dropout_prob": verifier.dropout,
        "attention_probs_dropout_prob": 0.0,
        **({"relative_attention_num_buckets": 32, "bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2} if mpnet
           else {"type_vocab_size": 2, "pad_token_id": 0}),
        "id2label": dict(enumerate(LABELS)),
        "label2id": {label: place for place, label in enumerate(LABELS)},
        "lyra_task": "verifier",
        **stated,
    }
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    for name in TOKENIZER_FILES:
        if (tokenizer / name).exists() and tokenizer.resolve() != folder.resolve():
            shutil.copy(tokenizer / name, folder / name)
