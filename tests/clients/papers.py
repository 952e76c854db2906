"""Text of PDF files: Lyra beside pdftotext and PyMuPDF, on the same files.

    apt-get install poppler-utils; pip install pymupdf
    cargo build --release -p lyra-web --example pdf-text
    python tests/clients/papers.py FOLDER... [--before PROGRAM] [--rounds 3] [--files]

A FOLDER holds articles as PDF. The two other tools are no truth: they keep page headers, line numbers, and divided words,
which Lyra removes. Before texts are compared, divided words are joined and ligatures written out in all of them. `words` is
the F1 of their words, whatever their order, `pairs` that of words with their right neighbor, which falls when columns or
captions are mixed into the text. Both are means over files, and the last line has the two other tools against each other.

Pages per second are of processor time, the best of `--rounds` runs over all files in one process (pdftotext needs one per
file); memory is the most that a process had. A tool that is absent is skipped, and the reason printed.
"""

import argparse
import collections
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# What PyMuPDF does, in a process of its own, so that its time and memory are only that.
PYMUPDF = """
import json, sys, pymupdf
for path in sys.stdin.read().splitlines():
    with pymupdf.open(path) as file:
        print(json.dumps({"pages": len(file), "text": "\\n".join(page.get_text() for page in file)}))
"""


def run(command, said=""):
    """Standard output, seconds of processor time, and peak memory in MB of a process."""
    with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile("w+") as out:
        given.write(said)
        given.seek(0)
        process = subprocess.Popen(command, stdin=given, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"{command[0]} ended with {process.returncode}")
        out.seek(0)
        return out.read(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def lyra(program):
    def texts(files):
        out, seconds, memory = run([program], "".join(f"{file}\n" for file in files))
        found = [json.loads(line) for line in out.splitlines()]
        for file, read in zip(files, found):
            if "error" in read:
                print(f"  Lyra rejects {file.name}: {read['error']}", file=sys.stderr)
        return [read.get("text", "") for read in found], seconds, memory

    return texts


def pdftotext(files):
    found, seconds, memory = [], 0.0, 0.0
    for file in files:
        text, took, most = run(["pdftotext", "-enc", "UTF-8", str(file), "-"])
        found.append(text)
        seconds, memory = seconds + took, max(memory, most)
    return found, seconds, memory


def pymupdf(files):
    out, seconds, memory = run([sys.executable, "-c", PYMUPDF], "".join(f"{file}\n" for file in files))
    return [json.loads(line)["text"] for line in out.splitlines()], seconds, memory


def pages(files):
    out, _, _ = run([sys.executable, "-c", PYMUPDF], "".join(f"{file}\n" for file in files))
    return sum(json.loads(line)["pages"] for line in out.splitlines())


def words(text):
    text = unicodedata.normalize("NFKC", text.replace("\u00ad", ""))
    text = re.sub(r"(?<=[a-z])[-\u2010]\s*\n\s*(?=[a-z])", "", text)
    return re.findall(r"[^\W_]+", text.lower())


def f1(first, second):
    first, second = collections.Counter(first), collections.Counter(second)
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 1.0


def pairs(words):
    return list(zip(words, words[1:]))


def mean(values):
    return sum(values) / len(values) if values else float("nan")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--program", default=ROOT / "target/release/examples/pdf-text", type=Path)
    parser.add_argument("--before", type=Path, help="an earlier build of the same program")
    parser.add_argument("--rounds", default=3, type=int)
    parser.add_argument("--files", action="store_true", help="figures of each file")
    args = parser.parse_args()
    files = sorted(file for folder in args.folders for file in folder.rglob("*.pdf"))
    if not files:
        raise SystemExit(f"there is no PDF in {', '.join(map(str, args.folders))}")
    tools = {"Lyra": lyra(args.program)} | ({"Lyra before": lyra(args.before)} if args.before else {})
    others = {}
    if shutil.which("pdftotext"):
        others["pdftotext"] = pdftotext
    else:
        print("pdftotext is skipped: it is not on the path (Debian's poppler-utils has it)")
    # Importing it here would count in the memory of every process that this one starts.
    if importlib.util.find_spec("pymupdf"):
        others["PyMuPDF"] = pymupdf
    else:
        print("PyMuPDF is skipped: this Python does not have it (pip install pymupdf)")
    if not others:
        print("skipped: there is no other tool to compare Lyra with")
        return
    count = pages(files) if "PyMuPDF" in others else None
    texts, costs = {}, {}
    for name, read in (tools | others).items():
        runs = [read(files) for _ in range(args.rounds)]
        texts[name] = [words(text) for text in runs[0][0]]
        costs[name] = (min(seconds for _, seconds, _ in runs), max(memory for _, _, memory in runs))
    print(f"{len(files)} files" + (f", {count} pages" if count else ""))
    for name, (seconds, memory) in costs.items():
        speed = f"{count / seconds:7.1f} pages/s" if count else f"{seconds:7.2f} s"
        print(f"  {name:12} {speed}  {memory:6.0f} MB at most")
    compared = [(name, other) for other in others for name in tools]
    compared += [tuple(others)] if len(others) == 2 else []
    for name, other in compared:
        figures = [
            (f1(own, theirs), f1(pairs(own), pairs(theirs))) for own, theirs in zip(texts[name], texts[other])
        ]
        of_words, of_pairs = mean([figure[0] for figure in figures]), mean([figure[1] for figure in figures])
        print(f"  {name:12} against {other:10} words {of_words:.4f}  pairs {of_pairs:.4f}")
        if args.files:
            for file, (of_words, of_pairs) in zip(files, figures):
                print(f"    {file.name:40} words {of_words:.4f}  pairs {of_pairs:.4f}")


if __name__ == "__main__":
    main()
