"""Main text of web pages: Lyra beside trafilatura, on the same bytes.

    pip install trafilatura lxml_html_clean
    cargo build --release -p lyra-web --example main-text
    python tests/clients/extraction.py FOLDER... [--half development|validation] [--variant nameless|short] [--misses]

A FOLDER with `evaldata.json` is a set like trafilatura's own: each page names chunks that belong to its main text (`with`)
and chunks that do not (`without`). A chunk counts as found when it stands in the text, after white space is made single.
Precision, recall and F1 are of all chunks together, as in that project's evaluation. A FOLDER with `test-pages` is a set like
Readability's: the expected text is there whole, and the figure is the mean F1 of words over the pages.

Sets with chunks are split by site into two halves, so that rules can be written on one half and measured on the other.
`--variant` changes the pages first: `nameless` removes classes and ids, `short` removes all paragraphs from the elements of
the `with` chunks but those that hold one. The paired difference of F1 has a 95 % bootstrap interval over pages.
`--misses` lists what Lyra gets wrong, in the development half only.
"""

import argparse
import collections
import gzip
import hashlib
import json
import random
import re
import resource
import subprocess
import tempfile
import time
import urllib.parse
from pathlib import Path

from lxml import html as lxml_html
import trafilatura

ROOT = Path(__file__).resolve().parents[2]
# What trafilatura's own evaluation sets.
OPTIONS = {"include_comments": False, "include_tables": True, "include_formatting": False}
TOOLS = {
    "trafilatura": lambda page: trafilatura.extract(page, **OPTIONS) or "",
    "trafilatura fast": lambda page: trafilatura.extract(page, fast=True, **OPTIONS) or "",
}


def lyra(program, pages, addresses):
    """Texts and seconds of processor time of `pages`, in the order given."""
    names = "\n".join(f"{page}\t{address}" for page, address in zip(pages, addresses))
    begin = child_seconds()
    out = subprocess.run([program], input=names, stdout=subprocess.PIPE, text=True, check=True).stdout
    texts = [json.loads(line)["text"] for line in out.splitlines()]
    assert len(texts) == len(pages), f"{program} gave {len(texts)} texts for {len(pages)} pages"
    return texts, child_seconds() - begin


def child_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def python(extract, pages):
    texts, begin = [], time.process_time()
    for page in pages:
        texts.append(extract(read(page)))
    return texts, time.process_time() - begin


def read(page):
    data = page.read_bytes()
    return gzip.decompress(data) if page.suffix == ".gz" else data


def single(text):
    return re.sub(r"\s+", " ", text).strip()


def site(address):
    """The registrable domain, roughly: pages of one site, or of one host of blogs, stay in one half."""
    if "::" in address:
        host = address.split("::")[1].split("-")[0].removesuffix(".html")
    else:
        host = urllib.parse.urlsplit(address).hostname or address
    labels = host.split(".")
    return ".".join(labels[-3:] if len(labels[-1]) == 2 and len(labels[-2]) <= 3 else labels[-2:])


def half(address):
    digest = hashlib.sha256(site(address).encode()).digest()
    return "development" if digest[-1] % 2 == 0 else "validation"


def chunks(entry, text):
    """Right, missing and unwanted chunks."""
    text = single(text)
    missing = [chunk for chunk in entry["with"] if single(chunk) not in text]
    unwanted = [chunk for chunk in entry["without"] if single(chunk) in text]
    return len(entry["with"]) - len(missing), missing, unwanted


def words(text):
    return collections.Counter(re.findall(r"[^\W_]+", text.lower()))


def word_f1(text, expected):
    found, expected = words(text), words(expected)
    total = found.total() + expected.total()
    return 2 * (found & expected).total() / total if total else 1.0


def nameless(tree, _entry):
    for node in tree.iter(lxml_html.etree.Element):
        for name in ("class", "id"):
            node.attrib.pop(name, None)
    return True


def short(tree, entry):
    """Whether at least two of the chunks stand in paragraphs, so that the others could be removed."""
    wanted = [single(chunk) for chunk in entry["with"]]
    paragraphs = {node: single(node.text_content()) for node in tree.iter("p")}
    holders = [node for node, text in paragraphs.items() if any(chunk in text for chunk in wanted)]
    if len(holders) < 2:
        return False
    for parent in {node.getparent() for node in holders}:
        for node in parent.findall("p"):
            if node not in holders:
                node.drop_tree()
    text = single(tree.text_content())
    entry["with"] = [chunk for chunk in entry["with"] if single(chunk) in text]
    return True


VARIANTS = {"nameless": nameless, "short": short}


def varied(folder, entries, variant, out):
    """The entries of the pages that `variant` could change, which are written to the folder `out`."""
    changed = {}
    for number, (address, entry) in enumerate(entries.items()):
        entry = dict(entry)
        tree = trafilatura.utils.load_html(read(folder / entry["file"]))
        if VARIANTS[variant](tree, entry):
            entry["file"] = f"{number}.html"
            (out / entry["file"]).write_bytes(lxml_html.tostring(tree, encoding="utf-8", doctype="<!doctype html>"))
            changed[address] = entry
    return changed


