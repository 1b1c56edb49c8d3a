"""The list of evaluations: what it shows, finds and leaves out."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from evaluations import drafts
from evaluations.models import RunState
from tests.factories import score_run
from tests.support.making import make_spec, submit

pytestmark = pytest.mark.django_db
LIST = "/p/booking/evaluations/"


@pytest.fixture
def several(project, owner, version, judge):
    """Three evaluations whose latest runs are in different states."""
    runs = {}
    for name, evaluators, state in (
        ("Nightly", ["f1_score"], None),
        ("Voice requests", ["coherence"], RunState.PAUSED),
        ("Menu photos", ["gleu_score"], RunState.FAILED),
    ):
        spec = make_spec(version, evaluators, judge=judge, name=name)
        run = score_run(submit(project, owner, spec), seed=len(name))
        if state:
            run.state = state
            run.save()
        runs[name] = run
    return runs


def names(response) -> list[str]:
    return [evaluation.name for evaluation, _line in response.context["lines"]]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["Menu photos", "Voice requests", "Nightly"]),
        ("?q=night", ["Nightly"]),
        ("?q=coherence", ["Voice requests"]),
        ("?status=paused", ["Voice requests"]),
        ("?status=failed", ["Menu photos"]),
        ("?status=completed", ["Nightly"]),
        ("?target=dataset", ["Menu photos", "Voice requests", "Nightly"]),
        ("?evaluator=F1+score", ["Nightly"]),
        ("?created=1", ["Menu photos", "Voice requests", "Nightly"]),
        ("?sort=name", ["Menu photos", "Nightly", "Voice requests"]),
        ("?sort=latest", ["Nightly", "Voice requests", "Menu photos"]),
        ("?q=nothing+such", []),
    ],
)
def test_it_finds_and_sorts(several, client_viewer, query, expected):
    assert names(client_viewer.get(LIST + query)) == expected


def test_it_sorts_by_the_share_of_rows_that_passed(several, client_viewer):
    shares = {n: r.passed / (r.passed + r.failed) for n, r in several.items()}
    expected = sorted(shares, key=lambda name: shares[name])
    assert names(client_viewer.get(LIST + "?sort=passed")) == expected


def test_runs_are_counted_once_each(several, client_viewer, project, owner, version):
    """A search that meets two criteria must not double the runs."""
    spec = make_spec(version, ["f1_score", "rouge_score"], name="Scores of score")
    run = submit(project, owner, spec)
    run.evaluation.runs.create(
        number=2, target=run.target, dataset_version=version, total=60
    )
    response = client_viewer.get(LIST + "?q=score")
    counted = {e.name: e.run_count for e, _line in response.context["lines"]}
    assert counted["Scores of score"] == 2


def test_a_filter_by_time_looks_at_the_latest_run(several, client_viewer):
    several["Nightly"].evaluation.runs.update(
        created_at=timezone.now() - timedelta(days=9)
    )
    response = client_viewer.get(LIST + "?created=7")
    assert names(response) == ["Menu photos", "Voice requests"]


def test_one_view_has_one_address(several, client_viewer):
    response = client_viewer.get(LIST + "?status=&q=night&page=1&x=1")
    assert response.status_code == 302
    assert response["Location"] == LIST + "?q=night"


def test_it_answers_with_the_table_alone(several, client_viewer):
    headers = {"HX-Request": "true", "HX-Target": "evaluations"}
    response = client_viewer.get(LIST + "?q=night&status=", headers=headers)
    html = response.content.decode()
    assert html.lstrip().startswith('<div id="evaluations">')
    assert "<html" not in html
    assert response["HX-Push-Url"] == LIST + "?q=night"
    assert "HX-Request" in response["Vary"]


def test_a_boosted_link_gets_the_page(several, client_viewer):
    headers = {"HX-Request": "true", "HX-Boosted": "true"}
    assert b"<html" in client_viewer.get(LIST, headers=headers).content


def test_only_open_runs_are_polled(several, client_viewer):
    html = client_viewer.get(LIST).content.decode()
    assert html.count('data-poll="5"') == 1
    assert f'id="latest-{several["Voice requests"].pk}" data-poll' in html


def test_a_new_project_is_offered_the_sample(project, client_editor, client_viewer):
    html = client_editor.get(LIST).content.decode()
    assert "No evaluations yet" in html
    assert 'action="/p/booking/evaluations/new/sample/"' in html
    assert "new/sample" not in client_viewer.get(LIST).content.decode()


def test_a_person_sees_their_own_drafts(project, editor, client_editor, client_owner):
    draft = drafts.create(project, editor)
    html = client_editor.get(LIST).content.decode()
    assert f"/evaluations/new/{draft.ref}/target/" in html
    assert f"/evaluations/new/{draft.ref}/delete/" in html
    assert draft.ref not in client_owner.get(LIST).content.decode()


def test_simulated_scores_are_named(run, client_viewer):
    assert b"simulated" not in client_viewer.get(LIST).content
    run.simulated = True
    run.save()
    assert b"simulated" in client_viewer.get(LIST).content


def test_it_makes_thirteen_queries_however_long(
    several, client_editor, django_assert_max_num_queries
):
    with django_assert_max_num_queries(13):
        client_editor.get(LIST)
