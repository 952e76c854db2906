"""How a verifier reads a claim and a passage: the one definition that training, golden files and the server share.

    MPNet  <s> claim </s> </s> title </s> s1 </s> s2 </s> … sn </s>
    BERT   [CLS] claim [SEP] title [SEP] s1 [SEP] … sn [SEP]      segment 0 up to and including the claim's [SEP], then 1

Without a title, the first sentence follows the claim's separators. The separator after a sentence is the place where the
rationale head reads that sentence; the classification head reads the first token. `ml-server/src/model/verifier.rs` is the
same in Rust.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

CLAIM_TOKENS = 128
"""Tokens of the claim that are read."""
TITLE_TOKENS = 48
"""Tokens of the title that are read."""
LEAST_MAX_TOKENS = 192
"""Smallest `max_tokens`: room for the longest claim and title, the tokens around them, and some text."""


class Tokenizer(Protocol):
    """What is needed of a tokenizer of `transformers`."""

    cls_token: str
    cls_token_id: int
    sep_token_id: int

    def __call__(self, text: str, **options: bool) -> dict[str, list[int]]: ...


class Encoded(NamedTuple):
    """One item as the model reads it."""

    ids: list[int]
    """Token ids."""
    segments: list[int]
    """Segment of each token; all 0 for MPNet, which has none."""
    marks: list[int]
    """For each sentence that was read, the place in `ids` of the separator after it."""


def encode(tokenizer: Tokenizer, claim: str, title: str | None, sentences: list[str], max_tokens: int) -> Encoded:
    """Sentences are added in order while the whole stays within `max_tokens`.

    Only the first sentence is cut when it does not fit; any other that does not fit whole ends the reading, so there may be
    fewer marks than sentences. A title without tokens counts as none.
    """
    if max_tokens < LEAST_MAX_TOKENS:
        raise ValueError(f"a verifier needs max_tokens of at least {LEAST_MAX_TOKENS}, not {max_tokens}")
    if not sentences:
        raise ValueError("a verifier needs at least one sentence")
    first, separator = tokenizer.cls_token_id, tokenizer.sep_token_id
    paired = tokenizer.cls_token == "<s>"  # RoBERTa's way, which MPNet follows: two separators in a pair, no segments

    def tokens(text: str) -> list[int]:
        # What a text spells out of the frame is dropped, so that no passage can forge a boundary.
        ids = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        return [token for token in ids if token not in (first, separator)]

    ids = [first, *tokens(claim)[:CLAIM_TOKENS], separator]
    claimed = len(ids)
    if paired:
        ids.append(separator)
    if title and (head := tokens(title)[:TITLE_TOKENS]):
        ids += [*head, separator]

    marks: list[int] = []
    for sentence in sentences:
        body, room = tokens(sentence), max_tokens - len(ids) - 1
        if len(body) > room:
            if marks:
                break
            body = body[:room]
        ids += [*body, separator]
        marks.append(len(ids) - 1)
    second = 0 if paired else 1
    return Encoded(ids, [0] * claimed + [second] * (len(ids) - claimed), marks)
