"""Main text of web pages: Lyra beside trafilatura, on the same bytes.

    pip install trafilatura lxml_html_clean
    cargo build --release -p lyra-web --example main-text
    python tests/clients/extraction.py FOLDER... [--half development|validation] [--misses]

A FOLDER with `evaldata.json` is a set like trafilatura's own: each page names chunks that belong to its main text (`with`)
and chunks that do not (`without`). A chunk counts as found when it stands in the text, after white space is made single.
Precision, recall and F1 are of all chunks together, as in that project's evaluation. A FOLDER with `test-pages` is a set like
Readability's: the expected text is there whole, and the figure is the mean F1 of words over the pages.

Sets with chunks are split by site into two halves, so that rules can be written on one half and measured on the other.
`--misses` lists what Lyra gets wrong, in the development half only.
"""

import argparse
import collections
import gzip
import hashlib
import json
import re
import resource
import subprocess
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


def with_chunks(folder, program, only, misses):
    entries = json.loads((folder / "evaldata.json").read_text())
    for part in ["development", "validation"] if only is None else [only]:
        addresses = [address for address in entries if half(address) == part]
        items = [entries[address] for address in addresses]
        pages = [folder / entry["file"] for entry in items]
        print(f"\n{folder.name}, {part} half: {len(items)} pages")
        for name, (texts, seconds) in results(program, pages, addresses):
            right = missing = unwanted = 0
            for entry, text in zip(items, texts):
                good, lost, wrong = chunks(entry, text)
                right, missing, unwanted = right + good, missing + len(lost), unwanted + len(wrong)
                if misses and name == "Lyra" and part == "development" and (lost or wrong):
                    print(f"  {entry['file']}: {len(text)} characters")
                    for sign, found in [("lost", lost), ("unwanted", wrong)]:
                        for chunk in found:
                            print(f"    {sign}: {single(chunk)[:160]}")
            precision, recall = right / max(1, right + unwanted), right / (right + missing)
            f1 = 2 * right / (2 * right + missing + unwanted)
            figures = f"F1 {f1:.3f}  precision {precision:.3f}  recall {recall:.3f}"
            print(f"  {name:17} {figures}  {per_page(seconds, pages)}")


def whole(folder, program):
    folders = sorted(page.parent for page in (folder / "test-pages").glob("*/source.html"))
    pages = [page / "source.html" for page in folders]
    expected = [visible((page / "expected.html").read_text()) for page in folders]
    print(f"\n{folder.name}: {len(pages)} pages")
    for name, (texts, seconds) in results(program, pages, [""] * len(pages)):
        scores = [word_f1(text, gold) for text, gold in zip(texts, expected)]
        print(f"  {name:17} mean word F1 {sum(scores) / len(scores):.4f}  {per_page(seconds, pages)}")


def results(program, pages, addresses):
    yield "Lyra", lyra(program, pages, addresses)
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
    parser.add_argument("--half", choices=["development", "validation"])
    parser.add_argument("--misses", action="store_true")
    args = parser.parse_args()
    for folder in args.folders:
        if (folder / "evaldata.json").exists():
            with_chunks(folder, args.program, args.half, args.misses)
        else:
            whole(folder, args.program)


if __name__ == "__main__":
    main()
