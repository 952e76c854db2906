"""Smoke test: `python -m unittest` in this folder. Seconds; parts without their packages or data say so and are skipped."""

from __future__ import annotations

import importlib.util
import json
import random
import tempfile
import unittest
from pathlib import Path

from encoding import CLAIM_TOKENS, LEAST_MAX_TOKENS, TITLE_TOKENS, encode
from labels import LABELS
from probes import read_probes
from wordings import reworded, turned

TORCH = all(importlib.util.find_spec(name) for name in ("torch", "transformers", "sklearn"))


class Probes(unittest.TestCase):
    def test_probes_are_many_and_distinct(self) -> None:
        probes = read_probes()
        self.assertGreaterEqual(len(probes), 150)
        self.assertEqual(len({p[:2] for p in probes}), len(probes))
        self.assertEqual({p.label for p in probes}, set(LABELS))


class Claims(unittest.TestCase):
    """The files of `claims/` have the form that `pack.py` reads."""

    def rows(self, name: str) -> list[dict]:
        text = Path(__file__).with_name("claims").joinpath(f"{name}.jsonl").read_text(encoding="utf8")
        return [json.loads(line) for line in text.splitlines()]

    def test_versions_have_other_labels_than_the_text(self) -> None:
        for row in [*self.rows("contrast"), *self.rows("contrast_2")]:
            labels = [row["label"], *(version["label"] for version in row["versions"])]
            self.assertLessEqual(set(labels), {"SUPPORT", "REFUTE", "NEI"})
            self.assertNotIn(row["label"], labels[1:])
            self.assertTrue(all(version["edits"] for version in row["versions"]))

    def test_texts_are_edited_for_all_of_their_claims(self) -> None:
        for row in self.rows("contrast_3"):
            for version in (row["turned"], row["open"], row["same"]):
                self.assertTrue(version["edits"])
                for label, rationale in (version["A"], version["B"], version["C"]):
                    self.assertEqual(label == "NEI", not rationale, row["doc"])

    def test_only_sides_have_a_rationale(self) -> None:
        for name in ("inference", "inference_2", "inference_3", "mined", "retrieved", "asked"):
            for row in self.rows(name):
                self.assertIn(row["label"], ("SUPPORT", "REFUTE", "NEI", "unsure"))
                self.assertFalse(row["label"] == "NEI" and row["rationale"], row)


class Wordings(unittest.TestCase):
    def test_another_verb_of_the_class_or_the_passive(self) -> None:
        chosen = random.Random(0)
        said = {reworded("Aspirin reduces fever.", chosen) for _ in range(60)}
        self.assertLessEqual({"Aspirin lowers fever.", "Fever is reduced by aspirin."}, {text.replace("Aspirin.", "aspirin.") for text in said})
        self.assertNotIn("Aspirin reduces fever.", said)
        self.assertIsNone(reworded("Whales sing.", chosen))
        self.assertIsNone(turned("Aspirin reduces fever but not pain."))


class Letters:
    """A tokenizer whose tokens are letters; `|` spells its separator."""

    cls_token_id, sep_token_id = 1, 2

    def __init__(self, cls_token: str) -> None:
        self.cls_token = cls_token

    def __call__(self, text: str, **_: bool) -> dict[str, list[int]]:
        return {"input_ids": [2 if letter == "|" else ord(letter) for letter in text]}


