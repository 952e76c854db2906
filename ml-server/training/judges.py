"""Models to ask: a `transformers` folder in this process, or a GGUF file behind a real lyra-ml-server."""

from __future__ import annotations

import json
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

MAX_TOKENS = 256
# Probabilities (pairs × contradiction, entailment, neutral).
Judge = Callable[[list[tuple[str, str]]], np.ndarray]


@contextmanager
def open_judge(model: Path, server: str) -> Iterator[Judge]:
    if model.suffix == ".gguf":
        with served(model, server) as judge:
            yield judge
    else:
        yield folder(model)


def folder(path: Path) -> Judge:
    import torch

    logits = folder_logits(path)
    return lambda pairs: torch.softmax(logits(pairs), -1).numpy()


def folder_logits(path: Path):
    """Logits in f32 of a folder, outputs in the order of `data.LABELS`."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    from data import LABELS

    model = AutoModelForSequenceClassification.from_pretrained(path, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(path)
    names = [model.config.id2label[i].lower() for i in range(3)]
    order = [names.index(label) for label in LABELS]

    @torch.no_grad()
    def logits(pairs: list[tuple[str, str]]):
        premises, hypotheses = zip(*pairs, strict=True)
        words = tokenizer(
            list(premises), list(hypotheses), truncation=True, max_length=MAX_TOKENS, padding=True, return_tensors="pt"
        )
        return model(**words).logits[:, order]

    return logits


@contextmanager
def served(model: Path, server: str) -> Iterator[Judge]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    base = f"http://127.0.0.1:{port}"
    process = subprocess.Popen([server, "--nli-model", str(model), "--port", str(port)], stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{base}/ready", timeout=2)
                break
            except (urllib.error.URLError, ConnectionError):  # also 503 while the model loads
                if process.poll() is not None:
                    raise SystemExit(f"{server} stopped with status {process.returncode}") from None
                time.sleep(0.1)

        def judge(pairs: list[tuple[str, str]]) -> np.ndarray:
            body = json.dumps({"pairs": [{"premise": p, "hypothesis": h} for p, h in pairs]}).encode()
            request = urllib.request.Request(f"{base}/nli", body, {"content-type": "application/json"})
            with urllib.request.urlopen(request, timeout=120) as answer:
                results = json.load(answer)["results"]
            return np.array([[r["scores"][k] for k in ("refutes", "supports", "neutral")] for r in results])

        yield judge
    finally:
        process.terminate()
        process.wait()
