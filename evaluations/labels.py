"""People's labels of rows: saved at once, one for each person and row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F, Q, QuerySet

from assay.scoring.outcome import Outcome
from evaluations.models import Item, Label, Run
from workspace.models import User

VERDICTS = {"pass": Outcome.PASS, "fail": Outcome.FAIL}
LEVELS = range(1, 6)
MOST_COMMENT = 4000


class WrongLabelError(Exception):
    """The label holds something that none can hold."""


@transaction.atomic
def save(item: Item, by: User, sent: Mapping[str, str]) -> Label | None:
    """Change what `by` says about a row: `verdict`, `score`, `comment` and
    `dimension-<metric id>`, each only when it was sent; "" takes it back.

    `clear` takes all of it back. Gives None when nothing is left. Raises
    `WrongLabelError`.
    """
    # Two clicks of one person come one after the other.
    User.objects.select_for_update().get(pk=by.pk)
    label = Label.objects.filter(item=item, by=by).first() or Label(item=item, by=by)
    if "clear" in sent:
        Label.objects.filter(item=item, by=by).delete()
        return None
    if "verdict" in sent:
        label.verdict = _one_of(VERDICTS, sent["verdict"])
    if "score" in sent:
        label.score = _level(sent["score"])
    if "comment" in sent:
        label.comment = sent["comment"].replace("\0", "").strip()[:MOST_COMMENT]
    label.dimensions = _dimensions(item, label.dimensions, sent)
    if not label.is_empty:
        label.save()
        return label
    if label.pk:
        label.delete()
    return None


def _one_of(known: Mapping[str, Outcome], word: str) -> Outcome | None:
    if not word:
        return None
    if word not in known:
        raise WrongLabelError(word)
    return known[word]


def _level(text: str) -> int | None:
    if not text:
        return None
    if text not in {str(level) for level in LEVELS}:
        raise WrongLabelError(text)
    return int(text)


def _dimensions(
    item: Item, before: Mapping[str, int], sent: Mapping[str, str]
) -> dict[str, int]:
    """The scores of dimensions that belong to the row's run."""
    found = dict(before)
    named = {
        k.removeprefix("dimension-"): k for k in sent if k.startswith("dimension-")
    }
    if not named:
        return found
    metrics = item.results.filter(metric__key__startswith="dimension.")
    known = {str(pk) for pk in metrics.values_list("metric_id", flat=True)}
    for key, field in named.items():
        level = _level(sent[field])
        if key not in known:
            raise WrongLabelError(field)
        found.pop(key, None)
        if level is not None:
            found[key] = level
    return found


def disagreeing(run: Run) -> Q:
    """Items that a person judged otherwise than the run did."""
    opposite = Label.objects.filter(
        item__run=run, verdict__isnull=False, item__outcome__in=VERDICTS.values()
    ).exclude(verdict=F("item__outcome"))
    return Q(pk__in=opposite.values("item"))


def labelled(run: Run) -> Q:
    return Q(pk__in=Label.objects.filter(item__run=run).values("item"))


@dataclass(frozen=True, slots=True)
class Counts:
    """Rows with a label, and rows where a person disagrees."""

    labelled: int
    disagreeing: int


def counts(run: Run) -> Counts:
    """2 queries, 1 when there are no labels."""
    items = Item.objects.filter(run=run)
    found = items.filter(labelled(run)).count()
    return Counts(found, items.filter(disagreeing(run)).count() if found else 0)


def labels_of(items: Iterable[Item]) -> dict[int, list[Label]]:
    """Labels by item, oldest first. 1 query."""
    found: dict[int, list[Label]] = {}
    labels: QuerySet[Label] = Label.objects.filter(item__in=list(items))
    for label in labels.select_related("by").order_by("created_at", "pk"):
        found.setdefault(label.item_id, []).append(label)
    return found
