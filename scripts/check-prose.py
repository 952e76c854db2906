#!/usr/bin/env python3
"""Finds phrases that don't belong in Lyra's prose: translated idioms, and British spelling.

    scripts/check-prose.py [PATH...]      prints place, phrase and what to write instead; exits 1 if it finds any

It reads comments and string literals of source code, and Markdown and text files whole. Text in backticks, format
arguments, code blocks of Markdown, and Japanese text don't count. A line that needs such a phrase, such as a test input or a
quotation, has `prose: ok` at its end, or in the line above it.
"""

import re
import subprocess
import sys
from pathlib import Path

# Phrase (a regular expression, ignoring case) and what to write instead.
PHRASES = [
    (r"nobody|no-body", "no one, nothing, or what is missing"),
    (r"who(so)?ever|whomever", "the caller, the user, the process that …"),
    (r"anew", "again, or a verb with re-: rebuild, reload, re-embed"),
    (r"(?<!there )(is|are|was|were) none(?! of)", "missing, invalid, unset, not one"),
    (r"that is none of", "not part of, not valid"),
    (r"(?<!there )(is|are) no (address|answer|backend|code|color|corpus|cursor|date|document|domain|error|field|file|"
     r"folder|host|json|key|name|number|object|option|origin|pattern|pdf|provider|range|setting|source|table|task|"
     r"terminal|text|time|toml|token|url|utf-8|value|yaml)\b", "is not a …, is not valid …, invalid …"),
    (r"(left|leaves?|leaving) (\w+ )?alone", "cooling down, unchanged, skipped"),
    (r"(wants?|waits?|waiting|wanted|waited) (for )?a person", "requires a person (CAPTCHA, consent, login)"),
    (r"(is|are|was|were|be) told(?! (to|apart))", "reported, detected, shown"),
    (r"told apart", "distinguished"),
    (r"(is|are|was|were|be) had", "obtained, fetched, available"),
    (r"in force|into force", "active, effective"),
    (r"(for|in) want of", "without, for lack of"),
    (r"mend(s|ed|ing)?", "fix, repair"),
    (r"nothing without (its|their) scripts", "JavaScript-rendered"),
    (r"so many (an?|per) (second|minute|hour|day)", "N per hour"),
    (r"good manners", "etiquette"),
    (r"(known|said|asked|read) of (it|them|an?|the)", "known about, said about, asked for, read from"),
    (r"as it were|so to speak|by the way", "delete it"),
    (r"without a word", "silently"),
    (r"by which is meant|that is to say", "that is, i.e."),
    (r"judgement(s)?", "judgment"),
    (r"\w*(?<!prom)(behaviour|neighbour|favour|honour|colour)\w*", "-or: behavior, neighbor, color"),
    (r"\w*(normalis|tokenis|quantis|standardis|optimis|serialis|recognis|organis|initialis|authoris)(?!m)\w*", "-ize"),
    (r"labell(ed|ing)", "labeled, labeling"),
    (r"analys(e|ed|ing)", "analyze"),
    (r"centred?|licences?|licenced|catalogues?|artefacts?|misspelt|whilst", "American spelling"),
]
COMPILED = [(re.compile(rf"(?<![\w-]){phrase}(?![\w-])", re.IGNORECASE), instead) for phrase, instead in PHRASES]
ANY = re.compile(rf"(?<![\w-])(?:{'|'.join(phrase for phrase, _ in PHRASES)})(?![\w-])", re.IGNORECASE)

MARK = "prose: ok"
WHOLE = {".md", ".txt"}
SLASHES = {".rs", ".cu", ".mjs", ".cpp", ".h"}
HASHES = {".py", ".sh", ".toml", ".yaml", ".yml"}
# Inputs of tests, and this list of phrases.
DATA = re.compile(r"(^|/)(fixtures|golden|danger|tests/samples)/|(^|/)LICENSE|^scripts/check-prose\.py$")
# The word lists of the text analysis and sample sentences in its tests: only their comments are prose.
WORDS = re.compile(r"^orchestrator/crates/text/")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")


def comment(line: str, marker: str) -> tuple[str, str]:
    """Code and comment of a line. A marker inside a string or a URL does not start a comment."""
    bare = STRING.sub(lambda found: " " * len(found.group(0)), line)
    found = re.search(rf"(?<![:\w]){re.escape(marker)}", bare)
    return (line, "") if found is None else (line[: found.start()], line[found.start() + len(marker) :])


def prose(path: Path, text: str):
    """The numbered parts of a file that people read."""
    fenced = continued = False
    marker = "//" if path.suffix in SLASHES else "#"
    for number, line in enumerate(text.splitlines(), 1):
        if path.suffix in WHOLE:
            if line.lstrip().startswith("```"):
                fenced = not fenced
            elif not fenced:
                yield number, line
            continue
        code, said = comment(line, marker)
        strings = STRING.findall(code)
        # The first, middle and last lines of a string that continues with a backslash.
        before, quote, after = STRING.sub("", code).partition('"')
        if continued:
            strings.append(before)
        elif quote:
            strings.append(after)
        continued = code.rstrip().endswith("\\") and (continued != bool(quote))
        data = re.search(r"\b(SELECT|INSERT|UPDATE|DELETE)\b", code) or WORDS.search(path.as_posix())
        yield number, " ¦ ".join([] if data else strings) + " ¦ " + said


def findings(path: Path):
    """Line, phrase and replacement of every hit."""
    try:
        text = path.read_text(encoding="utf-8")
    except (UnicodeDecodeError, OSError):
        return
    if not ANY.search(text):
        return
    lines = text.splitlines()
    for number, said in prose(path, text):
        marked = lines[number - 1], lines[number - 2] if number > 1 else ""
        if JAPANESE.search(said) or any(MARK in line for line in marked):
            continue
        plain = re.sub(r"`[^`]*`|\]\([^)]*\)|\{\w+\}|\S+://\S+", "``", said)
        if not ANY.search(plain):
            continue
        for pattern, instead in COMPILED:
            for found in pattern.finditer(plain):
                yield number, found.group(0), instead


def main() -> int:
    listed = subprocess.run(["git", "ls-files", *sys.argv[1:]], capture_output=True, text=True, check=True).stdout
    hits = 0
    for name in listed.splitlines():
        path = Path(name)
        if path.suffix not in WHOLE | SLASHES | HASHES and name != ".ci/run" or DATA.search(name):
            continue
        for number, phrase, instead in findings(path):
            print(f"{name}:{number}: “{phrase}”; write: {instead}")
            hits += 1
    if hits:
        print(f"{hits} phrases to replace, see scripts/check-prose.py", file=sys.stderr)
    return 1 if hits else 0


if __name__ == "__main__":
    sys.exit(main())
