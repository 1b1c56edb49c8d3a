"""What people say about rows: saved at once, never that of another."""

from __future__ import annotations

import json

import pytest

from assay.scoring.outcome import Outcome
from evaluations import labels, rubricruns
from evaluations.models import Label
from tests.core.rubrics import RESTAURANT
from tests.factories import score_run
from tests.support.making import make_rubric, make_spec, submit

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def rubric(project, owner):
    return make_rubric(project, owner, RESTAURANT)


@pytest.fixture
def rubric_run(project, owner, version, judge, rubric):
    spec = make_spec(version, [rubric.ref], judge=judge, name="Rubric gate")
    return score_run(submit(project, owner, spec))


def label(client, page, row=3, **sent):
    return client.post(page("run_row_label", row), sent, headers=HTMX)


def test_each_press_is_saved_at_once(client_editor, editor, run, page):
    label(client_editor, page, verdict="fail")
    label(client_editor, page, score="2")
    response = label(client_editor, page, comment="  Wrong date  ")
    found = Label.objects.get()
    assert (found.verdict, found.score) == (Outcome.FAIL, 2)
    assert (found.comment, found.by) == ("Wrong date", editor)
    html = response.content.decode()
    assert 'aria-pressed="true"' in html
    assert "Wrong date" in html


def test_what_is_taken_back_is_gone(client_editor, run, page):
    label(client_editor, page, verdict="pass", score="5")
    label(client_editor, page, verdict="")
    assert Label.objects.get().score == 5
    label(client_editor, page, score="")
    assert not Label.objects.exists()


def test_nobody_changes_the_label_of_another(
    client_editor, client_owner, editor, run, page
):
    label(client_editor, page, verdict="pass", comment="Fine")
    label(client_owner, page, verdict="fail")
    assert Label.objects.count() == 2
    mine = Label.objects.get(by=editor)
    assert (mine.verdict, mine.comment) == (Outcome.PASS, "Fine")
    html = client_owner.get(page("run_row", 3)).content.decode()
    assert "Fine" in html


@pytest.mark.parametrize(
    "sent",
    [
        {"verdict": "perhaps"},
        {"score": "6"},
        {"score": "0"},
        {"score": "2.5"},
        {"dimension-999999": "3"},
        {"dimension-x": "3"},
    ],
)
def test_a_wrong_label_is_refused(client_editor, run, page, sent):
    assert label(client_editor, page, **sent).status_code == 422
    assert not Label.objects.exists()


def test_without_scripts_the_label_leads_back(client_editor, run, page):
    response = client_editor.post(page("run_row_label", 3), {"verdict": "pass"})
    assert response.status_code == 302
    assert response.url.startswith(page("run_row", 3))


def test_hostile_comments_are_text(client_editor, run, page):
    comment = "<script>alert(1)</script>\0" + "x" * 9000
    html = label(client_editor, page, comment=comment).content.decode()
    assert "<script>alert" not in html
    assert len(Label.objects.get().comment) == labels.MOST_COMMENT


def rows_listed(client, page, query):
    html = client.get(page("run", query=query))
    return [row.item.index for row in html.context["rows"]]


def test_labelled_rows_filter(client_editor, run, page):
    item = run.items.filter(outcome=Outcome.PASS).order_by("index")[0]
    other = run.items.filter(outcome=Outcome.FAIL).order_by("index")[0]
    label(client_editor, page, item.index, verdict="fail")
    label(client_editor, page, other.index, verdict="fail")
    both = sorted([item.index, other.index])
    assert rows_listed(client_editor, page, "?label=any") == both
    assert rows_listed(client_editor, page, "?label=disagree") == [item.index]
    html = client_editor.get(page("run")).content.decode()
    assert "Human disagrees" in html
    assert labels.counts(run) == labels.Counts(2, 1)


