"""The catalogue as its pages show it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.http import Http404
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from assay.scoring import catalogue
from assay.scoring.definition import EvaluatorDefinition, MetricSpec, ParamSpec
from evaluators import pages
from evaluators.models import Evaluator, EvaluatorVersion
from evaluators.usage import uses_of
from workspace.models import Project

Text = str | Promise

KINDS: dict[str, Text] = {
    "rubric": gettext_lazy("Rubric"),
    "judge": gettext_lazy("Judge"),
    "metric": gettext_lazy("Computed"),
    "composite": gettext_lazy("Composite"),
}
ICONS = {"rubric": "rubric", "judge": "scale", "metric": "code", "composite": "columns"}
CATEGORIES: dict[str, Text] = {
    "quality": gettext_lazy("Quality"),
    "rag": gettext_lazy("Retrieval (RAG)"),
    "agent": gettext_lazy("Agent"),
    "safety": gettext_lazy("Safety"),
    "nlp": gettext_lazy("Text similarity"),
}
MEDIA: dict[str, Text] = {
    "image": gettext_lazy("Images"),
    "audio": gettext_lazy("Audio"),
}
KNOWN_INPUTS: dict[str, Text] = {
    "query": gettext_lazy("What the user asks."),
    "response": gettext_lazy("The answer to be scored."),
    "context": gettext_lazy("What the answer may rest on."),
    "ground_truth": gettext_lazy("The expected answer."),
    "messages": gettext_lazy("A conversation: messages with role and content."),
    "retrieved_documents": gettext_lazy("The documents that were found."),
}


@dataclass(frozen=True, slots=True)
class Facet:
    """One way to narrow the list: its name, and how many evaluators remain."""

    key: str
    label: Text
    count: int


@dataclass(frozen=True, slots=True)
class MetricLine:
    """A metric with its scale and pass rule in words."""

    metric: MetricSpec
    scale: str
    rule: str


@dataclass(frozen=True, slots=True)
class Card:
    """An evaluator as the list and its own page show it."""

    definition: EvaluatorDefinition
    kind: Text
    icon: str
    inputs: list[tuple[str, bool]]
    scale: str
    rule: str


@dataclass(frozen=True, slots=True)
class OwnCard:
    """An evaluator of the project: its newest version, and in how many runs any of
    its versions is used."""

    card: Card
    version: EvaluatorVersion
    url: str
    runs: int

    @property
    def dimensions(self) -> int:
        rubric = self.card.definition.rubric
        return len(rubric.dimensions) if rubric else 0


def own_cards(project: Project) -> list[OwnCard]:
    """The evaluators that the project made, by name. 1 query and those of usage."""
    versions = list(
        EvaluatorVersion.objects.filter(evaluator__project=project)
        .select_related("evaluator__project")
        .order_by("evaluator__name", "-number")
    )
    newest: dict[int, EvaluatorVersion] = {}
    owner = {}
    for version in versions:
        newest.setdefault(version.evaluator_id, version)
        owner[version.pk] = version.evaluator_id
    runs = Counter(owner.get(use.version) for use in uses_of(versions))
    return [
        OwnCard(
            card_of(version.evaluator_definition),
            version,
            pages.address_of(version.evaluator),
            runs[version.evaluator_id],
        )
        for version in newest.values()
    ]


def own_address(project: Project, ref: str) -> str | None:
    """The page of an own evaluator by its ref or that of a version. 2 queries."""
    version = (
        EvaluatorVersion.objects.select_related("evaluator__project")
        .filter(evaluator__project=project, ref=ref)
        .first()
    )
    if version is not None:
        return pages.address_of(version.evaluator, version.number)
    evaluators = Evaluator.objects.select_related("project").filter(project=project)
    evaluator = evaluators.filter(ref=ref).first()
    return pages.address_of(evaluator) if evaluator else None


def card_of(definition: EvaluatorDefinition) -> Card:
    required = definition.always_required
    first = next((m for m in definition.metrics if m.primary), definition.metrics[0])
    many = len([m for m in definition.metrics if m.primary]) > 1
    return Card(
        definition=definition,
        kind=KINDS[definition.kind],
        icon=ICONS[definition.kind],
        inputs=[(name, name in required) for name in definition.inputs],
        scale=_("Several scales") if many else scale_words(first),
        rule="" if many else rule_words(first),
    )


def number(value: float) -> str:
    return f"{value:g}"


def scale_words(metric: MetricSpec) -> str:
    if metric.kind == "boolean":
        return _("Pass or fail")
    ends = {"low": number(metric.minimum), "high": number(metric.maximum)}
    return _("%(low)s to %(high)s") % ends


def rule_words(metric: MetricSpec) -> str:
    """When a row passes, in words."""
    if metric.kind == "boolean":
        good = metric.direction == "increase"
        return _("Passes when true") if good else _("Passes when false")
    if metric.threshold is None:
        return _("No pass rule")
    bound = {"bound": number(metric.threshold)}
    if metric.direction == "increase":
        return _("Passes from %(bound)s up") % bound
    return _("Passes from %(bound)s down") % bound


def metric_lines(definition: EvaluatorDefinition) -> list[MetricLine]:
    return [MetricLine(m, scale_words(m), rule_words(m)) for m in definition.metrics]


def param_range(param: ParamSpec) -> str:
    """The values that a setting may have."""
    if param.choices:
        return ", ".join(param.choices)
    low, high = param.minimum, param.maximum
    if low is not None and high is not None:
        return _("%(low)s to %(high)s") % {"low": number(low), "high": number(high)}
    return _("a number")


def matches(definition: EvaluatorDefinition, query: Mapping[str, Any]) -> bool:
    if query["c"] and (
        definition.category != query["c"] or definition.kind == "rubric"
    ):
        return False
    if query["kind"] and definition.kind != query["kind"]:
        return False
    if query["in"] and query["in"] not in definition.media:
        return False
    if query["level"] and query["level"] not in definition.levels:
        return False
    searched = f"{definition.name} {definition.id} {definition.description}"
    words = [searched, *definition.inputs, *(m.name for m in definition.metrics)]
    if definition.rubric:
        words += [d.description for d in definition.rubric.dimensions]
    text = " ".join(words).casefold()
    return all(word in text for word in str(query["q"]).casefold().split())


def groups(query: Mapping[str, Any]) -> list[tuple[Text, list[Card]]]:
    """The evaluators that `query` leaves, by category."""
    found = [d for d in catalogue.load().values() if matches(d, query)]
    return [
        (label, cards)
        for key, label in CATEGORIES.items()
        if (cards := [card_of(d) for d in found if d.category == key])
    ]


def facets(own: Iterable[OwnCard]) -> dict[str, list[Facet]]:
    """What the list can be narrowed by, without what would leave nothing."""
    known = [*(c.card.definition for c in own), *catalogue.load().values()]

    def count(labels: Mapping[str, Text], fits: Any) -> list[Facet]:
        counted = [
            Facet(key, label, sum(fits(d, key) for d in known))
            for key, label in labels.items()
        ]
        return [facet for facet in counted if facet.count]

    return {
        "c": count(CATEGORIES, lambda d, key: d.kind != "rubric" and d.category == key),
        "kind": count(KINDS, lambda d, key: d.kind == key),
        "in": count(MEDIA, lambda d, key: key in d.media),
    }


def evaluator_or_404(evaluator_id: str) -> EvaluatorDefinition:
    try:
        return catalogue.get(evaluator_id)
    except KeyError:
        raise Http404(_("This evaluator does not exist.")) from None


def members_of(definition: EvaluatorDefinition) -> list[EvaluatorDefinition]:
    return [catalogue.get(name) for name in definition.members]


def described_inputs(names: Iterable[str]) -> list[tuple[str, Text]]:
    return [(name, KNOWN_INPUTS.get(name, "")) for name in names]


def total() -> int:
    return len(catalogue.load())
