#!/usr/bin/env python3
"""Searches the lanes wide and semantic for every query of a judged collection, and writes what fit-relevance.py and the example
`estimates` of lyra-fusion read.

    collection-lanes.py FOLDER LYRA DATA_DIR OUT.json [--every N] [--foreign]

FOLDER has docs.jsonl or docs.jsonl.gz ({"id", "title", "text" or "abstract"} a line) and queries_qrels.json ({"queries": {id: text}, "qrels":
{id: ids of relevant documents}}). LYRA is the binary; the collection is imported into DATA_DIR under the folder's name, with
embeddings of the scope wide, unless it is there. --every N takes every Nth query. --foreign adds the wide lane of another query to
each, under the name `foreign`.

The wide lane searches for any word of the query, as often as it is written; a repeated word weighs more.
"""

import argparse
import gzip
import json
import re
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

TOP = 800


def documents(folder):
    packed = folder / "docs.jsonl.gz"
    with gzip.open(packed, "rt") if packed.exists() else open(folder / "docs.jsonl") as lines:
        for line in lines:
            document = json.loads(line)
            yield {"id": str(document["id"]), "title": document.get("title") or "", "abstract": document.get("text") or document.get("abstract") or ""}


class Lyra:
    """The API of a server that runs as long as this object is used."""

    def __init__(self, binary, data_dir):
        self.binary, self.data_dir = binary, data_dir

    def run(self, *arguments):
        return subprocess.run([self.binary, "--data-dir", self.data_dir, *arguments], check=True, capture_output=True, text=True).stdout

    def __enter__(self):
        command = [self.binary, "--data-dir", self.data_dir, "serve", "--port", "0"]
        self.process = subprocess.Popen(command, stderr=subprocess.STDOUT, stdout=subprocess.PIPE, text=True)
        said = []
        for line in self.process.stdout:
            if found := re.search(r"http://[\w.:\[\]]+", line):
                self.address = found[0].rstrip("/")
                # What the server says later must not fill the pipe.
                threading.Thread(target=self.process.stdout.read, daemon=True).start()
                return self
            said.append(line)
        raise SystemExit(f"lyra serve did not start: {''.join(said)}")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def call(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(
            f"{self.address}/api/v1{path}", data, {"content-type": "application/json", "origin": self.address}, method=method
        )
        while True:
            try:
                with urllib.request.urlopen(request, timeout=120) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                # The server limits the requests of a minute.
                if error.code != 429:
                    raise
                time.sleep(float(error.headers.get("retry-after", 1)))

    def lane(self, corpus, lane, query):
        body = {"lane": lane, "query": query, "corpus": corpus, "top_k": TOP}
        run = self.call("POST", "/fusion/searches", body)
        ids, scores = [], []
        while len(ids) < run["meta"]["count_returned"]:
            page = self.call("GET", f"/fusion/runs/{run['run_id']}?offset={len(ids)}&top_k_lane=200&top_k_code=0")["documents"]
            ids += [document["doc_id"] for document in page]
            scores += [document["score"] for document in page]
        return {"name": lane, "ids": ids, "scores": scores}


def any_word(text):
    return " OR ".join(f'"{word}"' for word in re.findall(r"\w+", text))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("lyra")
    parser.add_argument("data_dir")
    parser.add_argument("out", type=Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--foreign", action="store_true")
    given = parser.parse_args()
    asked = json.loads((given.folder / "queries_qrels.json").read_text())
    lyra, corpus = Lyra(given.lyra, given.data_dir), given.folder.name
    if not any(known["name"] == corpus for known in json.loads(lyra.run("corpus", "list", "--json"))):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            for document in documents(given.folder):
                file.write(json.dumps(document) + "\n")
            file.flush()
            lyra.run("corpus", "import", corpus, file.name, "--offline", "--quiet", "--scopes", "wide")
    wanted = [query for query in asked["queries"] if asked["qrels"].get(query)][:: given.every]
    queries = []
    with lyra:
        for place, query in enumerate(wanted):
            text = asked["queries"][query]
            lanes = [lyra.lane(corpus, "wide", any_word(text)), lyra.lane(corpus, "semantic", text)]
            if given.foreign:
                other = asked["queries"][wanted[(place + len(wanted) // 2) % len(wanted)]]
                lanes.append({**lyra.lane(corpus, "wide", any_word(other)), "name": "foreign"})
            queries.append({"query": query, "relevant": [str(doc) for doc in asked["qrels"][query]], "lanes": lanes})
    given.out.write_text(json.dumps(queries))
    print(f"{len(queries)} queries of {corpus}")


if __name__ == "__main__":
    main()
