"""Each filter and sort against a count made without the database."""

from __future__ import annotations

import pytest
from django.http import QueryDict

from assay.scoring.outcome import Outcome
from assay.scoring.summary import Scale
from evaluations.models import Item, Result
from evaluations.queries import metrics_of, neighbours, row_page
from evaluations.rowfilter import RESULTS, RowFilter, filtered_items
from evaluations.rowtable import offered, optional_columns
from evaluations.scores import score_cards

pytestmark = pytest.mark.django_db


def parse(run, query: str) -> RowFilter:
    metrics = metrics_of(run.evaluation)
    columns = offered(optional_columns(run, metrics))
    return RowFilter.parse(QueryDict(query), metrics, columns)


def indexes(run, query: str) -> list[int]:
    wanted = parse(run, query)
    return list(filtered_items(run, wanted).values_list("index", flat=True))


def brute(run, keep) -> list[int]:
    """Rows for which `keep(item, results by metric)` holds, in their order."""
    found = []
    for item in Item.objects.filter(run=run).select_related("row").order_by("index"):
        results = {r.metric_id: r for r in Result.objects.filter(item=item)}
        if keep(item, results):
            found.append(item.index)
    return found


@pytest.mark.parametrize(("key", "outcome"), RESULTS.items())
def test_it_keeps_rows_by_their_result(run, key, outcome):
    expected = brute(run, lambda item, _r: item.outcome == outcome)
    assert indexes(run, f"result={key}") == expected


@pytest.mark.parametrize("key", ["image", "audio"])
def test_it_keeps_rows_with_media(run, key):
    expected = brute(run, lambda item, _r: f'"mime":"{key}/' in item.row.data)
    assert indexes(run, f"has={key}") == expected
    assert expected


@pytest.mark.parametrize("key", RESULTS)
def test_it_keeps_rows_by_a_metrics_verdict(run, key):
    for pk in metrics_of(run.evaluation):
        expected = brute(run, lambda _i, r, pk=pk: r[pk].outcome == RESULTS[key])
        assert indexes(run, f"metric={pk}&verdict={key}") == expected


def test_a_verdict_alone_looks_at_every_metric(run):
    expected = brute(
        run, lambda _i, r: any(x.outcome == Outcome.ERROR for x in r.values())
    )
    assert indexes(run, "verdict=error") == expected


def test_it_keeps_rows_by_an_error_code(run):
    pk = next(iter(metrics_of(run.evaluation)))
    other = Result.objects.filter(metric=pk, outcome=Outcome.ERROR).first()
    assert other is not None
    other.error_code = "timeout"
    other.save()
    assert indexes(run, f"metric={pk}&code=timeout") == [other.item.index]


@pytest.mark.parametrize(("low", "high"), [("2", "4"), ("", "3"), ("3", ""), ("5", "")])
def test_it_keeps_rows_in_a_range_of_scores(run, low, high):
    pk = next(iter(metrics_of(run.evaluation)))

    def keep(_item, results):
        score = results[pk].score
        return (
            score is not None
            and (not low or score >= float(low))
            and (not high or score <= float(high))
        )

    assert indexes(run, f"metric={pk}&min={low}&max={high}") == brute(run, keep)


def test_every_bar_of_every_histogram_leads_to_its_rows(run):
    metrics = metrics_of(run.evaluation)
    for card in score_cards(run, metrics):
        scale = Scale.of(card.metric.spec)
        for place, bar in enumerate(card.bars):
            query = bar.query.removeprefix("?").removesuffix("#rows")
            found = indexes(run, query)
            assert len(found) == bar.count
            for score in Result.objects.filter(
                run=run, metric=card.metric, item__index__in=found
            ).values_list("score", flat=True):
                assert scale.bin_of(score) == place


