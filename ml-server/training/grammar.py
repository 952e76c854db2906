"""Statements made from word lists, whose relation to each other is known by construction.

They teach what little labelled science cannot: many wordings of the same direction, that a question or an aim asserts
nothing, that an effect on something else says nothing, and when two figures exclude each other. `evaluate.py` measures
these skills on pairs written by hand, with other words and shapes (`probes.json`).
"""

from __future__ import annotations

from random import Random

from data import Label, Pair
from edits import sentence

CAUSES = """
vitamin D supplementation|aerobic exercise|resistance training|a Mediterranean diet|daily aspirin|statin treatment|metformin
oral antibiotics|probiotic capsules|caffeine intake|moderate alcohol use|smoking|sleep restriction|night shift work|bright light therapy
mindfulness training|cognitive behavioural therapy|music lessons|bilingual schooling|smaller classes|homework|video games|screen time
social media use|remote working|flexible hours|a four-day week|performance pay|a higher minimum wage|cash transfers|microcredit
carbon taxation|nitrogen fertiliser|cover crops|no-till farming|crop rotation|drip irrigation|biochar|compost|grazing
wildfire smoke|air pollution|traffic noise|urban trees|green roofs|street lighting|speed limits|cycle lanes|congestion charges
IL-6 signalling|TNF blockade|p53 loss|KRAS mutation|mTOR inhibition|autophagy|DNA methylation|histone acetylation|hypoxia|oxidative stress
high-salt feeding|caloric restriction|intermittent fasting|early breastfeeding|folic acid|iron tablets|zinc lozenges|measles vaccination
hand washing|face masks|school closures|contact tracing|bed nets|deworming|ivermectin|hormone therapy|bariatric surgery|knee arthroscopy
beta blockers|insulin pumps|telemedicine visits|nurse-led follow-up|screening mammography|organic farming|bee pollination|forest thinning
warm water|ocean acidification|coral bleaching|predator removal|stocking density|noise from ships|microplastics|road salt|dam removal
""".strip().replace("\n", "|").split("|")

# (outcome, +1 when more is good, -1 when more is bad, 0 when it is neither)
OUTCOMES = [
    (name, value)
    for value, names in (
        (1, "bone density|insulin sensitivity|memory performance|sleep quality|lung function|reading skills|job satisfaction"
            "|labour productivity|school attendance|exam scores|crop yield|soil fertility|water retention|species richness"
            "|quality of life|life expectancy|wound healing|graft survival|muscle strength|exercise tolerance|vaccine response"
            "|cell survival|mitochondrial function|household income|voter turnout|fish biomass|seedling survival|attention"
            "|mental health|word learning|treatment adherence|glucose tolerance|vaccination coverage|physical fitness"),
        (-1, "blood pressure|mortality|relapse rates|chronic pain|anxiety|depressive symptoms|fatigue|tumour growth"
             "|inflammation|liver fat|cholesterol levels|the risk of stroke|the risk of diabetes|hospital admissions"
             "|infection rates|childhood obesity|absenteeism|staff turnover|unemployment|crime|road accidents|soil erosion"
             "|nitrate leaching|carbon emissions|methane release|pesticide residues|tooth decay|insomnia|stress|falls"
             "|cognitive decline|insulin resistance|kidney damage|heart failure|preterm birth|malaria cases|burnout"),
        (0, "body temperature|heart rate|gene expression|collagen synthesis|T cell counts|neuronal firing|soil pH"
            "|oxygen consumption|food intake|body weight|energy expenditure|cortisol secretion|dopamine release|spending"
            "|working hours|house prices|rents|travel time|canopy cover|root length|egg size|migration|protein synthesis"
            "|cell division|serum ferritin|platelet counts|leaf area|reaction times|pupil size|growth hormone levels"),
    )
    for name in "".join(names).split("|")
]  # fmt: skip

