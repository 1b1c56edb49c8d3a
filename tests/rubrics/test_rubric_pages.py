"""A saved rubric: who may do what, versions, differences, export, copy, deletion."""

from __future__ import annotations

import json

import pytest
from django.urls import reverse

from assay.scoring.rubric.spec import Dimension, RubricSpec
from evaluations.models import Criterion, Evaluation
from evaluators import usage
from evaluators.models import Evaluator, EvaluatorVersion
from rubrics import past, saving
from rubrics.differences import between
from rubrics.documents import DimensionText, Document, from_spec, read
from rubrics.models import RubricDraft
from tests.rubrics.desk import start, text_of
from workspace.models import Membership, Project, Role

pytestmark = pytest.mark.django_db


@pytest.fixture
def version(client_editor, project) -> EvaluatorVersion:
    start(client_editor, project).post("publish")
    return EvaluatorVersion.objects.select_related("evaluator__project").get()


def address(version: EvaluatorVersion, name: str = "rubric", *more) -> str:
    evaluator = version.evaluator
    return reverse(name, args=[evaluator.project.slug, evaluator.ref, *more])


def next_version(version, by, **changes) -> EvaluatorVersion:
    draft = saving.edit(version, by=by)
    document = saving.document_of(draft).model_copy(update=changes)
    draft = saving.save_draft(draft, document, revision=draft.revision)
    return saving.publish(draft, by=by, knows_of=version.number)


def test_viewers_look_and_export_and_change_nothing(
    client, client_viewer, client_stranger, version
):
    pages = [address(version), address(version, "rubric_export", 1)]
    pages += [
        f"{pages[0]}?tab={tab}" for tab in ("json", "prompt", "versions", "usage")
    ]
    for url in pages:
        assert client.get(url).status_code == 302
        assert client_viewer.get(url).status_code == 200
        assert client_stranger.get(url).status_code == 404
    text = text_of(client_viewer.get(pages[0]))
    assert "intent_recognition" in text
    assert "(29%)" in text
    assert reverse("rubric_edit", args=["booking", version.evaluator.ref]) not in text
    for name in ("rubric_edit", "rubric_delete"):
        assert client_viewer.post(address(version, name)).status_code == 403
        assert client_stranger.post(address(version, name)).status_code == 404


def test_the_page_in_few_queries(client_viewer, version, django_assert_max_num_queries):
    with django_assert_max_num_queries(12):
        client_viewer.get(address(version))


def test_edit_goes_on_with_the_open_draft(client_editor, version):
    first = client_editor.post(address(version, "rubric_edit"))["Location"]
    assert client_editor.post(address(version, "rubric_edit"))["Location"] == first
    assert RubricDraft.objects.count() == 1
    assert "Continue draft" in text_of(client_editor.get(address(version)))


def test_an_old_version_can_be_looked_at_and_taken_up(client_editor, editor, version):
    second = next_version(version, editor, pass_threshold="0.9")
    url = address(second)
    assert "0.9" in text_of(client_editor.get(url))
    old = text_of(client_editor.get(url + "?v=1"))
    assert "Version 2 is the newest" in old
    assert 'name="v" value="1"' in old
    client_editor.post(address(version, "rubric_edit"), {"v": "1"})
    assert RubricDraft.objects.get().document["pass_threshold"] == "0.50"


def test_the_difference_of_two_versions(client_editor, editor, version):
    document = saving.document_of(saving.edit(version, by=editor))
    one, two, three, *rest = document.dimensions
    renamed = one.model_copy(update={"id": "intent", "description": "New words."})
    heavier = two.model_copy(update={"weight": "10", "always_applicable": True})
    new = DimensionText(key="fresh", id="brevity", description="Is short.", weight="1")
    next_version(
        version, editor, dimensions=(heavier, renamed, *rest, new), fail_on_any_1=True
    )
    text = text_of(client_editor.get(address(version) + "?tab=versions"))
    for words in (
        "brevity", "added", three.id, "removed", "renamed", "intent_recognition",
        "New words.", one.description[:40].split("'")[0], "Is short.",
        "Fail when any dimension scores 1", "The order of the dimensions differs.",
    ):  # fmt: skip
        assert words in text, words


def test_differences_in_the_library_of_words():
    a = Dimension(id="a", description="x", weight=1, key="1")
    b = Dimension(id="b", description="y", weight=2, key="2")
    old = RubricSpec(dimensions=(a, b))
    assert between(old, old).is_none
    swapped = between(old, RubricSpec(dimensions=(b, a)))
    assert swapped.is_reordered
    assert not swapped.changed
    renamed = a.model_copy(update={"id": "c"})
    (change,) = between(old, RubricSpec(dimensions=(renamed, b))).changed
    assert (change.old_id, change.id, change.is_reworded) == ("a", "c", False)
    other_key = a.model_copy(update={"key": "9", "weight": 3})
    found = between(old, RubricSpec(dimensions=(other_key, b)))
    assert not found.added
    assert not found.removed
    assert [c.after for c in found.changed[0].changes] == ["3"]
    exchanged = between(
        old, RubricSpec(dimensions=(Dimension(id="a", description="z", key="3"), b))
    )
    assert [c.id for c in exchanged.changed] == ["a"]


def test_a_document_of_a_spec_means_that_spec():
    spec = RubricSpec(
        dimensions=(
            Dimension(
                id="a", description="x", allowed=False, generated_weight=3, key="1"
            ),
        ),
        category="safety",
        scoring="boolean",
        level="conversation",
        normalization="minmax",
        pass_threshold=0.123456789,
        one_call_per_dimension=True,
    )
    assert read(from_spec(spec)) == (spec, [])
    stored = Document.model_validate(from_spec(spec).model_dump(mode="json"))
    assert read(stored) == (spec, [])