def test_a_score_on_the_edge_of_a_bar_counts_once(run):
    """Every twentieth of the scale, as multiplication and division give it."""
    metric = next(m for m in metrics_of(run.evaluation).values() if m.maximum == 1)
    results = list(Result.objects.filter(run=run, metric=metric)[:42])
    for n, result in enumerate(results):
        result.score = (n // 2) * 0.05 if n % 2 else (n // 2) / 20
        result.outcome = Outcome.PASS
        result.save()
    Result.objects.filter(run=run, metric=metric).exclude(
        pk__in=[r.pk for r in results]
    ).delete()
    seen = [i for b in range(20) for i in indexes(run, f"metric={metric.pk}&bin={b}")]
    assert len(seen) == len(set(seen)) == 42


@pytest.mark.parametrize("words", ["terrace", "Question 12", "Reason 7.", "nothing"])
def test_it_finds_text_in_input_response_and_reason(run, words):
    def keep(item, results):
        text = f"{item.row.data} {item.preview} {item.input_preview}"
        reasons = " ".join(r.reason for r in results.values())
        return words.casefold() in f"{text} {reasons}".casefold()

    assert indexes(run, f"q={words}") == brute(run, keep)


@pytest.mark.parametrize("written", ["Grüße", "Gr\\u00fc\\u00dfe"])
def test_letters_beyond_ascii_are_found_in_data(run, written):
    item = run.items.get(index=3)
    item.row.data = f'{{"query":"{written}"}}'
    item.row.save()
    assert indexes(run, "q=Grüße") == [3]


def test_filters_narrow_each_other(run):
    pk = next(iter(metrics_of(run.evaluation)))
    expected = brute(
        run,
        lambda item, r: (
            item.outcome == Outcome.FAIL
            and r[pk].outcome == Outcome.PASS
            and '"mime":"image/' in item.row.data
        ),
    )
    query = f"result=fail&metric={pk}&verdict=pass&has=image"
    assert indexes(run, query) == expected


@pytest.mark.parametrize("sign", ["", "-"])
def test_it_sorts_by_a_metric_with_rows_without_score_last(run, sign):
    pk = next(iter(metrics_of(run.evaluation)))
    scores = {
        r.item.index: r.score
        for r in Result.objects.filter(run=run, metric=pk).select_related("item")
    }
    with_score = [i for i, s in scores.items() if s is not None]
    way = -1 if sign else 1
    expected = sorted(with_score, key=lambda i: (way * scores[i], i))
    expected += sorted(i for i, s in scores.items() if s is None)
    assert indexes(run, f"sort={sign}{pk}") == expected


@pytest.mark.parametrize("sort", ["index", "-index", "latency", "-latency", "result"])
def test_every_sort_keeps_every_row(run, sort):
    assert sorted(indexes(run, f"sort={sort}")) == list(range(1, 61))


def test_pages_hold_every_row_once(run):
    pk = next(iter(metrics_of(run.evaluation)))
    seen = []
    for number in (1, 2, 3):
        found = row_page(run, parse(run, f"sort=-{pk}&page={number}"))
        seen += [item.index for item in found]
        assert found.paginator.count == 60
    assert sorted(seen) == list(range(1, 61))
    assert len(row_page(run, parse(run, "per=50"))) == 50
    assert row_page(run, parse(run, "page=99")).number == 3


def test_a_row_knows_its_place_and_its_neighbours(run):
    wanted = parse(run, "result=fail&sort=-index")
    order = indexes(run, "result=fail&sort=-index")
    for place, index in enumerate(order):
        around = neighbours(run, wanted, run.items.get(index=index))
        assert around.place == place + 1
        assert around.count == len(order)
        assert around.previous == (order[place - 1] if place else None)
        following = order[place + 1] if place + 1 < len(order) else None
        assert around.following == following


def test_a_row_outside_of_its_list_has_no_place(run):
    item = run.items.filter(outcome=Outcome.PASS).first()
    assert neighbours(run, parse(run, "result=fail"), item).place is None


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ("", {}),
        ("q=&result=&page=1&per=20&sort=index", {}),
        ("page=0&per=33&result=maybe&sort=999999&has=smell&metric=7x", {}),
        ("min=1&max=2&bin=3", {}),
        ("verdict=error&page=2", {"page": "2", "verdict": "error"}),
        ("q=%00hi%20", {"q": "hi"}),
        ("min=1e999&verdict=pass", {"verdict": "pass"}),
        ("unknown=1&code=a b", {}),
    ],
)
def test_one_view_has_one_query(run, given, canonical):
    assert parse(run, given).as_query() == canonical


def test_columns_are_named_only_when_they_differ_from_the_usual(run):
    metrics = metrics_of(run.evaluation)
    usual = [f"m{pk}" for pk, m in metrics.items() if m.is_primary]
    assert parse(run, "cols=" + ".".join(usual)).columns is None
    assert parse(run, "cols=none").columns == ()
    chosen = parse(run, f"cols=d1&cols=none&cols={usual[0]}&cols=nonsense")
    assert chosen.columns == (usual[0], "d1")
    assert chosen.as_query() == {"cols": f"{usual[0]}.d1"}
