"""Examples as Lyra reads passages: windows of four sentences under their title, of which the surest decides.

For a claim with a side, a window with its whole rationale has that side, and one without a sentence of it is silent, unless the model in
training finds the side there after all (`Example.unless`): rationales name what suffices, not every sentence that says the same.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from examples import Example, Examples, sentences_of, stems
from labels import NEUTRAL, REFUTES, SUPPORTS, UNKNOWN
from opposites import directions, opposite, other_number, renumbered, shared_number
from wordings import reworded

WINDOW, STRIDE = 4, 2
WEIGHTS = {"own": 4.0, "inference": 4.4, "twins": 3.0, "rewordings": 2.0, "contrast": 4.2, "directions": 1.4, "numbers": 1.0, "mined": 1.0, "retrieved": 4.0, "asked": 8.0, "scifact": 0.3,
           "silence": 0.9, "subjects": 1.0, "whole": 1.0, "trials": 0.5, "general": 1.2}
KEPT = 2.5
"""Weight of unlabeled windows, on which the answers of the initial verifier are kept."""
GENERAL = {"captions": 1.0, "genres": 2.0, "covid sentences": 1.0, "tables": 0.6, "fever": 0.6, "student answers": 0.4, "monotonicity": 0.3}
VARIED = 0.25
"""Share of the units whose passages are in part reworded by rules, so that no text is learned by heart."""
RARE = 12
"""A word that at most this many texts hold is taken for a name."""


def starts(count: int) -> range:
    """First sentences of the windows of so many sentences, as the server cuts them."""
    return range(0, max(1, count - STRIDE), STRIDE)


class Windows(Examples):
    def __init__(self, path: Path, seed: int = 0, kept: bool = False) -> None:
        super().__init__(path, seed)
        self.weights = WEIGHTS | ({"kept": KEPT} if kept else {})
        self.inferred = [row for row in self.written if row["id"].startswith(("inference", "more"))]
        self.plain = [row for row in self.written if not row["id"].startswith(("inference", "more"))]
        self.found, self.asked = ([row for row in self.pack[name] if row["split"] == "train"] for name in ("retrieved", "asked"))
        by_text = {(row["doc"], row["claim"]): row for row in self.written}
        pairs = [(row, by_text[row["doc"], row["twin"]]) for row in self.written if row.get("twin") and (row["doc"], row["twin"]) in by_text]
        self.same = [(a, b) for a, b in pairs if a["label"] == b["label"]]
        of = defaultdict(list)
        for rows in self.versions:
            of[rows[0]["doc"], rows[0]["claim"]] = rows
        self.same_edited = [(rows, other["claim"]) for pair in self.same for one, other in (pair, pair[::-1]) if (rows := of.get((one["doc"], one["claim"])))]
        self.names: dict[bool, list[str]] = {True: [], False: []}
        for row in self.written:
            if name := self.name(row["claim"]):
                self.names[symbol(name)].append(name)

    def unit(self, done: float) -> list[Example]:
        name = self.random.choices(list(self.weights), list(self.weights.values()))[0]
        unit = getattr(self, f"unit_{name}")()
        if self.random.random() < VARIED:
            said = {s: reworded(s, self.random) or s for example in unit for s in example.sentences if self.random.random() < 0.5}
            for example in unit:
                example.sentences = [said.get(s, s) for s in example.sentences]
        return unit

    def cut(self, sentences: list[str], core: list[int]) -> tuple[int, list[str]] | None:
        """A window that holds all of these sentences, mostly one that the server would cut."""
        length = self.random.choice([2, 3, 4, 5, 6])
        fits = [at for at in range(max(1, len(sentences) - length + 1)) if not core or (at <= min(core) and max(core) < at + length)]
        served = [at for at in starts(len(sentences)) if not core or (at <= min(core) and max(core) < at + WINDOW)]
        if served and (self.random.random() < 0.7 or not fits):
            fits, length = served, WINDOW
        if not fits:
            return None
        at = self.random.choice(fits)
        return at, sentences[at : at + length]

    def titled(self, title: str | None) -> str | None:
        return title if self.random.random() < 0.92 else None

    def holding(self, row: Any, title: str | None, sentences: list[str], core: list[int], guess: Any = None, twin: int | None = None) -> Example:
        """A window with the rationale, or the whole passage where no window holds it."""
        at, window = self.cut(sentences, core) or (0, sentences)
        return Example(self.titled(title), window, row["claim"], row["label"], [n - at for n in core], guess, twin)

    def near(self, claim: str, sentences: list[str]) -> tuple[int, list[str]]:
        """A window that the server cuts, more often one that shares words with the claim."""
        asked, at = stems(claim), list(starts(len(sentences)))
        if self.random.random() < 0.7:
            at = sorted(at, key=lambda n: -len(asked & stems(" ".join(sentences[n : n + WINDOW]))))[:2]
        first = self.random.choice(at)
        return first, sentences[first : first + WINDOW]

    def silent(self, row: Any, title: str | None, sentences: list[str], guess: Any = None, twin: int | None = None) -> Example | None:
        """A window of the own text without a sentence that decides, or that says much the same."""
        decided = [stems(sentences[n]) for n in row["rationale"]]
        alike = lambda text: any(len(d & s) > 0.5 * min(len(d), len(s)) for s in [stems(text)] if s for d in decided if d)
        free = [at for at in starts(len(sentences)) if not any(n in row["rationale"] or alike(sentences[n]) for n in range(at, min(len(sentences), at + WINDOW)))]
        if not free or not row["rationale"]:
            return None
        at = self.random.choice(free)
        return Example(self.titled(title), sentences[at : at + WINDOW], row["claim"], NEUTRAL, [], guess, twin, unless=row["label"])

    def of(self, row: Any, guess: Any = None, twin: int | None = None) -> Example:
        text = self.docs[row["doc"]]
        if row["label"] == NEUTRAL:
            return Example(self.titled(text["title"]), self.near(row["claim"], text["sentences"])[1], row["claim"], NEUTRAL, [], guess, twin)
        return self.holding(row, text["title"], text["sentences"], row["rationale"], guess, twin)

    def own(self, row: Any) -> list[Example]:
        text = self.docs[row["doc"]]
        if row["label"] != NEUTRAL and self.random.random() < 0.3 and (found := self.silent(row, text["title"], text["sentences"], row["guess"])):
            return [found]
        return [self.of(row, row["guess"])]

    def unit_own(self) -> list[Example]:
        return self.own(self.random.choice(self.plain))

    def unit_inference(self) -> list[Example]:
        return self.own(self.random.choice(self.inferred))

    def twin_of(self, row: Any, claim: str, title: str | None, sentences: list[str], core: list[int]) -> list[Example]:
        """One window under two wordings of a claim."""
        self.next_twin += 1
        if row["label"] == NEUTRAL:
            at, window = self.near(row["claim"], sentences)
            core = []
        else:
            at, window = self.cut(sentences, core) or (0, sentences)
        title = self.titled(title)
        return [Example(title, window, text, row["label"], [n - at for n in core], None, self.next_twin) for text in (row["claim"], claim)]

    def unit_twins(self) -> list[Example]:
        if self.same_edited and self.random.random() < 0.35:
            rows, claim = self.random.choice(self.same_edited)
            row = self.random.choice(rows)
            core = [n for n in row["rationale"] or row["edited"] if n < len(row["sentences"])]
            return self.twin_of(row | {"label": row["label"]}, claim, row["title"], row["sentences"], core)
        row, other = self.random.choice(self.same)
        text, core = self.docs[row["doc"]], sorted({*row["rationale"], *other["rationale"]})
        if row["label"] != NEUTRAL and self.random.random() < 0.2 and (found := self.silent(row | {"rationale": core}, text["title"], text["sentences"])):
            self.next_twin += 1
            found.twin = self.next_twin
            return [found, Example(found.title, found.sentences, other["claim"], NEUTRAL, [], None, found.twin, unless=row["label"])]
        return self.twin_of(row, other["claim"], text["title"], text["sentences"], core)

    def unit_rewordings(self) -> list[Example]:
        while True:
            row = self.random.choice(self.written if self.random.random() < 0.7 else self.inferred)
            if claim := reworded(row["claim"], self.random):
                text = self.docs[row["doc"]]
                return self.twin_of(row, claim, text["title"], text["sentences"], row["rationale"])

    def unit_contrast(self) -> list[Example]:
        """One window of every version of a text."""
        rows = self.random.choice(self.versions)
        touched = sorted({n for row in rows for n in (*row["edited"], *row["rationale"])})
        unit = []
        for row in rows:
            core = [n for n in row["rationale"] or row["edited"] or touched if n < len(row["sentences"])]
            found = self.cut(row["sentences"], [n for n in touched if n < len(row["sentences"])]) or self.cut(row["sentences"], core) or (0, row["sentences"])
            at, window = found
            rationale = [n - at for n in core] if row["label"] != NEUTRAL else []
            unit.append(Example(self.titled(row["title"]), window, row["claim"], row["label"], rationale))
        return unit

    def turnable(self) -> tuple[Any, int, list[str]] | None:
        """A claim with a side that one sentence decides: the row, the place of that sentence in a window, and the window."""
        row = self.random.choice(self.written)
        if row["label"] == NEUTRAL or len(row["rationale"]) != 1:
            return None
        at, window = self.cut(self.docs[row["doc"]]["sentences"], row["rationale"]) or (0, [])
        return (row, row["rationale"][0] - at, window) if window else None

    def unit_directions(self) -> list[Example]:
        """A claim under a text and its opposite, as the claim and its own opposite."""
        while True:
            if not (found := self.turnable()):
                continue
            row, place, window = found
            if row["label"] == REFUTES and row["kind"] != "direction":
                continue
            claim, title = opposite(row["claim"], self.random), self.docs[row["doc"]]["title"]
            if not claim:
                continue
            turned = {SUPPORTS: REFUTES, REFUTES: SUPPORTS}[row["label"]]
            unit = [Example(title, window, row["claim"], row["label"], [place]), Example(title, window, claim, turned, [place])]
            if (said := opposite(window[place], self.random)) and not directions(title or ""):
                # Sentences around it that tell a direction might say the same again.
                kept = [n for n in range(len(window)) if n == place or not directions(window[n])]
                other, place = [said if n == place else window[n] for n in kept], kept.index(place)
                unit += [Example(title, other, row["claim"], turned, [place]), Example(title, other, claim, row["label"], [place])]
            return unit

    def unit_numbers(self) -> list[Example]:
        """A supported claim with a number of its text, and the same with another number in the claim, in the text, and in both."""
        while True:
            found = self.turnable()
            if not found or found[0]["label"] != SUPPORTS:
                continue
            row, place, window = found
            number = shared_number(row["claim"], window[place], self.random)
            if not number or any(number in text for n, text in enumerate([*window, self.docs[row["doc"]]["title"] or ""]) if n != place):
                continue
            other, title = other_number(number, self.random), self.docs[row["doc"]]["title"]
            claim, text = renumbered(row["claim"], number, other), [renumbered(s, number, other) for s in window]
            unit = [Example(title, window, row["claim"], SUPPORTS, [place]), Example(title, window, claim, REFUTES, [place]),
                    Example(title, text, row["claim"], REFUTES, [place]), Example(title, text, claim, SUPPORTS, [place])]
            return unit[:2] if self.random.random() < 0.4 else unit

    def unit_mined(self) -> list[Example]:
        return [self.of(self.random.choice(self.pack["mined"]))]

    def unit_retrieved(self) -> list[Example]:
        """A claim with a text that a search found; most often the window that an earlier verifier took to decide it."""
        row = self.random.choice(self.found)
        text = self.docs[row["doc"]]
        if row["label"] != NEUTRAL or self.random.random() < 0.4:
            return self.own(row | {"guess": None})
        at = row["at"]
        return [Example(self.titled(text["title"]), text["sentences"][at : at + WINDOW], row["claim"], NEUTRAL, [])]

    def unit_asked(self) -> list[Example]:
        """A claim behind a question with what a search found for it."""
        return [self.holding_any(self.random.choice(self.asked))]

    def unit_scifact(self) -> list[Example]:
        """SciFact names every sentence that decides, most of which do alone."""
        return [self.holding_any(self.random.choice(self.pack["scifact"]))]

    def holding_any(self, row: Any) -> Example:
        """A window that the server cuts and that holds a sentence of the rationale (of a silent text: one that comes close), where there is one."""
        if not row["rationale"]:
            return self.of(row)
        text = self.docs[row["doc"]]
        at = self.random.choice([at for at in starts(len(text["sentences"])) if any(at <= n < at + WINDOW for n in row["rationale"])])
        core = [] if row["label"] == NEUTRAL else [n - at for n in row["rationale"] if at <= n < at + WINDOW]
        return Example(self.titled(text["title"]), text["sentences"][at : at + WINDOW], row["claim"], row["label"], core)

    def unit_kept(self) -> list[Example]:
        """A terse claim with a window of a text that it cites; no label. What was said about other texts is not kept: it is often wrong."""
        row = self.random.choice(self.pack["scifact"] if self.random.random() < 0.5 else self.inferred)
        text = self.docs[row["doc"]]
        return [Example(self.titled(text["title"]), self.near(row["claim"], text["sentences"])[1], row["claim"], UNKNOWN)]

    def unit_silence(self) -> list[Example]:
        row = self.random.choice(self.written)
        text = self.docs[self.other_doc(row["claim"], row["doc"])]
        return [Example(self.titled(text["title"]), self.near(row["claim"], text["sentences"])[1], row["claim"], NEUTRAL, [], row["guess"])]

    def name(self, claim: str) -> str | None:
        """A rare word of a claim, most likely a name of what it is about."""
        words = [w for w in re.findall(r"[A-Za-z0-9α-ω][\w-]*", claim) if len(w) > 2 and (symbol(w) or len(w) > 6)]
        rare = [w for w in words if all(len(self.holders.get(stem, ())) <= RARE for stem in stems(w)) and stems(w)]
        return self.random.choice(rare) if rare else None

    def unit_subjects(self) -> list[Example]:
        """A window as it stands, and with a name of the claim replaced by another: the latter is silent."""
        while True:
            row = self.random.choice(self.written)
            name, text = self.name(row["claim"]), self.docs[row["doc"]]
            if not name or row["label"] == NEUTRAL or not self.names[symbol(name)]:
                continue
            stem = name if symbol(name) else name[: max(5, len(name) - 3)]
            cut = self.cut(text["sentences"], row["rationale"])
            if not cut or not any(stem.lower() in text["sentences"][n].lower() for n in row["rationale"]):
                continue
            other = self.random.choice(self.names[symbol(name)]) if self.random.random() < 0.75 else "this"
            if stem.lower() in other.lower() or other.lower() in " ".join([text["title"] or "", *text["sentences"]]).lower() and other != "this":
                continue
            changed = lambda part: re.sub(rf"[\w-]*{re.escape(stem)}[\w-]*", lambda _: other, part, flags=re.IGNORECASE)
            at, window = cut
            return [Example(text["title"], window, row["claim"], row["label"], [n - at for n in row["rationale"]]),
                    Example(changed(text["title"] or ""), [changed(s) for s in window], row["claim"], NEUTRAL, [])]

    def unit_whole(self) -> list[Example]:
        if self.random.random() < 0.5:
            return [self.passage(self.random.choice(self.written))]
        row = self.random.choice(self.random.choice(self.versions))
        return [Example(row["title"], row["sentences"], row["claim"], row["label"], row["rationale"])]

    def unit_trials(self) -> list[Example]:
        return self.draw_trials()

    def unit_general(self) -> list[Example]:
        name = self.random.choices(list(GENERAL), list(GENERAL.values()))[0]
        premise, hypothesis, label = self.random.choice(self.pack["pairs"][name])
        return [Example(None, sentences_of(premise), hypothesis, label)]


def symbol(word: str) -> bool:
    return any(c.isdigit() or c.isupper() for c in word[1:])
