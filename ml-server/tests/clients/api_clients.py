"""Drives lyra-ml-server with clients that its authors did not write: `openai` and `huggingface_hub` from PyPI.

    python api_clients.py URL

Exits with 0 when everything was as it should be, else with the assertion that failed.
"""

import base64
import json
import sys
from urllib.request import Request, urlopen

import numpy as np
import openai
from huggingface_hub import InferenceClient
from huggingface_hub.errors import HfHubHTTPError
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

TEXTS = ["Aspirin lowers fever.", "The drug reduces body temperature.", "Basalt is a volcanic rock.", "", "研究"]


def fetch(url, body=None):
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(url, data, {"content-type": "application/json"})) as response:
        return json.load(response)


def same(got, want):
    got, want = np.asarray(got, dtype=np.float32), np.asarray(want, dtype=np.float32)
    assert got.shape == want.shape, f"{got.shape} instead of {want.shape}"
    # Which texts run together may change the last bit.
    assert np.abs(got - want).max() < 1e-5, np.abs(got - want).max()


def vectors_of(client, inputs):
    """What a client gets that does not ask for a format."""
    return [item.embedding for item in client.embeddings.create(model="m", input=inputs).data]


def refused(error, call):
    """The error that `call` must end in."""
    try:
        call()
    except error as raised:
        return raised
    raise AssertionError(f"{error.__name__} was expected")


def with_openai(url):
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
    want = fetch(f"{url}/embed", {"inputs": TEXTS})

    def vectors(**options):
        answer = client.embeddings.create(model="any-name", input=TEXTS, **options)
        assert [item.index for item in answer.data] == list(range(len(TEXTS)))
        assert answer.object == "list" and answer.data[0].object == "embedding"
        assert answer.model == "all-MiniLM-L6-v2", answer.model
        assert answer.usage.prompt_tokens == answer.usage.total_tokens > 20
        return [item.embedding for item in answer.data]

    same(vectors(encoding_format="float"), want)
    # Without a format the client asks for base64 and decodes it; told to, it hands the text over.
    same(vectors(), want)
    raw = client.embeddings.with_raw_response.create(model="m", input=TEXTS, encoding_format="base64")
    rows = [np.frombuffer(base64.b64decode(item["embedding"]), "<f4") for item in json.loads(raw.content)["data"]]
    same(rows, want)
    same(vectors(dimensions=64, user="u"), fetch(f"{url}/embed", {"inputs": TEXTS, "dimensions": 64}))
    one = client.embeddings.create(model="m", input=TEXTS[0], encoding_format="float")
    same([one.data[0].embedding], want[:1])

    empty = refused(openai.BadRequestError, lambda: client.embeddings.create(model="m", input=[]))
    assert "at least one text" in str(empty), empty
    ids = [[token["id"] for token in row] for row in fetch(f"{url}/tokenize", {"inputs": TEXTS})]
    same(vectors_of(client, ids), want)
    same(vectors_of(client, ids[0]), want[:1])
    unknown = refused(openai.UnprocessableEntityError, lambda: vectors_of(client, [[1, 100_000]]))
    assert "another tokenizer" in str(unknown), unknown
    many = refused(openai.APIStatusError, lambda: client.embeddings.create(model="m", input=["a"] * 1025))
    assert many.status_code == 413, many


def with_huggingface_hub(url):
    want = fetch(f"{url}/embed", {"inputs": TEXTS})
    for base_url in [url, f"{url}/embed"]:
        client = InferenceClient(base_url=base_url)
        same(client.feature_extraction(TEXTS), want)
        same(client.feature_extraction(TEXTS[0]), want[:1])
        raw = client.feature_extraction(TEXTS[0], normalize=False, truncate=True, truncation_direction="left")
        assert abs(np.linalg.norm(raw) - 1) > 1e-3, "not normalized"
        same(raw / np.linalg.norm(raw), want[:1])
        long = refused(HfHubHTTPError, lambda: client.feature_extraction("word " * 300, truncate=False))
        assert long.response.status_code == 422, long

    cosines = InferenceClient(base_url=f"{url}/similarity").sentence_similarity(TEXTS[0], other_sentences=TEXTS[1:])
    same(cosines, np.asarray(want[1:]) @ np.asarray(want[0]))


def as_described(url):
    api = fetch(f"{url}/openapi.json")
    validate(api)
    for path, operations in api["paths"].items():
        if "post" not in operations:
            continue
        request = operations["post"]["requestBody"]["content"]["application/json"]
        answer = operations["post"]["responses"]["200"]["content"]["application/json"]
        check = lambda part, value: Draft202012Validator(part["schema"] | api).validate(value)
        check(request, request["example"])
        check(answer, fetch(f"{url}{path}", request["example"]))


def main(url):
    with_openai(url)
    with_huggingface_hub(url)
    as_described(url)
    print(f"openai {openai.__version__} and huggingface_hub agree with /embed; the OpenAPI document is valid and kept")


if __name__ == "__main__":
    main(sys.argv[1])
