"""How much two texts share: what the simulated model scores by."""

from __future__ import annotations

import re

_WORD = re.compile(r"\w+")
_TURN = re.compile(r"^(User|Agent) turn \d+:\n((?:[ \t].*(?:\n|\Z)|\n)*)", re.MULTILINE)
_COMMON = frozenset(
    _WORD.findall(
        "a an the is are was were be to of and or in on at for with by it its this "
        "that i you he she we they my your our as do does did can could would will "
        "have has",
    )
)
LEVELS = (0.12, 0.28, 0.45, 0.65)
"""Overlaps at which the score goes up from 1 to 2, 3, 4 and 5."""
REMARKS = {
    1: "Almost nothing of the expected content is there",
    2: "Little of the expected content is there",
    3: "About half of the expected content is there",
    4: "Most of the expected content is there",
    5: "The expected content is there",
}


def words(text: str) -> list[str]:
    return [w for w in _WORD.findall(text.casefold()) if w not in _COMMON]


def overlap(candidate: str, reference: str) -> float:
    """Share of the reference's distinct words that the candidate has, 0 to 1."""
    wanted, given = set(words(reference)), set(words(candidate))
    return len(wanted & given) / len(wanted) if wanted else 0.0


def verdict(inputs: dict[str, str]) -> tuple[int, str]:
    """A score from 1 to 5 and the reason for it."""
    response = inputs.get("response", "")
    if "ground_truth" in inputs:
        share, against = overlap(response, inputs["ground_truth"]), "the ground truth"
    elif response and inputs.get("context"):
        share = overlap(inputs["context"], response)
        against = "the context"
    elif response and inputs.get("query"):
        share = min(1.0, 0.35 + overlap(response, inputs["query"]))
        against = "the query"
    elif response:
        share = min(1.0, 0.3 + len(set(words(response))) / 30)
        against = "its own variety of words"
    else:
        share = overlap(inputs.get("context", ""), inputs.get("query", ""))
        against = "the query"
    score = 1 + sum(share >= level for level in LEVELS)
    return score, (
        f"Simulated judgement: {REMARKS[score].lower()}. Word overlap with {against} "
        f"is {share:.0%}."
    )


def with_turns(inputs: dict[str, str]) -> dict[str, str]:
    """`inputs`, of a conversation with what the user asked and the last answer."""
    if "messages" not in inputs or "response" in inputs:
        return inputs
    turns = _TURN.findall(inputs["messages"])
    said = [text for side, text in turns if side == "Agent" and text.strip()]
    asked = [text for side, text in turns if side == "User"]
    last = said[-1] if said else ""
    return {**inputs, "response": last, "query": "\n".join(asked)}