SAID = {
    "up": """{x} increases {y}|{x} raises {y}|{x} leads to higher {y}|{y} increased with {x}|{y} rose after {x}
{x} is associated with increased {y}|{x} was linked to greater {y}|{y} was higher with {x} than without it
{x} resulted in a rise in {y}|there was a positive association between {x} and {y}|{x} significantly increased {y}
with {x}, {y} climbed|{x} drove {y} up|{x} brought about more {y}|{y} was greatest where there was {x}|those exposed to {x} had higher {y}
greater {y} was seen with {x}|{x} elevates {y}|{x} boosted {y}|{x} was followed by an increase in {y}|without {x}, {y} was lower""",
    "down": """{x} decreases {y}|{x} reduces {y}|{x} leads to lower {y}|{y} declined with {x}|{y} fell after {x}
{x} is associated with decreased {y}|{x} was linked to lower {y}|{y} was lower with {x} than without it
{x} resulted in a drop in {y}|there was a negative association between {x} and {y}|{x} significantly reduced {y}
with {x}, {y} dropped|{x} drove {y} down|{x} cut {y}|{x} brought about less {y}|those exposed to {x} had lower {y}
less {y} was seen with {x}|{x} lowers {y}|{x} suppressed {y}|{x} was followed by a decrease in {y}|without {x}, {y} was higher""",
    "none": """{x} has no effect on {y}|{x} did not change {y}|{x} had no significant effect on {y}|{y} was unaffected by {x}
{y} did not differ between {x} and the control condition|no association was found between {x} and {y}
{x} is not associated with {y}|{x} made no difference to {y}|there was no evidence that {x} alters {y}
{y} was similar with and without {x}|{x} failed to change {y}|{y} remained the same under {x}
contrary to our hypothesis, {x} did not change {y}|although earlier work suggested a benefit, {x} had no effect on {y}
neither an increase nor a decrease in {y} was seen with {x}""",
    "some": """{x} affects {y}|{x} influences {y}|{y} is associated with {x}|there is an association between {x} and {y}
{x} changes {y}|{y} depends on {x}|{x} plays a role in {y}|it matters for {y} whether there is {x}|{x} is related to {y}""",
    "not_up": """{x} does not increase {y}|{x} did not lead to higher {y}|{x} is not associated with increased {y}
{x} failed to raise {y}|no increase in {y} was seen with {x}|contrary to expectation, {x} did not increase {y}|{y} was not higher with {x}""",
    "not_down": """{x} does not reduce {y}|{x} did not lower {y}|{x} is not associated with reduced {y}
{x} failed to decrease {y}|no reduction in {y} was seen with {x}|contrary to expectation, {x} did not reduce {y}|{y} was not lower with {x}""",
    "open": """we investigated whether {x} affects {y}|whether {x} increases {y} is unknown|the effect of {x} on {y} is debated
this study examines the relation between {x} and {y}|to determine whether {x} reduces {y}, we ran a randomised trial
{x} may influence {y}, but evidence is lacking|little is known about {x} and {y}|we hypothesised that {x} would increase {y}
it has been proposed that {x} lowers {y}|further trials of {x} should measure {y}|{y} was assessed before and after {x}
does {x} improve {y}?|we compared {y} between people with and without {x}|data on {x} and {y} were collected for two years""",
    "better": """{x} improves {y}|{x} has a beneficial effect on {y}|{x} is good for {y}|{y} improved with {x}""",
    "worse": """{x} worsens {y}|{x} has a harmful effect on {y}|{x} is bad for {y}|{y} got worse with {x}|{x} impairs {y}""",
    "prevents": """{x} protects against {y}|{x} helps to prevent {y}|{x} alleviates {y}|{x} is effective against {y}""",
}  # fmt: skip
WORDINGS = {kind: text.replace("\n", "|").split("|") for kind, text in SAID.items()}

E, C, N = "entailment", "contradiction", "neutral"
FOLLOWS: dict[str, dict[str, Label]] = {
    "up": {"up": E, "down": C, "none": C, "some": E, "not_up": C, "not_down": E},
    "down": {"up": C, "down": E, "none": C, "some": E, "not_up": E, "not_down": C},
    "none": {"up": C, "down": C, "none": E, "some": C, "not_up": E, "not_down": E},
    "some": {"up": N, "down": N, "none": C, "some": E},
    "not_up": {"up": C, "down": N, "none": N, "not_up": E},
    "not_down": {"down": C, "up": N, "none": N, "not_down": E},
    "open": {"up": N, "down": N, "none": N, "some": N, "not_up": N, "not_down": N},
}

