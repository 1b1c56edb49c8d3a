"""The catalogue of evaluators."""

from __future__ import annotations

import pytest
from django.urls import reverse

from assay.scoring import catalogue
from assay.scoring.definition import MetricSpec
from evaluators import judges, queries, usage
from evaluators.models import Evaluator
from tests.rubrics.desk import start

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


@pytest.fixture
def own(client_editor, project):
    start(client_editor, project).post("publish")
    return Evaluator.objects.get()


def test_own_rubrics_come_first(client_viewer, project, own):
    text = page(client_viewer, project)
    assert text.index("Your rubrics") < text.index("Coherence")
    for words in ("Rubric v1", "6 dimensions", "Not used yet"):
        assert words in text
    assert reverse("rubric", args=[project.slug, own.ref]) in text
    assert "Create rubric" not in text


def test_filters_count_them(client_viewer, project, own):
    text = page(client_viewer, project, "?kind=rubric")
    assert 'Rubric <span class="n">1</span>' in text
    assert f'All <span class="n">{len(KNOWN) + 1}</span>' in text
    assert "/evaluators/coherence/" not in text
    assert "Your rubrics" in text
    assert "Your rubrics" not in page(client_viewer, project, "?kind=judge")
    assert "Your rubrics" in page(client_viewer, project, "?q=dinner+service")
    assert "Your rubrics" not in page(client_viewer, project, "?c=quality")


def test_usage_is_counted(client_viewer, project, own, monkeypatch):
    def finder(versions):
        return [usage.Use(versions[0].pk, f"run {n}", "/") for n in (1, 2)]

    monkeypatch.setattr(usage, "_finders", [finder])
    assert "Used in 2 runs" in page(client_viewer, project)


def test_editors_make_and_go_on(client_editor, client_viewer, project):
    desk = start(client_editor, project, name="half-done")
    text = page(client_editor, project)
    assert reverse("rubric_new", args=[project.slug]) in text
    assert desk.url in text
    assert desk.url not in page(client_viewer, project)


def test_an_own_evaluator_has_its_page(client_viewer, client_stranger, project, own):
    target = reverse("rubric", args=[project.slug, own.ref])
    version = own.versions.get()
    for ref, address in ((own.ref, target), (version.ref, f"{target}?v=1")):
        url = reverse("evaluator", args=[project.slug, ref])
        assert client_viewer.get(url)["Location"] == address
        assert client_stranger.get(url).status_code == 404


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("gpt-5.4-mini", "recommended"),
        ("openai/GPT-5.4-mini-2026-03-01", "recommended"),
        ("gpt-4.1", "acceptable"),
        ("gpt-4o", "not_recommended"),
        ("gpt-4o-mini-2024-07-18", "not_recommended"),
        ("gpt-4o-audio", "unknown"),
        ("qwen3", "unknown"),
    ],
)
def test_guidance_of_judges(model, expected):
    assert judges.guidance(model) == expected


def test_a_project_has_its_own_guidance(project):
    project.settings = {
        "judge_guidance": {"recommended": ["qwen3"], "acceptable": ["gpt-4o"]}
    }
    assert judges.guidance_in(project, "qwen3") == "recommended"
    assert judges.guidance_in(project, "gpt-4o") == "acceptable"
    assert judges.guidance_in(project, "gpt-4.1") == "acceptable"
    project.settings = {"judge_guidance": "nonsense"}
    assert judges.guidance_in(project, "qwen3") == "unknown"