class Encoding(unittest.TestCase):
    def test_frames(self) -> None:
        c, t, s = ord("c"), ord("t"), ord("s")
        mpnet = encode(Letters("<s>"), "c", "t", ["s", "ss"], 512)
        self.assertEqual(mpnet, ([1, c, 2, 2, t, 2, s, 2, s, s, 2], [0] * 11, [7, 10]))
        bert = encode(Letters("[CLS]"), "c", "t", ["s", "ss"], 512)
        self.assertEqual(bert, ([1, c, 2, t, 2, s, 2, s, s, 2], [0] * 3 + [1] * 7, [6, 9]))
        for title in (None, "", "|"):
            self.assertEqual(encode(Letters("[CLS]"), "c", title, ["|s"], 512), ([1, c, 2, s, 2], [0, 0, 0, 1, 1], [4]))

    def test_what_does_not_fit(self) -> None:
        long = encode(Letters("[CLS]"), "c" * 500, "t" * 500, ["s" * 500, "s"], 256)
        self.assertEqual(len(long.ids), 256)
        self.assertEqual(long.marks, [255])
        self.assertEqual(long.ids.count(ord("c")), CLAIM_TOKENS)
        self.assertEqual(long.ids.count(ord("t")), TITLE_TOKENS)
        # [CLS] c [SEP] s*99 [SEP] is 103 tokens; of the rest, one hundred more would not leave room for a separator.
        self.assertEqual(encode(Letters("[CLS]"), "c", None, ["s" * 99, "s" * 89, "s"], 193).marks, [102, 192])
        self.assertEqual(encode(Letters("[CLS]"), "c", None, ["s" * 99, "s" * 90, "s"], 193).marks, [102])
        with self.assertRaises(ValueError):
            encode(Letters("[CLS]"), "c", None, ["s"], LEAST_MAX_TOKENS - 1)
        with self.assertRaises(ValueError):
            encode(Letters("[CLS]"), "c", None, [], 512)


