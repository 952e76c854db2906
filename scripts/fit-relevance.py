#!/usr/bin/env python3
"""Fits the prior of relevance in config/relevance.yaml to judged collections, and each fold with one of them left out.

    fit-relevance.py LANES.json [LANES.json ...]

Each file is one collection: a list of {"query", "relevant": [ids], "lanes": [{"name", "ids", "scores"}]}, with lanes of 800
documents as `lyra fuse search` stores them. Needs NumPy and SciPy.

The intercept and the slope maximize the marginal likelihood of the judgments over the grid of levels and steepnesses, with
collections counting the same. The spreads of level and steepness are set, not fitted: what differs between few collections
says too little about the next one.
"""

import json
import sys
from pathlib import Path

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_expit, logsumexp

OFFSET, ABSENT, CENTER = 5.0, 1000.0, -2.2
LEVEL, STEEPNESS = (-0.5, 3.2), (0.1, 0.9)
LEVELS, STEEPNESSES = np.linspace(-7, 7, 43), np.linspace(-1.8, 1.8, 13)
# All documents that are found first, and as many of the others, which count for all of them.
FIRST, OTHERS = 60, 60


def read(path):
    """Per query: the mean logarithm of ranks, relevance, and weight of each document."""
    random = np.random.default_rng(1)
    queries = []
    for query in json.loads(Path(path).read_text()):
        ranks = [{doc: rank for rank, doc in enumerate(lane["ids"], 1)} for lane in query["lanes"]]
        pool = sorted(set().union(*ranks))
        means = np.array([np.mean([np.log(lane.get(doc, ABSENT) + OFFSET) for lane in ranks]) for doc in pool])
        relevant = np.isin(pool, query["relevant"]).astype(float)
        order = np.argsort(means, kind="stable")
        means, relevant = means[order], relevant[order]
        behind = np.arange(FIRST, len(pool))
        drawn = random.choice(behind, min(OTHERS, len(behind)), replace=False) if len(behind) else behind
        chosen = np.concatenate([np.arange(min(FIRST, len(pool))), drawn]).astype(int)
        weight = np.ones(len(chosen))
        if len(drawn):
            weight[-len(drawn):] = len(behind) / len(drawn)
        queries.append((means[chosen], relevant[chosen], weight))
    return queries


def likelihood(parameters, queries):
    """Mean logarithm of the marginal likelihood of a query."""
    intercept, slope = parameters
    log_prior = (
        -0.5 * ((LEVELS[:, None] - LEVEL[0]) / LEVEL[1]) ** 2
        - 0.5 * ((STEEPNESSES[None, :] - STEEPNESS[0]) / STEEPNESS[1]) ** 2
    ).ravel()
    log_prior -= logsumexp(log_prior)
    level, factor = np.repeat(LEVELS, len(STEEPNESSES)), np.tile(np.exp(STEEPNESSES), len(LEVELS))
    total = 0.0
    for means, relevant, weight in queries:
        eta = intercept - slope * means
        logit = CENTER + level[:, None] + factor[:, None] * (eta - CENTER)[None, :]
        fit = (weight * (relevant * log_expit(logit) + (1 - relevant) * log_expit(-logit))).sum(axis=1)
        total += logsumexp(log_prior + fit)
    return total / len(queries)


def fitted(collections):
    result = minimize(
        lambda parameters: -sum(likelihood(parameters, queries) for queries in collections),
        [4.3, 1.5],
        method="Nelder-Mead",
        options={"xatol": 0.005, "fatol": 0.001, "maxfev": 120},
    )
    return result.x


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    collections = {Path(path).name.split(".")[0]: read(path) for path in sys.argv[1:]}
    for left_out in [None, *collections]:
        intercept, slope = fitted([queries for name, queries in collections.items() if name != left_out])
        print(f"without {left_out}:" if left_out else "all:", f"intercept {intercept:.3f}, slope {slope:.3f}", flush=True)


if __name__ == "__main__":
    main()
