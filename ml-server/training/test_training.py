"""Smoke test: `python -m unittest` in this folder. Seconds; parts without their packages or data say so and are skipped."""

from __future__ import annotations

import importlib.util
import tempfile
import unittest
from pathlib import Path
from random import Random

from data import LABELS, SHARED, Pair, SciFact, TrainingText, read_pairs, windows, write_pairs
from edits import antonym, negate, plain, renumber, shorten, turned
from grammar import effects, figures
from probes import read_probes

TORCH = all(importlib.util.find_spec(name) for name in ("torch", "transformers", "sklearn"))


class Texts(unittest.TestCase):
    def test_edits_change_what_they_say_they_change(self) -> None:
        random = Random(0)
        self.assertEqual(antonym("It increased in men.", random), "It decreased in men.")
        self.assertEqual(negate("The drug was not harmful.", random), "The drug was harmful.")
        self.assertEqual(negate("Sleep improves memory.", random), "Sleep does not improve memory.")
        self.assertEqual(plain("Here, we show that mice sleep more."), "Mice sleep more.")
        self.assertEqual(shorten("Pain fell (p = 0.01) in 40 women who were asked twice.", random), "Pain fell in 40 women who were asked twice.")
        self.assertNotEqual(renumber("It took 12 days.", random), "It took 12 days.")
        same, opposite = turned("Survival was higher in treated mice than in control mice.") or ("", "")
        self.assertEqual(same, "Survival was lower in control mice than in treated mice.")
        self.assertEqual(opposite, "Survival was higher in control mice than in treated mice.")

    def test_windows_are_of_one_and_two_sentences(self) -> None:
        self.assertEqual(windows(["A.", "B.", "C."]), ["A.", "A. B.", "B.", "B. C.", "C."])

    def test_made_pairs_have_every_label_and_no_gaps(self) -> None:
        for pairs in (effects(300, Random(1)), figures(300, Random(1))):
            self.assertEqual({p.label for p in pairs}, set(LABELS))
            self.assertFalse([p for p in pairs if "{" in p.premise + p.hypothesis])

    def test_probes_are_many_and_distinct(self) -> None:
        probes = read_probes()
        self.assertGreaterEqual(len(probes), 150)
        self.assertEqual(len({p[:2] for p in probes}), len(probes))
        self.assertEqual({p.label for p in probes}, set(LABELS))

    @unittest.skipUnless((SHARED / "data/scifact").exists(), "the shared data is not there; set LYRA_SHARED")
    def test_what_is_measured_on_is_not_trained_on(self) -> None:
        scifact = SciFact()
        text = TrainingText(scifact)
        self.assertFalse(scifact.unseen_abstracts & text.abstracts.keys())
        self.assertFalse({c.id for c in text.claims} & {c.id for c in scifact.held_out})
        self.assertTrue(scifact.excluded)


@unittest.skipUnless(TORCH, "torch, transformers and scikit-learn are not installed")
class Models(unittest.TestCase):
    def test_measures(self) -> None:
        import numpy as np

        from evaluate import calibration_error, strongest

        scores = np.array([[0.1, 0.2, 0.7], [0.7, 0.2, 0.1], [0.1, 0.65, 0.25]])
        self.assertEqual(strongest(scores, 0.6), 0)
        self.assertEqual(strongest(scores, 0.9), 2)
        self.assertAlmostEqual(calibration_error(np.array([[0.0, 1.0, 0.0]]), np.array([0])), 1.0)

    def test_a_tiny_model_learns_is_saved_and_judges(self) -> None:
        import argparse

        import torch
        from tokenizers import Tokenizer, models, pre_tokenizers, processors
        from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

        import train
        from judges import folder

        with tempfile.TemporaryDirectory() as name:
            torch.manual_seed(0)
            base, out, file = Path(name, "base"), Path(name, "out"), Path(name, "pairs.jsonl.gz")
            words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdef"]
            tokens = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
            tokens.pre_tokenizer = pre_tokenizers.Whitespace()
            tokens.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
            PreTrainedTokenizerFast(tokenizer_object=tokens, pad_token="[PAD]", unk_token="[UNK]").save_pretrained(base)
            shape = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
            shape |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
            BertModel(BertConfig(vocab_size=len(words), **shape)).save_pretrained(base)
            write_pairs(file, [Pair("a b", h, label, "tiny") for h, label in zip("cde", LABELS, strict=True)])
            self.assertEqual(len(read_pairs(file)), 3)
            args = argparse.Namespace(
                base=base, pairs=file, out=out, minutes=5, steps=300, rate=5e-3, batch=3, max_tokens=16, smoothing=0.0, decay=0.9,
                every=2, workers=1, repeat=["tiny:2"], train_words=True, port=29551,
            )  # fmt: skip
            train.work(0, args)
            scores = folder(out)([("a b", h) for h in "cde"])
            self.assertEqual(scores.argmax(1).tolist(), [0, 1, 2])


if __name__ == "__main__":
    unittest.main()