def test_the_threshold_on_a_past_run(client_editor, editor, version, monkeypatch):
    run = past.PastRun("Run 14", "/runs/14/", [0.2, 0.45, 0.5, 0.65, 0.7, 1.0], 0.5)
    monkeypatch.setattr(past, "_finders", [lambda _evaluator: run])
    text = text_of(client_editor.get(address(version)))
    assert "4 of 6 rows pass at 0.50." in text
    assert 'href="/runs/14/"' in text
    draft = saving.edit(version, by=editor)
    document = saving.document_of(draft).model_copy(update={"pass_threshold": "0.7"})
    saving.save_draft(draft, document, revision=1)
    url = reverse("rubric_draft", args=["booking", draft.ref])
    assert "At 0.70, 2 would." in text_of(client_editor.get(url))


def test_a_past_run_on_the_other_scale(client_editor, editor, version, monkeypatch):
    run = past.PastRun("Run 14", "/runs/14/", [0.2, 0.6, 0.76, 1.0], 0.5)
    monkeypatch.setattr(past, "_finders", [lambda _evaluator: run])
    changed = {"normalization": "minmax", "pass_threshold": "0.70"}
    second = next_version(version, editor, **changed)
    text = text_of(client_editor.get(address(second)))
    assert "3 of 4 rows pass at 0.50." in text
    assert "At 0.70, 2 would." in text
    assert "0.0–0.1: 1 of 4 rows" in text


def test_a_rubric_of_an_evaluation_without_runs_is_not_deleted(
    client_editor, project, editor, version
):
    evaluation = Evaluation.objects.create(project=project, name="E", slug="e", spec={})
    Criterion.objects.create(
        evaluation=evaluation,
        position=1,
        name="booking",
        definition=version.definition,
        version=version,
    )
    answer = client_editor.post(address(version, "rubric_delete"))
    assert answer.status_code == 409
    assert "An evaluation uses this rubric." in text_of(answer)
    assert Evaluator.objects.exists()


def test_a_rubric_in_use_is_not_deleted(client_editor, version, monkeypatch):
    def finder(versions):
        return [usage.Use(v.pk, "Booking, run 3", "/runs/3/") for v in versions]

    monkeypatch.setattr(usage, "_finders", [finder])
    url = address(version, "rubric_delete")
    assert "Runs use this rubric." in text_of(client_editor.get(url))
    answer = client_editor.post(url)
    assert answer.status_code == 409
    assert 'href="/runs/3/"' in text_of(answer)
    assert Evaluator.objects.exists()
    assert "Booking, run 3" in text_of(
        client_editor.get(address(version) + "?tab=usage")
    )


def test_deletion_asks_and_takes_all_along(client_editor, version):
    client_editor.post(address(version, "rubric_edit"))
    url = address(version, "rubric_delete")
    assert "Delete booking?" in text_of(client_editor.get(url))
    assert client_editor.post(url).status_code == 302
    assert not Evaluator.objects.exists()
    assert not RubricDraft.objects.exists()


def test_a_copy_in_another_project(client_editor, editor, version):
    url = address(version, "rubric_copy")
    assert "No other project" in text_of(client_editor.get(url))
    other = Project.objects.create(name="Second", slug="second")
    closed = Project.objects.create(name="Closed", slug="closed")
    Membership.objects.create(project=other, user=editor, role=Role.EDITOR)
    Membership.objects.create(project=closed, user=editor, role=Role.VIEWER)
    text = text_of(client_editor.get(url))
    assert f'<option value="{other.pk}"' in text
    assert f'<option value="{closed.pk}"' not in text
    answer = client_editor.post(url, {"project": closed.pk, "name": "booking"})
    assert answer.status_code == 422
    answer = client_editor.post(url, {"project": other.pk, "name": "booking"})
    copy = EvaluatorVersion.objects.get(evaluator__project=other)
    assert answer["Location"] == reverse("rubric", args=["second", copy.evaluator.ref])
    assert copy.number == 1
    assert copy.origin["project"] == "Booking"
    assert copy.evaluator_definition.id == copy.ref != version.ref
    assert copy.evaluator_definition.rubric == version.evaluator_definition.rubric
    answer = client_editor.post(url, {"project": other.pk, "name": "Booking"})
    assert answer.status_code == 422
    assert "is taken" in text_of(answer)


def test_a_long_name_fits_the_metrics_of_runs(client_editor, project):
    start(client_editor, project, name="n" * 256).post("publish")
    version = EvaluatorVersion.objects.get()
    assert version.evaluator.name == "n" * 256
    metrics = version.evaluator_definition.metrics
    assert max(len(metric.name) for metric in metrics) <= 120


def test_exports_of_versions_that_do_not_exist(client_editor, version):
    assert client_editor.get(address(version, "rubric_export", 2)).status_code == 404


def test_our_own_settings_survive_export_and_paste(client_editor, editor, version):
    second = next_version(
        version,
        editor,
        normalization="minmax",
        fail_on_any_1=True,
        level="conversation",
    )
    url = address(second, "rubric_export", 2) + "?form=definition"
    text = text_of(client_editor.get(url))
    again = start(client_editor, second.evaluator.project, name="again", json=text)
    spec, problems = read(again.document)
    assert not problems
    old = second.evaluator_definition.rubric
    assert saving.keyless(spec) == saving.keyless(old)
    assert again.document.name == "again"
    assert json.loads(text)["definition"]["level"] == "conversation"