OPENINGS = """In a randomised trial of {n} adults,|We found that|Our results show that|In {n} patients,|Across {m} studies,
|After adjustment for confounders,|Over {m} years of follow-up,|These data indicate that|In this cohort,|At the end of the study,
|In mice,|As expected,|Surprisingly,|In a meta-analysis of {m} trials,|Results:|Conclusion:""".replace("\n", "").split("|")
ENDINGS = """ (P < 0.01)| in the intention-to-treat analysis| (n = {n})| (95% CI 1.1 to 2.3)| in older adults| over {m} weeks
| in both sexes| at all three sites|, independently of age| compared with controls| in the main analysis""".replace("\n", "").split("|")
FILLERS = """The study ran for {m} months.|Participants were recruited from {m} centres.|Blood samples were taken every {m} weeks.
|Baseline characteristics were balanced.|The mechanism remains to be clarified.|Adverse events were rare.
|A total of {n} records were analysed.|Measurements were repeated {m} times.|These findings need replication.""".replace("\n", "").split("|")


def _fill(text: str, random: Random) -> str:
    return text.replace("{n}", str(random.randint(18, 4000))).replace("{m}", str(random.randint(2, 48)))


def _state(kind: str, x: str, y: str, random: Random) -> str:
    return random.choice(WORDINGS[kind]).format(x=x, y=y)


def _dressed(statement: str, random: Random, about: tuple[str, str]) -> str:
    """As a passage shows it: with a lead-in, statistics, and often a second sentence that says something else."""
    if random.random() < 0.5:
        statement = f"{_fill(random.choice(OPENINGS), random)} {statement}"
    if random.random() < 0.35 and not statement.endswith("?"):
        statement += _fill(random.choice(ENDINGS), random)
    out = sentence(statement)
    if random.random() < 0.4:
        if random.random() < 0.5:
            other = sentence(_fill(random.choice(FILLERS), random))
        else:
            y = random.choice([o for o, _ in OUTCOMES if o != about[1]])
            other = sentence(_state(random.choice(("up", "down", "none")), about[0], y, random))
        out = f"{out} {other}" if random.random() < 0.5 else f"{other} {out}"
    return out


def _valued(y: str, value: int, hypothesis: str, random: Random) -> tuple[str, str]:
    """Sometimes "improves", "worsens", "protects against" where a direction is meant, as the outcome's worth allows."""
    if value == 0 or hypothesis not in ("up", "down") or random.random() < 0.5:
        return hypothesis, hypothesis
    good = (hypothesis == "up") == (value > 0)
    if good and value < 0 and random.random() < 0.5:
        return hypothesis, "prevents"
    return hypothesis, "better" if good else "worse"


def _beside(statement: str, x: str, y: str, random: Random) -> str:
    """The statement joined to one about another outcome, which must not be mistaken for it."""
    other = random.choice([o for o, _ in OUTCOMES if o != y])
    first, second = random.choice((("raised", "lowered"), ("did not change", "raised"), ("lowered", "left unchanged")))
    short = random.choice((f"it {first} {other}", f"it {second} {other}", f"{other} did not change", f"{other} improved"))
    join = random.choice((", but {}", ", whereas {}", "; {}", " and {}"))
    if random.random() < 0.3:
        return f"although {_state(random.choice(('up', 'down', 'none')), x, other, random)}, {statement}"
    return statement + join.format(short)


def effects(count: int, random: Random) -> list[Pair]:
    """An effect of one thing on another: same, opposite, absent, open, or of something else."""
    pairs = []
    while len(pairs) < count:
        x, (y, value) = random.choice(CAUSES), random.choice(OUTCOMES)
        kind = random.choice(("up", "up", "down", "down", "none", "none", "some", "not_up", "not_down", "open"))
        said, label = random.choice(list(FOLLOWS[kind].items()))
        _, wording = _valued(y, value, said, random)
        premise_wording = _valued(y, value, kind, random)[1]
        statement = _state(premise_wording, x, y, random)
        if random.random() < 0.3 and kind != "open":
            statement = _beside(statement, x, y, random)
        group = random.choice(GROUPS) if random.random() < 0.15 else None
        premise = _dressed(f"in {group}, {statement}" if group else statement, random, (x, y))
        if random.random() < 0.22:
            other_x, (other_y, _) = random.choice(CAUSES), random.choice(OUTCOMES)
            x, y = random.choice(((other_x, y), (x, other_y), (x, other_y)))
            if x in premise.lower() and y in premise.lower():
                continue
            wording, label = said, N
        hypothesis = _state(wording, x, y, random)
        if group and random.random() < 0.5:
            other = random.choice(GROUPS)
            hypothesis = f"in {other}, {hypothesis}"
            label = label if other == group else N
        pairs.append(Pair(premise, sentence(hypothesis), label, "grammar-effects"))
    return pairs


