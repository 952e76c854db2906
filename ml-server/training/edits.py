"""Edits of scientific sentences whose effect on the meaning is known."""

from __future__ import annotations

import re
from random import Random

ANTONYMS = """
increase/decrease increases/decreases increased/decreased increasing/decreasing higher/lower greater/smaller
more/less improve/worsen improves/worsens improved/worsened enhance/impair enhances/impairs enhanced/impaired
promote/inhibit promotes/inhibits promoted/inhibited activate/suppress activates/suppresses activated/suppressed
induces/prevents induced/prevented positive/negative positively/negatively upregulated/downregulated
upregulates/downregulates upregulation/downregulation up-regulated/down-regulated presence/absence with/without
effective/ineffective longer/shorter faster/slower early/late gain/loss beneficial/harmful sufficient/insufficient
sensitive/resistant elevated/reduced stimulates/blocks stimulated/blocked accelerates/delays accelerated/delayed
essential/dispensable required/unnecessary common/rare strong/weak better/worse high/low largest/smallest
strengthens/weakens raises/lowers rose/fell facilitates/hinders before/after similar/different safe/unsafe
susceptible/resistant dependent/independent most/few always/never gains/losses succeeded/failed protective/harmful
highest/lowest increasingly/decreasingly overexpression/depletion activation/inhibition activator/inhibitor
""".split()
OPPOSITE = {a: b for pair in ANTONYMS for a, b in (pair.split("/"), pair.split("/")[::-1])}
# Not inside compounds such as "diet-induced".
ANTONYM = re.compile(r"(?<![\w-])(" + "|".join(sorted(map(re.escape, OPPOSITE), key=len, reverse=True)) + r")(?![\w-])", re.I)

# Verbs whose negation turns the statement round, with the bare form that "does not" needs.
VERBS = {
    "increases": "increase", "decreases": "decrease", "reduces": "reduce", "improves": "improve", "causes": "cause",
    "promotes": "promote", "inhibits": "inhibit", "regulates": "regulate", "induces": "induce", "leads": "lead",
    "plays": "play", "requires": "require", "affects": "affect", "predicts": "predict", "contributes": "contribute",
    "enhances": "enhance", "prevents": "prevent", "activates": "activate", "suppresses": "suppress", "binds": "bind",
    "interacts": "interact", "protects": "protect", "mediates": "mediate", "controls": "control", "depends": "depend",
    "correlates": "correlate", "results": "result", "influences": "influence", "provides": "provide",
}  # fmt: skip
VERB = re.compile(r"\b(" + "|".join(VERBS) + r")\b")
AUXILIARY = re.compile(r"\b(is|are|was|were|can|could|does|do|did|has been|have been)\b(?! not)")
NOT = re.compile(r"\b(is|are|was|were|can|could|has been|have been) not\b")
NO_EFFECT = re.compile(r"\bno (?:significant )?(effect|association|difference|evidence|correlation|relationship)\b")
AN_EFFECT = re.compile(r"\ba(?: significant| strong| clear|n)? (effect|association|difference|correlation)\b")

LEAD_IN = re.compile(
    r"^(?:(?:in (?:this|the present|the current|our) (?:study|work|paper|report|analysis)|here|moreover|furthermore"
    r"|however|in addition|additionally|thus|therefore|hence|taken together|overall|in conclusion|in summary|notably"
    r"|importantly|interestingly|finally|consequently|conversely|by contrast|in contrast),?"
    r"|(?:conclusions?|results?|findings|interpretation|discussion|background|objectives?)\b\s*:?"
    r"|(?:we|it was|the authors?) (?:\w+ )?(?:show|showed|find|found|report|reported|demonstrate|demonstrated|conclude"
    r"|concluded|suggest|observed|shown) that"
    r"|(?:these|our|the|present) (?:\w+ )?(?:results|findings|data|study|observations|experiments) "
    r"(?:\w+ )?(?:show|suggest|indicate|demonstrate|reveal|support|confirm|imply)(?:s|ed)?(?: the idea)?(?: that)?)\s+",
    re.I,
)
BRACKETS = re.compile(r"\s*[(\[][^()\[\]]*[)\]]")
TRAILING = re.compile(r", (?:suggesting|indicating|implying|which|whereas|while|although|but|thereby|resulting)\b.*?(?=\.?$)")
LEADING_PHRASE = re.compile(r"^(?:In|After|During|Among|Using|By|At|With|Following|Despite) [^,]{5,60}, (?=\w)")
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]*[A-Za-z])")
THAN_IN = re.compile(
    r"^(?P<what>.{8,120}?) (?P<be>was|were|is|are) (?P<how>(?:significantly |markedly |much )?)"
    r"(?P<word>higher|lower|greater|smaller|longer|shorter|faster|slower|more common|less common) "
    r"(?P<prep>in|for|with|among) (?P<a>[^,;]{3,70}?) than (?P=prep) (?P<b>[^,;.]{3,70})\.?$"
)
COMPARED = {"more common": "less common", "less common": "more common"}


