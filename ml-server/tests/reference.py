"""Prints the reference logits of `architectures.rs`, computed by `transformers` in f32.

    pip install torch transformers
    LYRA_TINY=/tmp/tiny cargo test -p lyra-ml-server --test architectures -- --ignored
    python ml-server/tests/reference.py /tmp/tiny
"""

import json
import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer
from transformers import AutoModelForSequenceClassification


def main(folder: Path) -> None:
    pairs = json.loads((folder / "pairs.json").read_text())
    for path in sorted(path for path in folder.iterdir() if path.is_dir()):
        tokenizer = Tokenizer.from_file(str(path / "tokenizer.json"))
        tokenizer.enable_truncation(16, strategy="longest_first")
        model = AutoModelForSequenceClassification.from_pretrained(path, dtype=torch.float32).eval()
        rows = []
        for premise, hypothesis in pairs:
            encoding = tokenizer.encode(premise, hypothesis) if hypothesis else tokenizer.encode(premise)
            inputs = {"input_ids": torch.tensor([encoding.ids])}
            inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
            # The others have one segment or none.
            if model.config.model_type == "bert":
                inputs["token_type_ids"] = torch.tensor([encoding.type_ids])
            with torch.no_grad():
                rows.append([round(logit, 7) for logit in model(**inputs).logits[0].tolist()])
        print(f'    ("{model.config.model_type}", {rows}),')


if __name__ == "__main__":
    main(Path(sys.argv[1]))
