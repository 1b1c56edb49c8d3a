"""The run page: progress while it is open, then results whose counts add up."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from assay.scoring.stats import wilson
from evaluations import lifecycle, summaries
from evaluations.models import Item, Result, Run, RunState
from evaluations.models.results import OutcomeChoice
from evaluations.queries import metrics_of, progress_of
from tests.factories import make_version, score_run

pytestmark = pytest.mark.django_db


def test_counts_always_add_up(run):
    assert run.done == run.passed + run.failed + run.errored + run.skipped == 60
    for tally in summaries.tallies_of(run).values():
        assert tally.total == 60
        assert sum(tally.histogram) == tally.scored == tally.passed + tally.failed


def test_tallies_equal_a_count_by_hand(run):
    for pk, tally in summaries.tallies_of(run).items():
        results = list(Result.objects.filter(run=run, metric=pk))
        scores = [r.score for r in results if r.score is not None]
        by_outcome = [sum(r.outcome == o for r in results) for o in (1, 2, 3, 4)]
        assert by_outcome == [
            tally.passed,
            tally.failed,
            tally.not_applicable,
            tally.errored,
        ]
        assert tally.mean() == pytest.approx(sum(scores) / len(scores), abs=1e-9)
        assert tally.sum_squares == pytest.approx(sum(s * s for s in scores), abs=1e-6)


def test_it_shows_rate_counts_and_interval(run, page, client_viewer):
    html = client_viewer.get(page("run")).content.decode()
    judged = run.passed + run.failed
    ends = wilson(run.passed, judged)
    assert f"{100 * run.passed / judged:.1f}%" in html
    assert f"{run.passed} of {judged}" in html
    assert f"95% CI {100 * ends.low:.1f}% to {100 * ends.high:.1f}%" in html


def test_errors_of_a_criterion_lead_to_its_rows(run, page, client_viewer):
    response = client_viewer.get(page("run"))
    for card in response.context["all_cards"]:
        query = f"?metric={card.metric.pk}&verdict=error"
        linked = f'href="{query.replace("&", "&amp;")}#rows"' in response.text
        assert linked == bool(card.tally.errored)
        rows = client_viewer.get(page("run", query=query)).context["page"]
        assert rows.paginator.count == card.tally.errored


def test_few_rows_are_named(project, owner, queued, page, client_viewer):
    score_run(queued, rows=6)
    html = client_viewer.get(page("run", query="?tab=results")).content.decode()
    assert "few rows" in html


def test_an_open_run_shows_its_progress(going, page, client_viewer):
    html = client_viewer.get(page("run")).content.decode()
    assert 'id="progress"' in html
    assert "25 of 60 rows" in html
    assert "41%" in html
    assert "elapsed" in html
    assert "left" in html
    assert 'http-equiv="refresh"' in html


def test_polling_answers_with_the_region(going, page, client_viewer):
    headers = {"HX-Request": "true", "HX-Target": "progress"}
    address = page("run", query="?said=40&state=running")
    html = client_viewer.get(address, headers=headers).content.decode()
    assert html.lstrip().startswith('<div id="progress"')
    assert "data-poll" in html
    assert "progress-said" not in html
    assert "run-state" not in html


def test_a_new_step_is_said_once_and_a_new_state_is_sent_along(
    going, page, client_editor
):
    headers = {"HX-Request": "true", "HX-Target": "progress"}
    address = page("run", query="?said=30&state=queued")
    html = client_editor.get(address, headers=headers).content.decode()
    assert '<p id="progress-said" hx-swap-oob="innerHTML">40% of the rows' in html
    assert "said=40" in html
    assert 'id="run-state" hx-swap-oob="true"' in html
    assert 'id="run-actions" hx-swap-oob="true"' in html


def test_a_poll_after_the_end_leads_to_the_results(run, page, client_viewer):
    headers = {"HX-Request": "true", "HX-Target": "progress"}
    response = client_viewer.get(page("run"), headers=headers)
    assert response["HX-Redirect"] == page("run")


def test_partial_results_say_so(going, page, client_viewer):
    html = client_viewer.get(page("run", query="?tab=results")).content.decode()
    assert "Partial results." in html
    assert "25 of 60 rows are scored so far" in html


def test_a_filter_in_the_address_of_an_open_run_means_its_results(
    going, page, client_viewer
):
    response = client_viewer.get(page("run", query="?result=fail"))
    assert response["Location"] == page("run", query="?result=fail&tab=results")


def test_a_paused_run_says_why(going, page, client_editor, client_viewer):
    lifecycle.pause(going.pk, "The server answered 401. The stored key is wrong.")
    html = client_editor.get(page("run")).content.decode()
    assert "The run is paused." in html
    assert "The stored key is wrong." in html
    assert page("run_resume") in html
    assert page("run_resume") not in client_viewer.get(page("run")).content.decode()


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (RunState.FAILED, "The disk is full."),
        (RunState.CANCELED, "The run was canceled."),
    ],
)
def test_an_end_before_the_end_names_its_cause(run, page, client_editor, state, words):
    Run.objects.filter(pk=run.pk).update(state=state, error="The disk is full.")
    html = client_editor.get(page("run")).content.decode()
    assert words in html
    assert page("run_again") in html


def test_a_run_of_errors_opens_with_the_errors(run, page, client_viewer):
    Result.objects.filter(run=run).update(outcome=4, score=None, error_code="timeout")
    Item.objects.filter(run=run).update(outcome=4)
    summaries.refresh(run)
    response = client_viewer.get(page("run"))
    assert response.context["tab"] == "errors"
    html = client_viewer.get(page("run", query="?tab=results")).content.decode()
    assert "No scores" in html


def test_the_errors_tab_groups_by_code(run, page, client_viewer):
    response = client_viewer.get(page("run", query="?tab=errors"))
    total = Result.objects.filter(run=run, outcome=OutcomeChoice.ERROR).count()
    assert sum(group["n"] for group in response.context["groups"]) == total
    for part in response.context["groups"][0]["parts"]:
        rows = client_viewer.get(page("run", query=f"?{part['query']}"))
        assert rows.context["page"].paginator.count == part["n"]


def test_a_simulated_run_says_what_that_means(run, page, client_viewer):
    assert b"simulated" not in client_viewer.get(page("run")).content.lower()
    Run.objects.filter(pk=run.pk).update(simulated=True)
    html = client_viewer.get(page("run")).content.decode()
    assert "says nothing about quality" in html
    assert html.count(">Simulated<") + html.count("Simulated</span>") >= 3
    assert b"Simulated" in client_viewer.get(page("evaluation")).content


def test_rows_are_swapped_with_what_depends_on_them(run, page, client_viewer):
    headers = {"HX-Request": "true", "HX-Target": "row-table", "HX-Boosted": "true"}
    address = page("run", query="?result=fail&q=&per=20")
    response = client_viewer.get(address, headers=headers)
    html = response.content.decode()
    assert html.lstrip().startswith('<div id="row-table"')
    for name in ("row-chips", "row-tools", "row-hidden"):
        assert f'id="{name}"' in html
    assert html.count('hx-swap-oob="true"') == 3
    assert response["HX-Push-Url"] == page("run", query="?result=fail")


def test_going_back_gets_the_whole_page(run, page, client_viewer):
    headers = {
        "HX-Request": "true",
        "HX-Target": "row-table",
        "HX-History-Restore-Request": "true",
    }
    assert b"<html" in client_viewer.get(page("run"), headers=headers).content


def test_chosen_columns_are_shown(run, page, client_viewer):
    html = client_viewer.get(page("run", query="?cols=d2.d3")).content.decode()
    table = html[html.index('id="row-table"') :]
    assert ">ground_truth<" in table
    assert "Answer 1." in table
    assert "<img" in table
    assert "Coherence" not in table[: table.index("</thead>")]


@pytest.mark.parametrize(
    "query",
    ["", "?tab=errors", "?tab=config", "?tab=log", "?q=terrace", "?cols=d0.d2.d3.d4"],
)
def test_every_tab_makes_thirteen_queries_at_most(
    run, page, client_editor, django_assert_max_num_queries, query
):
    with django_assert_max_num_queries(13):
        assert client_editor.get(page("run", query=query)).status_code == 200


def test_a_bar_costs_one_query_more(
    run, page, client_editor, django_assert_max_num_queries
):
    pk = next(iter(metrics_of(run.evaluation)))
    address = page("run", query=f"?bin=2&metric={pk}")
    with django_assert_max_num_queries(13):
        client_editor.get(address)


def test_progress_makes_twelve_queries_at_most(
    going, page, client_editor, django_assert_max_num_queries
):
    with django_assert_max_num_queries(13):
        client_editor.get(page("run"))


def test_the_evaluation_page_makes_twelve_queries_at_most(
    run, page, client_editor, django_assert_max_num_queries, project
):
    make_version(project, [{"query": "x"}], name="other")
    for number in range(2, 9):
        run.evaluation.runs.create(
            number=number,
            target=run.target,
            dataset_version=run.dataset_version,
            total=60,
        )
    with django_assert_max_num_queries(13):
        response = client_editor.get(page("evaluation"))
    assert len(response.context["lines"]) == 8


def test_the_remaining_time_comes_from_the_pace_since_the_last_start(going):
    """A run that was paused for a day does not look as slow as that day."""
    now = timezone.now()
    going.started_at = now - timedelta(days=1)
    going.pace_from, going.pace_done = now - timedelta(seconds=10), 5
    remaining = progress_of(going, now=now).remaining
    assert remaining == pytest.approx(10 / 20 * 35)