@unittest.skipUnless(TORCH, "torch, transformers and scikit-learn are not installed")
class Models(unittest.TestCase):
    def test_measures(self) -> None:
        import numpy as np

        from evaluate import calibration_error, label_f1
        from export import brier, cooled, precision

        labels, taken = np.array([0, 1, 2, 1]), np.array([0, 0, 2, 2])
        self.assertEqual(label_f1(taken, labels), {"precision": 0.5, "recall": 1 / 3, "F1": 0.4})
        self.assertAlmostEqual(calibration_error(np.array([0.95, 0.95]), np.array([True, False])), 0.45)
        rows = [{"label": "REFUTE"}] * 3 + [{"label": "SUPPORT"}]
        windows = [[(0, [9.0, 0.0, 0.0], [1.0])]] * 4
        self.assertAlmostEqual(precision(rows, windows, 0.5), 0.75)
        self.assertLess(brier(rows, [cooled(read, 6.0) for read in windows]), brier(rows, windows))

    def test_windows_are_those_of_the_server(self) -> None:
        from curve import judge, windows_of
        from windowed import starts

        for count in range(1, 30):
            cut = windows_of([str(n) for n in range(count)])
            self.assertEqual([first for first, _ in cut], list(starts(count)))
            self.assertTrue(all(0 < len(window) <= 4 and window[0] == str(first) for first, window in cut))
            self.assertEqual(cut[-1][1][-1], str(count - 1))
        silent, supported = (0, [-3.0, -3.0, 3.0], [-2.0, -1.0]), (2, [-3.0, 3.0, -3.0], [-2.0, 1.0, 2.0])
        self.assertEqual(judge([silent, supported], 0.5), (1, [3, 4]))
        self.assertEqual(judge([silent], 0.5), (2, []))

    def test_a_side_found_after_all_teaches_nothing(self) -> None:
        import torch

        from train import loss

        batch = {"labels": torch.tensor([2]), "guess": torch.zeros(1, 3), "unless": torch.tensor([1]), "rows": torch.tensor([0]),
                 "deciding": torch.tensor([0.0]), "twins": torch.zeros(0, 2, dtype=torch.long)}
        for support, teaches in ((-9.0, True), (4.0, False)):
            found = loss(batch, torch.tensor([[-9.0, support, 0.0]]), torch.zeros(1), None, 0.3, 0.6).item()
            self.assertEqual(found > 0, teaches, found)

    def test_what_was_right_before_is_kept(self) -> None:
        import torch

        from labels import UNKNOWN
        from train import loss

        batch = {"guess": torch.zeros(1, 3), "unless": torch.tensor([-1]), "rows": torch.tensor([0]), "deciding": torch.tensor([-1.0]),
                 "twins": torch.zeros(0, 2, dtype=torch.long)}
        logits, before = torch.tensor([[0.0, 1.0, 0.0]]), torch.tensor([[0.0, 4.0, 0.0]])
        for label, before_counts in ((1, True), (0, False), (UNKNOWN, True)):
            without, found = (loss(batch | {"labels": torch.tensor([label])}, logits, torch.zeros(1), None, 0.3, 0.6, kept, 0.5).item() for kept in (None, before))
            self.assertEqual(found > without, before_counts, (label, found, without))

    def test_small_updates_survive_random_rounding(self) -> None:
        import torch

        from rounding import rounded

        chosen = torch.Generator().manual_seed(1)
        stored = rounded(torch.randn(64, 512, generator=chosen), chosen)
        self.assertLess((rounded(stored, chosen) - stored).abs().max().item(), 1e-3)
        update = 0.002 * torch.sign(torch.randn(64, 512, generator=chosen))
        kept = ((rounded(stored + update, chosen) - stored) * update).sum() / (update * update).sum()
        self.assertAlmostEqual(kept.item(), 1.0, delta=0.1)

    def test_opposites_change_one_word(self) -> None:
        from opposites import opposite, other_number, renumbered, shared_number

        chosen = random.Random(1)
        self.assertEqual(opposite("Exercise lowers blood pressure.", chosen), "Exercise raises blood pressure.")
        self.assertEqual(opposite("Higher doses help.", chosen), "Lower doses help.")
        for left in ("Exercise does not lower blood pressure.", "More sleep increases recall.", "Recall was measured.", "LPS-increased counts."):
            self.assertIsNone(opposite(left, chosen))
        self.assertEqual(shared_number("Recall rose by 12% in 2019.", "It rose by 12% (2019).", chosen), "12")
        self.assertIsNone(shared_number("Recall rose by over 12%.", "It rose by 12%.", chosen))
        self.assertIsNone(shared_number("Day 14 was best.", "On day 14 it was best.", chosen))
        self.assertEqual(renumbered("It was 1.5 (1.5–2), 11.5 and 1.5.", "1.5", "3.1"), "It was 3.1 (1.5–2), 11.5 and 3.1.")
        for _ in range(200):
            number = chosen.choice(["0", "7", "1.50", "100"])
            found = other_number(number, chosen)
            self.assertNotEqual(float(found), float(number))
            self.assertEqual(len(found.partition(".")[2]), len(number.partition(".")[2]))

    def test_the_model_is_that_of_transformers(self) -> None:
        import torch
        from transformers import BertConfig, BertForSequenceClassification, MPNetConfig, MPNetForSequenceClassification

        from model import Shape, Verifier, read_verifier, write_verifier

        for kind, config, theirs in (("mpnet", MPNetConfig, MPNetForSequenceClassification), ("bert", BertConfig, BertForSequenceClassification)):
            with self.subTest(kind), tempfile.TemporaryDirectory() as name, torch.no_grad():
                torch.manual_seed(0)
                verifier = Verifier(Shape(kind, 48, 12, 96, 2, 60)).eval()
                for parameter in verifier.parameters():
                    parameter.normal_(std=0.3)
                write_verifier(verifier, Path(name), Path(name), lyra_threshold=0.5)
                self.assertEqual(json.loads(Path(name, "config.json").read_text())["lyra_threshold"], 0.5)
                reference = theirs.from_pretrained(name, config=config.from_pretrained(name)).eval()
                ids = torch.randint(5, 60, (2, 40))
                segments, attended = torch.zeros_like(ids), torch.ones_like(ids)
                segments[:, 10:], attended[1, 30:] = int(kind == "bert"), 0
                ids[1, 30:] = reference.config.pad_token_id
                extra = {"token_type_ids": segments} if kind == "bert" else {}
                expected = reference(input_ids=ids, attention_mask=attended, **extra).logits
                rows, marks = torch.tensor([0, 1]), torch.tensor([39, 29])
                for model in (verifier, read_verifier(Path(name)).eval()):
                    logits, rationale = model(ids, segments, attended == 0, rows, marks)
                    self.assertLess((logits - expected).abs().max().item(), 1e-3)
                    self.assertEqual(rationale.shape, (2,))
                self.assertEqual(len(verifier.only([1]).layers), 1)
                verifier.freeze(1)
                below = verifier.frozen_states(ids, segments, attended == 0)
                again, _ = verifier(ids, segments, attended == 0, rows, marks, below)
                self.assertLess((again - expected).abs().max().item(), 1e-3)


if __name__ == "__main__":
    unittest.main()