def test_labels_are_exported(client_editor, editor, run, page):
    label(client_editor, page, 3, verdict="fail", score="1", comment="No")
    content = client_editor.get(page("run_export", query="?format=jsonl"))
    lines = b"".join(content.streaming_content).decode().splitlines()
    rows = {row["row"]: row for row in map(json.loads, lines)}
    (said,) = rows[3]["labels"]
    assert (said["verdict"], said["score"], said["comment"]) == ("fail", 1, "No")
    assert said["by"] == str(editor)
    assert rows[4]["labels"] == []


# Rubrics


def test_the_run_page_shows_dimensions(client_viewer, rubric_run):
    from evaluations.addresses import run_url

    response = client_viewer.get(run_url(rubric_run))
    html = response.content.decode()
    assert "booking-quality by dimension" in html
    (card,) = response.context["rubrics"]
    assert [line.card.metric.name for line in card.lines] == [
        dimension.id for dimension in RESTAURANT.dimensions
    ]
    assert sum(line.share for line in card.lines) == pytest.approx(1)
    for line in card.lines:
        assert sum(line.counts) == line.card.tally.scored
    names = [c.metric.key for c in response.context["all_cards"]]
    assert names == ["rubric"]


def test_rows_sort_and_filter_by_a_dimension(client_viewer, rubric_run):
    from evaluations.addresses import run_url
    from evaluations.models import Metric

    metric = Metric.objects.get(
        criterion__evaluation=rubric_run.evaluation,
        key="dimension.policy_enforcement",
    )
    query = f"?metric={metric.pk}&max=2&sort=-{metric.pk}"
    response = client_viewer.get(run_url(rubric_run) + query, follow=True)
    found = [row.item for row in response.context["rows"]]
    scores = [item.scores[metric.pk].score for item in found]
    assert scores
    assert scores == sorted(scores, reverse=True)
    assert max(scores) <= 2


def test_dimension_labels_and_agreement(client_editor, rubric_run, rubric):
    from evaluations.addresses import run_url

    items = list(rubric_run.items.order_by("index")[:40])
    for item in items:
        results = {r.metric.key: r for r in item.results.select_related("metric")}
        scored = results["dimension.policy_enforcement"]
        sent = {"verdict": "fail" if item.index % 3 else "pass"}
        if scored.score is not None:
            sent[f"dimension-{scored.metric_id}"] = "3"
        address = f"{run_url(rubric_run)}rows/{item.index}/label/"
        assert client_editor.post(address, sent, headers=HTMX).status_code == 200
    found = rubricruns.judged_rows(rubric.evaluator)
    assert len(found) == 40
    page = f"/p/{rubric.evaluator.project.slug}/evaluators/rubrics/"
    response = client_editor.get(f"{page}{rubric.evaluator.ref}/agreement/")
    html = response.content.decode()
    assert "kappa" in html
    assert "policy_enforcement" in html
    table = response.context["table"]
    counted = (
        table.both_passed + table.judge_only + table.person_only + table.both_failed
    )
    assert counted == response.context["verdicts"]
    differ = sum(row.disagrees for row in found)
    assert table.judge_only + table.person_only == differ


def test_few_labels_say_so(client_editor, rubric_run, rubric):
    from evaluations.addresses import run_url

    page = f"/p/{rubric.evaluator.project.slug}/evaluators/rubrics/"
    address = f"{page}{rubric.evaluator.ref}/agreement/"
    assert "No labels yet" in client_editor.get(address).content.decode()
    client_editor.post(f"{run_url(rubric_run)}rows/1/label/", {"verdict": "pass"})
    html = client_editor.get(address).content.decode()
    assert "Below 30 that is too few to conclude anything." in html


def test_the_rubric_knows_its_runs(rubric_run, rubric):
    from evaluators.usage import uses_of

    (use,) = uses_of([rubric])
    assert use.label == f"Rubric gate, {rubric_run.label}"
    past = rubricruns.newest_run(rubric.evaluator)
    assert past.threshold == 0.5
    assert len(past.scores) == rubric_run.passed + rubric_run.failed