def f1(right, missing, unwanted):
    return 2 * right / max(1, 2 * right + missing + unwanted)


def interval(first, second):
    """Difference of F1 between two lists of counts a page, with its 95 % bootstrap interval over pages."""
    total = lambda counts, places: f1(*(sum(counts[at][kind] for at in places) for kind in range(3)))
    pages, rng = range(len(first)), random.Random(1)
    draws = [rng.choices(pages, k=len(first)) for _ in range(4_000)]
    found = sorted(total(first, draw) - total(second, draw) for draw in draws)
    return total(first, pages) - total(second, pages), found[100], found[-100]


def with_chunks(folder, programs, only, misses, variant):
    title = f"{folder.name}, {variant}" if variant else folder.name
    entries = json.loads((folder / "evaldata.json").read_text())
    with tempfile.TemporaryDirectory() as out:
        if variant:
            entries, folder = varied(folder, entries, variant, Path(out)), Path(out)
        compared = compare(title, folder, entries, programs, only, misses)
    if only is None:
        print(f"\nBoth halves: {len(entries)} pages")
    for name, counts in compared.items():
        figures = f1(*(sum(count[kind] for count in counts) for kind in range(3)))
        print(f"  {name:17} F1 {figures:.3f}", end="")
        if name != "Lyra":
            less, low, high = interval(compared["Lyra"], counts)
            print(f"  Lyra's F1 less this one: {less:+.3f} ({low:+.3f} to {high:+.3f})", end="")
        print()


def compare(title, folder, entries, programs, only, misses):
    """Counts of right, missing and unwanted chunks of every page, by tool."""
    compared = collections.defaultdict(list)
    for part in ["development", "validation"] if only is None else [only]:
        addresses = [address for address in entries if half(address) == part]
        items = [entries[address] for address in addresses]
        pages = [folder / entry["file"] for entry in items]
        print(f"\n{title}, {part} half: {len(items)} pages")
        for name, (texts, seconds) in results(programs, pages, addresses):
            right = missing = unwanted = 0
            for entry, text in zip(items, texts):
                good, lost, wrong = chunks(entry, text)
                compared[name].append((good, len(lost), len(wrong)))
                right, missing, unwanted = right + good, missing + len(lost), unwanted + len(wrong)
                if misses and name == "Lyra" and part == "development" and (lost or wrong):
                    print(f"  {entry['file']}: {len(text)} characters")
                    for sign, found in [("lost", lost), ("unwanted", wrong)]:
                        for chunk in found:
                            print(f"    {sign}: {single(chunk)[:160]}")
            precision, recall = right / max(1, right + unwanted), right / (right + missing)
            figures = f"F1 {f1(right, missing, unwanted):.3f}  precision {precision:.3f}  recall {recall:.3f}"
            print(f"  {name:17} {figures}  {per_page(seconds, pages)}")
    return compared


def whole(folder, programs):
    folders = sorted(page.parent for page in (folder / "test-pages").glob("*/source.html"))
    pages = [page / "source.html" for page in folders]
    expected = [visible((page / "expected.html").read_text()) for page in folders]
    print(f"\n{folder.name}: {len(pages)} pages")
    for name, (texts, seconds) in results(programs, pages, [""] * len(pages)):
        scores = [word_f1(text, gold) for text, gold in zip(texts, expected)]
        print(f"  {name:17} mean word F1 {sum(scores) / len(scores):.4f}  {per_page(seconds, pages)}")


def results(programs, pages, addresses):
    for name, program in programs.items():
        yield name, lyra(program, pages, addresses)
    for name, extract in TOOLS.items():
        yield name, python(extract, pages)


def per_page(seconds, pages):
    return f"{1000 * seconds / len(pages):.1f} ms of processor time per page"


def visible(fragment):
    tree = lxml_html.fromstring(f"<div>{fragment}</div>")
    for node in tree.xpath("//script|//style|//template|//noscript|//iframe|//svg|//math"):
        node.drop_tree()
    return " ".join(tree.itertext())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--program", default=ROOT / "target/release/examples/main-text", type=Path)
    parser.add_argument("--before", type=Path, help="an earlier build of the same program")
    parser.add_argument("--half", choices=["development", "validation"])
    parser.add_argument("--variant", choices=VARIANTS)
    parser.add_argument("--misses", action="store_true")
    args = parser.parse_args()
    programs = {"Lyra": args.program} | ({"Lyra before": args.before} if args.before else {})
    for folder in args.folders:
        if (folder / "evaldata.json").exists():
            with_chunks(folder, programs, args.half, args.misses, args.variant)
        else:
            whole(folder, programs)


if __name__ == "__main__":
    main()
