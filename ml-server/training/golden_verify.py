"""Writes what a verifier has to answer, computed by torch in f32, for the tests of the server.

usage: golden_verify.py MODEL_DIR OUT.json [--items ITEMS.json]

MODEL_DIR is a folder in the layout of Hugging Face with `rationale.weight` and `rationale.bias` beside the classifier's tensors.
ITEMS.json is a list of {"claim", "title"?, "sentences"}; without it, the items below.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch
from safetensors.torch import load_file
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from encoding import encode

METHODS = [
    "We enrolled adults from 14 hospitals between 2011 and 2016.",
    "Participants were assigned at random to either arm, in blocks of six.",
    "The primary outcome was measured by assessors who did not know the assignment.",
    "Analyses followed a plan that was published before the data were seen.",
    "Missing values were imputed twenty times.",
]


def item(claim: str, sentences: list[str], title: str | None = None) -> dict:
    return {"claim": claim, "sentences": sentences} | ({} if title is None else {"title": title})


ITEMS = [
    # Short passages with a title: support, refutation, neither.
    item("Aspirin lowers fever.", ["Forty adults with fever took aspirin.", "Aspirin reduced body temperature by 1.2 °C."], "Aspirin in fever"),
    item("Aspirin lowers fever.", ["Forty adults with fever took aspirin.", "Aspirin did not change body temperature."], "Aspirin in fever"),
    item("Aspirin lowers fever.", ["Basalt is a volcanic rock.", "It cools quickly at the surface."], "Rocks of Iceland"),
    item("Naps improve recall.", ["Half of the volunteers slept at noon.", "They remembered more words (p = 0.03)."], "Sleep and memory"),
    item("Naps impair recall.", ["Half of the volunteers slept at noon.", "They remembered more words (p = 0.03)."], "Sleep and memory"),
    # No title, one sentence: what a pair becomes.
    item("Some cats sleep.", ["All cats sleep."]),
    item("No cat sleeps.", ["All cats sleep."]),
    item("Cats eat fish.", ["All cats sleep."]),
    # A title that counts as none.
    item("Some cats sleep.", ["All cats sleep."], ""),
    item("Some cats sleep.", ["All cats sleep."], " \t "),
    # Figures, units, negation, hedging.
    item("Telework cut output by 8%.", ["We followed 800 schools.", "Telework reduced output by 8%.", "Sick days rose."], "Telework"),
    item("Telework cut output by 45%.", ["We followed 800 schools.", "Telework reduced output by 8%.", "Sick days rose."], "Telework"),
    item("The vaccine may prevent infection.", ["Infection was prevented in 95 % of 21,720 participants.", "No deaths occurred."]),
    item("TNF-α inhibitors slow joint damage.", ["TNF-α (tumour necrosis factor) was blocked.", "Erosion scores rose by 0.3 vs 2.1."], "TNF-α"),
    # Sentences that are empty, blank, or spell out the tokens between sentences.
    item("Iron is heavy.", ["", "Iron sinks in water.", " ", "Wood floats."], "Density"),
    item("Iron [SEP] is </s> heavy.", ["Iron </s> sinks.", "[CLS] Wood <s> floats."], "Den[SEP]sity"),
    # Other scripts and odd characters.
    item("睡眠は記憶を改善する。", ["被験者は正午に眠った。", "単語の想起が向上した。"], "睡眠と記憶"),
    item("Café naps work 👩‍🔬.", ["Les participants ont dormi.", "ﬁrst‑order eﬀects\u200b were “large”."], "naïve ǅ"),
    # As long as usual, and longer than the model reads: later sentences are left out.
    item("Treatment lowers mortality.", [*METHODS, "Mortality was lower with treatment (hazard ratio 0.71).", *METHODS], "A randomised trial of treatment"),
    item("Treatment lowers mortality.", [*METHODS * 9, "Mortality was lower with treatment."], "A randomised trial of treatment"),
    # The first sentence alone does not fit, and is cut.
    item("Treatment lowers mortality.", ["The rooms were quiet and the light was dim and " * 80, "Mortality fell."], "Trial"),
    # Exactly one long sentence after a short one: it does not fit whole and ends the reading.
    item("Treatment lowers mortality.", ["Mortality fell.", "the rooms were quiet and " * 150, "Mortality rose."]),
    # Claim and title beyond what is reserved for them.
    item("It is said that " * 60 + "cats sleep.", ["All cats sleep."], "On cats, dogs and other animals of the house " * 12),
    item("It is said that " * 60 + "cats sleep.", [*METHODS * 9]),
]  # fmt: skip


def max_tokens(folder: Path, model: torch.nn.Module) -> int:
    """What the server takes as the limit: the smallest of what the folder's files say."""
    limits = [model.config.max_position_embeddings - (2 if model.config.model_type == "mpnet" else 0)]
    for name, key in (("tokenizer_config.json", "model_max_length"), ("sentence_bert_config.json", "max_seq_length")):
        path = folder / name
        value = json.loads(path.read_text()).get(key) if path.exists() else None
        limits += [int(value)] if value else []
    return min(limits)


def golden(folder: Path, items: list[dict]) -> dict:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()
    tensors = load_file(folder / "model.safetensors")
    weight, bias = tensors["rationale.weight"].float(), tensors["rationale.bias"].float()
    limit = max_tokens(folder, model)
    rows = []
    for one in items:
        ids, segments, marks = encode(tokenizer, one["claim"], one.get("title"), one["sentences"], limit)
        inputs = {"input_ids": torch.tensor([ids]), "attention_mask": torch.ones(1, len(ids), dtype=torch.long)}
        if model.config.model_type == "bert":
            inputs["token_type_ids"] = torch.tensor([segments])
        with torch.no_grad():
            out = model(**inputs, output_hidden_states=True)
            scores = out.hidden_states[-1][0, marks] @ weight[0] + bias
        numbers = {"logits": out.logits[0].tolist(), "rationale": scores.tolist()}
        rounded = {name: [round(number, 6) for number in values] for name, values in numbers.items()}
        rows.append(one | {"ids": ids, "segments": segments, "marks": marks} | rounded)
    return {"model": folder.name, "max_tokens": limit, "items": rows}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path)
    options.add_argument("out", type=Path)
    options.add_argument("--items", type=Path)
    args = options.parse_args()
    items = json.loads(args.items.read_text()) if args.items else ITEMS
    found = golden(args.folder, items)
    lines = ",\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in found.pop("items"))
    args.out.write_text(json.dumps(found)[:-1] + ', "items": [\n' + lines + "\n]}\n")
    print(f"{args.out}: {len(items)} items")


if __name__ == "__main__":
    main()