GROUPS = """patients|women|men|teachers|nurses|farmers|children under five|adolescents|older adults|smokers|students|employees
|households|pregnant women|car drivers|urban residents|veterans|athletes|infants|employers""".replace("\n", "").split("|")
DID = """reported headaches|slept less than six hours|had high blood pressure|owned a bicycle|used the internet daily|were overweight
|had been vaccinated|dropped out|took antibiotics|worked from home|ate fish every week|were left-handed|felt lonely|had a relapse
|needed surgery|completed the programme|had normal hearing|lived alone|changed jobs|were anaemic|skipped breakfast""".replace("\n", "").split("|")
MEASURES = {
    "years": "age|follow-up|survival|schooling|time in the job", "kg": "body weight|birth weight|harvest per tree|load",
    "hours": "sleep duration|working week|waiting time|travel time|screen time", "mm": "tumour diameter|soil depth|rainfall",
    "points": "pain score|reading score|anxiety score|satisfaction score", "minutes": "commuting time|operating time|walking time",
    "cm": "tree height|root length|waist circumference", "days": "length of stay|sick leave|time to recovery",
    "mg": "daily dose|sodium intake|caffeine intake", "tonnes": "grain yield|timber stock|annual catch",
}  # fmt: skip
QUANTITIES = [(q, unit) for unit, names in MEASURES.items() for q in names.split("|")]



def _other(n: int, random: Random) -> int:
    return random.choice([m for m in range(4, 97) if abs(m - n) >= 5])


def _another(measure: str, unit: str, random: Random) -> str:
    """Another quantity, half of the time one of the same unit."""
    same = random.random() < 0.5
    return random.choice([q for q, u in QUANTITIES if q != measure and (u == unit or not same)])


def figures(count: int, random: Random) -> list[Pair]:
    """Figures: another number for the same quantity contradicts, any number for another quantity does not."""
    makers = (_shares, _means, _changes)
    pairs = []
    while len(pairs) < count:
        premise, hypothesis, label = random.choice(makers)(random)
        if random.random() < 0.35:
            premise = f"{_fill(random.choice(OPENINGS[:5]), random)} {premise}"
        if random.random() < 0.3:
            premise = f"{sentence(premise)} {_fill(random.choice(FILLERS), random)}"
        pairs.append(Pair(sentence(premise), sentence(hypothesis), label, "grammar-figures"))
    return pairs


THINGS = """blood pressure|exam scores|body weight|income|bone density|hospital stays|sleep|grain yield|growth rates|error rates|travel time
|job satisfaction|survival|anxiety|muscle mass|vocabulary|sick leave|cholesterol|root depth|reaction times|water use|pain|birth weight
""".replace("\n", "").split("|")
ARMS = [*GROUPS, *"""the nap group|the control group|the intervention group|the placebo group|treated mice|wild-type mice|mutant plants
|irrigated plots|dry plots|the warfarin group|the surgery group|urban schools|rural schools|infected fish|healthy fish|the drug group
""".replace("\n", "").split("|")]
MORE = """{a} had higher {t} than {b}|{t} was higher in {a} than in {b}|{a} showed greater {t} than {b}|compared with {b}, {a} had more {t}
|{t} was greater among {a} than among {b}|{t} of {a} exceeded that of {b}""".replace("\n", "").split("|")
LESS = """{a} had lower {t} than {b}|{t} was lower in {a} than in {b}|{a} showed less {t} than {b}|compared with {b}, {a} had reduced {t}
|{t} was smaller among {a} than among {b}|{t} of {a} was below that of {b}""".replace("\n", "").split("|")
SAME = """{t} did not differ between {a} and {b}|{a} and {b} had similar {t}|there was no difference in {t} between {a} and {b}
|{t} was the same in {a} and {b}""".replace("\n", "").split("|")