def sentence(text: str) -> str:
    """Upper-case first letter, full stop at the end."""
    text = " ".join(text.split()).strip(" ,;:")
    if not text:
        return ""
    return text[0].upper() + text[1:] + ("" if text[-1] in ".?!" else ".")


def plain(text: str) -> str:
    """Without "In this study, we show that"."""
    for _ in range(3):
        text = LEAD_IN.sub("", text).strip()
    return sentence(text)


def shorten(text: str, random: Random) -> str:
    """Drops brackets, a leading circumstance or a trailing clause: what remains is still said."""
    out = BRACKETS.sub("", text)
    if random.random() < 0.7:
        out = TRAILING.sub("", out)
    if random.random() < 0.4:
        out = LEADING_PHRASE.sub("", out)
    return sentence(out) if len(out) > 30 else text


def _swap(match: re.Match[str], new: str) -> str:
    old = match.group(0)
    return new.capitalize() if old[:1].isupper() else new


def antonym(text: str, random: Random) -> str | None:
    found = [m for m in ANTONYM.finditer(text) if text[: m.start()].count("(") == text[: m.start()].count(")")]
    if not found:
        return None
    m = random.choice(found)
    return text[: m.start()] + _swap(m, OPPOSITE[m.group(0).lower()]) + text[m.end() :]


def negate(text: str, random: Random) -> str | None:
    """Adds or removes one negation."""
    for pattern, put in ((NOT, r"\1"), (NO_EFFECT, r"a significant \1")):
        if pattern.search(text):
            return pattern.sub(put, text, count=1)
    ways = []
    if m := AUXILIARY.search(text):
        ways.append(text[: m.end()] + " not" + text[m.end() :])
    if m := VERB.search(text):
        ways.append(text[: m.start()] + "does not " + VERBS[m.group(1)] + text[m.end() :])
    if m := AN_EFFECT.search(text):
        ways.append(text[: m.start()] + "no " + m.group(1) + text[m.end() :])
    return random.choice(ways) if ways else None


def flip(text: str, random: Random) -> str | None:
    """One change that turns the statement into its opposite, or None."""
    ways = [antonym, negate] if random.random() < 0.6 else [negate, antonym]
    return next((out for way in ways if (out := way(text, random)) and out != text), None)


def renumber(text: str, random: Random) -> str | None:
    """One figure replaced by a clearly different one."""
    found = [m for m in NUMBER.finditer(text) if text[m.start() - 2 : m.start()] not in ("< ", "> ", "= ")]
    if not found:
        return None
    m = random.choice(found)
    value = float(m.group(0))
    factor = random.choice((0.3, 0.5, 0.6, 1.5, 1.8, 2.5))
    if 1800 < value < 2100:
        new = str(int(value) + random.choice((-12, -7, 5, 9)))
    elif "." in m.group(0):
        new = f"{value * factor + 0.1:.{len(m.group(0).split('.')[1])}f}"
    else:
        new = str(max(1, round(value * factor)) + (1 if value < 4 else 0))
    return None if new == m.group(0) else text[: m.start()] + new + text[m.end() :]


def turned(text: str) -> tuple[str, str] | None:
    """For "A was higher in x than in y": the same said of y, and the opposite said of y."""
    m = THAN_IN.match(text)
    if not m:
        return None
    word = m["word"]
    other = COMPARED.get(word) or OPPOSITE[word]
    ends = f"{m['prep']} {m['b'].strip()} than {m['prep']} {m['a'].strip()}."
    start = f"{m['what']} {m['be']} {m['how']}"
    return f"{start}{other} {ends}", f"{start}{word} {ends}"
