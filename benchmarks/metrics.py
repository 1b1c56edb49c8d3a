"""Rows per second of each arithmetic evaluator, and its ratio to F1."""

from __future__ import annotations

from time import perf_counter

from assay.scoring import catalogue
from assay.scoring.evaluate import evaluate_metric

ROWS = 2000
WORDS = [f"word{n % 97}" for n in range(45)]


def rate(name: str) -> float:
    """Rows per second on texts of 45 words."""
    definition = catalogue.get(name)
    truth = " ".join(WORDS)
    rows = [
        {"response": " ".join(WORDS[n % 9 :] + ["extra"]), "ground_truth": truth}
        for n in range(ROWS)
    ]
    evaluate_metric(definition, rows[0], thresholds={}, params={})
    started = perf_counter()
    for row in rows:
        evaluate_metric(definition, row, thresholds={}, params={})
    return ROWS / (perf_counter() - started)


def main() -> None:
    names = [n for n, d in catalogue.load().items() if d.kind == "metric"]
    rates = {name: rate(name) for name in names}
    for name, value in sorted(rates.items(), key=lambda entry: -entry[1]):
        ratio = value / rates["f1_score"]
        print(f"{name:14} {value:9.0f} rows/s   {ratio:5.2f} × F1")


if __name__ == "__main__":
    main()
