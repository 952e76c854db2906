"""Second wordings of a claim by rules: a verb or phrase gives way to another of its class, or the sentence turns passive."""

from __future__ import annotations

import random
import re

CLASSES = [
    ["reduces", "lowers", "decreases", "diminishes", "brings down"], ["reduce", "lower", "decrease", "diminish", "bring down"],
    ["reducing", "lowering", "decreasing"], ["a reduction in", "a decrease in", "a drop in", "a decline in"],
    ["increases", "raises", "elevates", "heightens"], ["increase", "raise", "elevate", "heighten"], ["increasing", "raising", "elevating"],
    ["an increase in", "a rise in", "a growth in"], ["leads to", "results in", "brings about", "gives rise to"], ["lead to", "result in", "bring about"],
    ["is associated with", "is linked to", "is tied to", "goes along with", "correlates with"],
    ["are associated with", "are linked to", "are tied to", "go along with", "correlate with"],
    ["promotes", "fosters", "favors", "furthers"], ["promote", "foster", "favor"],
    ["inhibits", "suppresses", "represses", "dampens"], ["inhibit", "suppress", "repress", "dampen"],
    ["activates", "switches on", "turns on", "triggers"], ["activate", "switch on", "turn on", "trigger"],
    ["induces", "triggers", "elicits", "brings on"], ["induce", "trigger", "elicit"], ["induced by", "triggered by", "elicited by"],
    ["improves", "enhances", "ameliorates"], ["improve", "enhance"], ["impairs", "hampers", "compromises"], ["impair", "hamper", "compromise"],
    ["requires", "needs", "depends on"], ["require", "need", "depend on"], ["is required for", "is needed for", "is necessary for"],
    ["prevents", "averts", "forestalls"], ["prevent", "avert", "forestall"], ["protects against", "guards against", "shields against"],
    ["has no effect on", "does not affect", "does not influence", "makes no difference to"],
    ["have no effect on", "do not affect", "do not influence", "make no difference to"],
    ["contributes to", "plays a part in", "plays a role in"], ["contribute to", "play a part in", "play a role in"],
    ["regulates", "controls", "governs"], ["regulate", "control", "govern"], ["is more common in", "is more frequent in", "occurs more often in"],
    ["are more likely to", "have a greater chance to", "more often"], ["are less likely to", "have a smaller chance to", "less often"],
    ["compared with", "relative to", "in comparison with", "versus", "compared to"], ["patients with", "people with", "individuals with"],
    ["higher than", "greater than", "above"], ["lower than", "smaller than", "below"], ["does not", "fails to"], ["do not", "fail to"],
    ["mostly", "mainly", "largely", "chiefly"], ["approximately", "about", "around", "roughly"], ["frequently", "often", "commonly"],
    ["shows", "displays", "exhibits"], ["show", "display", "exhibit"], ["accelerates", "speeds up", "hastens"], ["delays", "slows", "retards"],
    ["predicts", "foretells", "forecasts"], ["predict", "foretell", "forecast"], ["lack of", "absence of"], ["deficiency in", "lack of"],
]
PASSIVE = {"reduces": "reduced", "lowers": "lowered", "decreases": "decreased", "increases": "increased", "raises": "raised", "inhibits": "inhibited",
           "suppresses": "suppressed", "activates": "activated", "promotes": "promoted", "induces": "induced", "improves": "improved", "impairs": "impaired",
           "regulates": "regulated", "prevents": "prevented", "triggers": "triggered", "causes": "caused", "controls": "controlled", "enhances": "enhanced",
           "mediates": "mediated", "predicts": "predicted", "blocks": "blocked", "drives": "driven", "stimulates": "stimulated"}
TURNABLE = re.compile(rf"^([^,;:]{{2,70}}?) ({'|'.join(PASSIVE)}) ([^,;:]{{2,70}})\.$")
LEADING = ("The ", "A ", "An ", "In ", "Both ", "Some ", "Loss ", "Most ", "High ", "Low ", "Each ", "Treatment ", "Blocking ", "Patients ", "People ")


def turned(claim: str) -> str | None:
    """The passive of a short clause with one verb of effect."""
    found = TURNABLE.match(claim)
    if not found or re.search(r"\b(by|that|which|who|not|when|if|because|but|than|while)\b", claim):
        return None
    agent, verb, patient = found.groups()
    agent = agent[0].lower() + agent[1:] if claim.startswith(LEADING) else agent
    return f"{patient[0].upper()}{patient[1:]} {'are' if re.search(r'(?<!s)s$', patient.split(' in ')[0].split(' of ')[0]) else 'is'} {PASSIVE[verb]} by {agent}."


def reworded(claim: str, chosen: random.Random) -> str | None:
    """The claim in other words with the same meaning, if a rule applies."""
    passive = turned(claim) if chosen.random() < 0.4 else None
    if passive:
        return passive
    found = [(phrase, others) for others in CLASSES for phrase in others if re.search(rf"\b{phrase}\b", claim)]
    if not found:
        return turned(claim)
    text = claim
    for phrase, others in chosen.sample(found, min(len(found), chosen.randint(1, 2))):
        text = re.sub(rf"\b{phrase}\b", chosen.choice([other for other in others if other != phrase]), text, count=1)
    return text if text != claim else None
