"""Writes platt.json beside itself: log odds and labels with the curve that SciPy finds for Platt's targets."""

import json
import math
import pathlib
import random

from scipy.optimize import minimize

draw = random.Random(7)


def case(n, slope, shift):
    scores = [draw.gauss(0, 3) for _ in range(n)]
    labels = [int(draw.random() < 1 / (1 + math.exp(-(slope * s + shift)))) for s in scores]
    positives = sum(labels)
    high, low = (positives + 1) / (positives + 2), 1 / (n - positives + 2)

    def loss(x):
        total = 0.0
        for s, label in zip(scores, labels):
            z = x[0] * s + x[1]
            total += max(z, 0) + math.log1p(math.exp(-abs(z))) - (high if label else low) * z
        return total

    found = minimize(loss, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-11, "fatol": 1e-13, "maxiter": 10000})
    return {"scores": scores, "labels": labels, "slope": found.x[0], "intercept": found.x[1]}


cases = [case(12, 1.0, 0.0), case(40, 0.4, -1.0), case(200, 2.0, 0.5), case(30, -0.3, 0.2)]
out = pathlib.Path(__file__).with_name("platt.json")
out.write_text(json.dumps({"cases": cases}, indent=1) + "\n")
