"""The catalogue of evaluators."""

from __future__ import annotations

import pytest
from django.urls import reverse

from assay.scoring import catalogue
from assay.scoring.definition import MetricSpec
from evaluators import queries

pytestmark = pytest.mark.django_db
KNOWN = list(catalogue.load().values())


def page(client, project, query="", **headers) -> str:
    url = reverse("evaluators", args=[project.slug])
    answer = client.get(url + query, headers=headers)
    assert answer.status_code == 200
    return answer.content.decode()


def test_members_read_and_others_do_not(
    client, client_stranger, client_viewer, client_editor, client_owner, project
):
    for url in (
        reverse("evaluators", args=[project.slug]),
        reverse("evaluator", args=[project.slug, "coherence"]),
    ):
        assert client.get(url).status_code == 302
        assert client_stranger.get(url).status_code == 404
        for member in (client_viewer, client_editor, client_owner):
            assert member.get(url).status_code == 200


def test_every_evaluator_is_listed(client_viewer, project):
    text = page(client_viewer, project)
    for definition in KNOWN:
        assert reverse("evaluator", args=[project.slug, definition.id]) in text
        assert definition.name in text
    for shown in ("Judge", "Computed", "Composite", "1 to 5", "Passes from 3 up"):
        assert shown in text


@pytest.mark.parametrize(
    ("query", "inside", "outside"),
    [
        ("?c=nlp", "bleu_score", "coherence"),
        ("?kind=judge", "coherence", "bleu_score"),
        ("?kind=composite", "qa", "bleu_score"),
        ("?in=image", "coherence", "bleu_score"),
        ("?q=words+ground", "f1_score", "coherence"),
        ("?q=PRECISION", "rouge_score", "fluency"),
    ],
)
def test_the_list_is_narrowed(client_viewer, project, query, inside, outside):
    text = page(client_viewer, project, query)
    assert f"/evaluators/{inside}/" in text
    assert f"/evaluators/{outside}/" not in text


@pytest.mark.parametrize("query", ["?c=nonsense", "?in=video", "?page=x&kind="])
def test_what_is_not_understood_is_left_out(client_viewer, project, query):
    assert "/evaluators/coherence/" in page(client_viewer, project, query)


def test_nothing_found_offers_a_way_back(client_viewer, project):
    text = page(client_viewer, project, "?q=%3Cscript%3Ezzz")
    assert "No evaluators match." in text
    assert "<script>zzz" not in text


def test_htmx_gets_the_list_alone(client_viewer, project):
    text = page(client_viewer, project, "?q=rouge", **{"HX-Request": "true"})
    assert "<html" not in text
    assert 'id="found"' in text


@pytest.mark.parametrize("definition", KNOWN, ids=lambda d: d.id)
def test_each_evaluator_has_its_page(client_viewer, project, definition):
    url = reverse("evaluator", args=[project.slug, definition.id])
    text = client_viewer.get(url).content.decode()
    for metric in definition.metrics:
        assert metric.name in text
    for name in definition.inputs:
        assert f"<code>{name}</code>" in text
    for variant in definition.variants:
        assert variant.instructions.splitlines()[0][:40].split("'")[0] in text
    for param in definition.params:
        assert param.name in text
    assert "Use in an evaluation" not in text


def test_editors_can_use_it(client_editor, project):
    url = reverse("evaluator", args=[project.slug, "coherence"])
    text = client_editor.get(url).content.decode()
    assert f"{reverse('draft_new', args=[project.slug])}?evaluator=coherence" in text


def test_an_unknown_evaluator_is_not_found(client_owner, project):
    url = reverse("evaluator", args=[project.slug, "nonsense"])
    assert client_owner.get(url).status_code == 404


@pytest.mark.parametrize(
    ("changes", "scale", "rule"),
    [
        ({}, "0 to 1", "Passes from 0.5 up"),
        ({"direction": "decrease"}, "0 to 1", "Passes from 0.5 down"),
        ({"threshold": None}, "0 to 1", "No pass rule"),
        ({"kind": "boolean"}, "Pass or fail", "Passes when true"),
        (
            {"kind": "boolean", "direction": "decrease"},
            "Pass or fail",
            "Passes when false",
        ),
    ],
)
def test_scales_and_rules_in_words(changes, scale, rule):
    fields = {
        "key": "x",
        "name": "X",
        "kind": "continuous",
        "minimum": 0,
        "maximum": 1,
        "threshold": 0.5,
    }
    metric = MetricSpec(**{**fields, **changes})
    assert queries.scale_words(metric) == scale
    assert queries.rule_words(metric) == rule


def test_both_are_in_the_navigation(client_viewer, project):
    text = page(client_viewer, project)
    assert reverse("models", args=[project.slug]) in text
    assert text.count('aria-current="page"') >= 2
