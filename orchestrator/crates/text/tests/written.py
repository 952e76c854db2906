"""Written claims with their passages, one JSON object a line, for `guards.rs`: claim, label, kind, split, title, sentences,
deciding, and the title and sentences of another document (`other`)."""

import gzip
import json
import random
import sys

shared = sys.argv[1]
sys.path.insert(0, f"{shared}/tools")
import texts  # noqa: E402

documents = texts.texts()
random.seed(3)
rows = []
for name in ("written", "written_2"):
    with gzip.open(f"{shared}/data/nli/{name}.jsonl.gz", "rt", encoding="utf8") as lines:
        rows += [json.loads(line) for line in lines]
rows = [row for row in rows if row["doc"] in documents]
for row in rows:
    document = documents[row["doc"]]
    other = random.choice(rows)
    while other["doc"] == row["doc"] or other["split"] != row["split"]:
        other = random.choice(rows)
    deciding = [document["sentences"][i] for i in row["rationale"] or [] if i < len(document["sentences"])]
    written = {key: row[key] for key in ("claim", "label", "kind", "split")}
    print(json.dumps({**written, **document, "deciding": " ".join(deciding), "other": documents[other["doc"]]}))
