"""What a passage says of a claim: the labels as the model numbers them, and their names in files."""

from __future__ import annotations

REFUTES, SUPPORTS, NEUTRAL = 0, 1, 2
NOT_SUPPORTED = 3
"""Refutes or neutral: of sets that do not tell them apart."""
UNKNOWN = 4
"""Not labeled: only the answer of the initial verifier is learned."""
LABELS = ("contradiction", "entailment", "neutral")
"""Names by number, as the model's configuration has them."""
NUMBER = {name: number for number, name in enumerate(LABELS)} | {
    "REFUTE": REFUTES, "SUPPORT": SUPPORTS, "NEI": NEUTRAL, "not_entailment": NOT_SUPPORTED}
"""Numbers by name in labeled files."""
