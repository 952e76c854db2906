"""Opposites by rule: a word of direction or a number gives way to another, so that a claim changes sides under a text that hardly changes."""

from __future__ import annotations

import random
import re

OPPOSITES = [
    ("increase", "decrease"), ("increases", "decreases"), ("increased", "decreased"), ("increasing", "decreasing"), ("higher", "lower"), ("greater", "smaller"), ("more", "less"), ("raises", "lowers"), ("raised", "lowered"), ("raising", "lowering"), ("elevated", "reduced"), ("elevates", "reduces"),
    ("rise", "fall"), ("rises", "falls"), ("rose", "fell"), ("rising", "falling"), ("improve", "worsen"), ("improves", "worsens"), ("improved", "worsened"),
    ("improving", "worsening"), ("improvement", "worsening"), ("better", "worse"), ("enhance", "impair"), ("enhances", "impairs"), ("enhanced", "impaired"),
    ("enhancing", "impairing"), ("promote", "inhibit"), ("promotes", "inhibits"), ("promoted", "inhibited"), ("promoting", "inhibiting"),
    ("activate", "inhibit"), ("activates", "inhibits"), ("stimulates", "suppresses"), ("upregulated", "downregulated"), ("up-regulated", "down-regulated"),
    ("upregulates", "downregulates"), ("upregulation", "downregulation"), ("longer", "shorter"), ("faster", "slower"), ("larger", "smaller"), ("stronger", "weaker"),
    ("positively", "negatively"), ("accelerates", "delays"), ("accelerated", "delayed"), ("protective", "harmful"), ("reduce", "increase"),
    ("reduces", "increases"), ("reduced", "increased"), ("reducing", "increasing"), ("reduction", "increase"), ("lower", "raise"), ("decline", "increase"),
    ("declined", "increased"), ("declines", "increases"), ("lowers", "raises"), ("fewer", "more"), ("attenuated", "amplified"), ("suppress", "stimulate"),
    ("suppresses", "stimulates"), ("diminished", "increased"), ("diminishes", "increases"), ("aggravates", "relieves"), ("aggravated", "relieved"),
    ("favors", "disfavors"), ("exceeded", "fell short of"), ("majority", "minority"), ("frequent", "infrequent"),
]
OTHER: dict[str, list[str]] = {}
for one, other in OPPOSITES:
    OTHER.setdefault(one, []).append(other)
    OTHER.setdefault(other, []).append(one)
OTHER["lower"] = ["higher"]
DIRECTED = re.compile(rf"(?<![\w-])({'|'.join(sorted(map(re.escape, OTHER), key=len, reverse=True))})(?![\w-])", re.IGNORECASE)
DENIED = re.compile(r"\b(not?|without|neither|nor|never|unchanged|similar|same|equal|unaffected|independent|unrelated|fail(?:s|ed)?|lack(?:s|ed)?|whether|than expected|n't)\b", re.IGNORECASE)
NUMBER = re.compile(r"(?<![\w.,/:–-])\d+(?:\.\d+)?(?![\w/:–-]|[.,]\d)")

NAMED = re.compile(r"(?:\b[A-Z]\w*|\b(?:under|over|above|below|least|most|than|within|between|to|exceed(?:s|ed)?|class|day|type|phase|stage|grade|level|group|position|residue|chromosome|exon|loop|step|table|figure|claim)s?)\s$")
"""What makes the number after it a name or a bound, which another number may keep."""


def directions(text: str) -> int:
    """How many words of direction a text has."""
    return len(DIRECTED.findall(text))


def opposite(text: str, chosen: random.Random) -> str | None:
    """The text with its only word of direction turned round; `None` if there is none, more than one, or something denied."""
    if directions(text) != 1 or DENIED.search(text):
        return None
    found = DIRECTED.search(text)
    assert found
    other = chosen.choice(OTHER[found[0].lower()])
    return text[: found.start()] + (other.capitalize() if found[0][0].isupper() else other) + text[found.end() :]


def shared_number(claim: str, sentence: str, chosen: random.Random) -> str | None:
    """A number that both state once, and that is not a year, part of a name (“Day 14”), or a bound (“over 12”)."""
    asked, said = NUMBER.findall(claim), NUMBER.findall(sentence)
    found = [number for number in dict.fromkeys(asked) if asked.count(number) == 1 == said.count(number) and not 1800 <= float(number) <= 2100
             and not NAMED.search(claim[: claim.index(number)])]
    return chosen.choice(found) if found else None


def renumbered(text: str, number: str, other: str) -> str:
    return NUMBER.sub(lambda found: other if found[0] == number else found[0], text)


def other_number(number: str, chosen: random.Random) -> str:
    """Another number of the same form, between a third and three times as large."""
    places = len(number.partition(".")[2])
    value = float(number)
    while True:
        factor = chosen.choice([chosen.uniform(0.34, 0.85), chosen.uniform(1.18, 3.0)])
        found = f"{value * factor if value else chosen.uniform(1, 20):.{places}f}"
        if found != number:
            return found