def comparisons(count: int, random: Random) -> list[Pair]:
    """ "More in A than in B" is "less in B than in A" and excludes the reverse and "no difference"."""
    pairs = []
    for _ in range(count):
        a, b, c = random.sample(ARMS, 3)
        t, u = random.sample(THINGS, 2)
        kind = random.choice(("more", "more", "less", "less", "same"))
        order, reverse = {"more": (MORE, LESS), "less": (LESS, MORE), "same": (SAME, SAME)}[kind]
        say = lambda shapes, a=a, b=b, t=t: random.choice(shapes).format(a=a, b=b, t=t)  # noqa: E731
        ways = [(say(order), E), (say(reverse, b, a), E), (say(order, t=u), N), (say(order, b=c), N)]
        if kind == "same":
            ways += [(say(MORE), C), (say(LESS), C), (say(MORE, b, a), C)]
        else:
            ways += [(say(reverse), C), (say(order, b, a), C), (say(SAME), C)]
        hypothesis, label = random.choice(ways)
        premise = say(order)
        if random.random() < 0.3:
            premise += random.choice((" ({n} versus {m})", " (P < 0.05)", f", but {u} did not differ"))
            if u in hypothesis:
                continue
        if random.random() < 0.3:
            premise = f"{sentence(premise)} {random.choice(FILLERS)}"
        pairs.append(Pair(sentence(_fill(premise, random)), sentence(hypothesis), label, "grammar-comparisons"))
    return pairs


def _shares(random: Random) -> tuple[str, str, Label]:
    group, did, n = random.choice(GROUPS), random.choice(DID), random.randint(3, 96)
    shape = ("{n}% of {g} {d}", "{n} percent of the {g} {d}", "of all {g}, {n}% {d}", "about {n}% of {g} {d}")
    say = lambda n, g, d: random.choice(shape).format(n=n, g=g, d=d)  # noqa: E731
    premise = say(n, group, did)
    what = random.random()
    if what < 0.45:
        g, d = random.choice(
            ((random.choice([g for g in GROUPS if g != group]), did), (group, random.choice([d for d in DID if d != did])))
        )
        return premise, say(random.choice((n, _other(n, random), _other(n, random))), g, d), N
    if what < 0.65:
        return premise, say(_other(n, random), group, did), C
    if what < 0.8:
        return premise, say(n, group, did), E
    m = _other(n, random)
    if random.random() < 0.5 and not 40 <= n <= 60:
        words = (("most", E if n > 50 else C), ("fewer than half of the", E if n < 50 else C),
                 ("a minority of", E if n < 50 else C), ("none of the", C), ("all", C), ("some", E))  # fmt: skip
        word, label = random.choice(words)
        return premise, f"{word} {group} {did}", label
    word, label = random.choice((("more than", E if n > m else C), ("less than", E if n < m else C)))
    return premise, f"{word} {m}% of {group} {did}", label


def _means(random: Random) -> tuple[str, str, Label]:
    (measure, unit), n = random.choice(QUANTITIES), random.randint(5, 95)
    group = random.choice(GROUPS)
    shape = ("the mean {q} of {g} was {n} {u}", "{g} had a mean {q} of {n} {u}", "among {g}, the average {q} was {n} {u}")
    say = lambda q, g, n: random.choice(shape).format(q=q, g=g, n=n, u=unit)  # noqa: E731
    premise = say(measure, group, n)
    what = random.random()
    if what < 0.55:
        q, g = random.choice(
            (
                (_another(measure, unit, random), group),
                (measure, random.choice([g for g in GROUPS if g != group])),
            )
        )
        return premise, say(q, g, random.choice((n, _other(n, random), _other(n, random)))), N
    if what < 0.8:
        return premise, say(measure, group, _other(n, random)), C
    return premise, say(measure, group, n), E


def _changes(random: Random) -> tuple[str, str, Label]:
    measure, unit = random.choice(QUANTITIES)
    a = random.randint(5, 95)
    b = _other(a, random)
    word, other = ("rose", "fell") if b > a else ("fell", "rose")
    premise = random.choice((f"the {measure} {word} from {a} to {b} {unit}", f"the {measure} went from {a} to {b} {unit}"))
    what = random.random()
    if what < 0.3:
        q = _another(measure, unit, random)
        return premise, random.choice((f"the {q} {word} from {a} to {b} {unit}", f"the {q} {other}", f"the {q} {word}")), N
    if what < 0.6:
        return premise, random.choice((f"the {measure} {word}", f"there was a change in the {measure}")), E
    return premise, random.choice((f"the {measure} {other}", f"the {measure} did not change", f"the {measure} {other} from {b} to {a} {unit}")), C
