"""Sentence BLEU with one reference (Papineni and others, 2002)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.scoring.metrics.overlap import common_count, ngrams

MAX_ORDER = 4


def sentence_bleu(response: Sequence[str], truth: Sequence[str]) -> float:
    """BLEU of token lists, orders 1 to 4 with equal weights; 0.0 to 1.0.

    p_n = clipped matches / max(1, number of response n-grams); score =
    brevity penalty * exp(sum of ln(p_n)/4). The penalty is 1 when the response is
    longer than the truth, else exp(1 - |truth|/|response|). Without a common token,
    as for an empty list, the score is 0.

    An order without matches is smoothed as in method 4 of Chen and Cherry (2014):
    the i-th such order, from short to long, gets ln(|response|)/(5 * 2^i) matches.
    A response of one token is not smoothed; its empty orders are left out.
    """
    length = len(response)
    logs = []
    empty_orders = 0
    for order in range(1, MAX_ORDER + 1):
        own = ngrams(response, order)
        matches: float = common_count(own, ngrams(truth, order))
        if not matches:
            if order == 1:
                return 0.0
            if length > 1:
                empty_orders += 1
                matches = math.log(length) / (5 * 2**empty_orders)
        if matches:
            logs.append(math.log(matches / max(1, len(own))))
    penalty = 1.0 if length > len(truth) else math.exp(1 - len(truth) / length)
    return penalty * math.exp(math.fsum(logs) / MAX_ORDER)
