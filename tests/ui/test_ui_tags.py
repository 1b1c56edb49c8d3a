"""Tags and filters of `{% load ui %}`."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from django import forms
from django.core.paginator import Paginator
from django.http import QueryDict
from django.template import Context, Template
from django.test import RequestFactory

from workspace import formats, transcript
from workspace.templatetags import ui

NOW = dt.datetime(2026, 11, 27, 12, 0, tzinfo=dt.UTC)
SHELL = {"project": SimpleNamespace(slug="demo", name="Demo")}
IMAGE = {
    "$blob": "a1",
    "mime": "image/png",
    "size": 2048,
    "width": 720,
    "height": 480,
    "alt": "Floor <plan>",
}
AUDIO = {
    "$blob": "b2",
    "mime": "audio/wav",
    "size": 56_002,
    "duration": 7,
    "waveform": [10, 90] * 50,
}


@pytest.fixture(autouse=True)
def _own_addresses(settings):
    settings.ROOT_URLCONF = "tests.ui.urls"
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {
            "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        },
    }


def draw(source, query="", **context):
    request = RequestFactory().get(f"/x/?{query}")
    values = {"request": request, "shell": SHELL, **context}
    return Template("{% load ui %}" + source).render(Context(values))


@pytest.mark.parametrize(
    ("part", "total", "text"),
    [(188, 234, "80.3%"), (0, 5, "0.0%"), (5, 5, "100.0%"), (1, 0, "–")],
)
def test_share(part, total, text):
    assert formats.share(part, total) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0, "0"),
        (1184, "1,184"),
        (214_000, "214 k"),
        (999_700, "1.00 M"),
        (2_310_000, "2.31 M"),
        (3_000_000_000, "3.00 G"),
    ],
)
def test_compact_number(value, text):
    assert formats.compact_number(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "–"),
        (0, "0 s"),
        (0.04, "40 ms"),
        (3.2, "3.2 s"),
        (9.96, "10 s"),
        (60, "1 min"),
        (698, "11 min 38 s"),
        (3600, "1 h"),
        (3605, "1 h"),
        (4320, "1 h 12 min"),
        (90_000, "1 d 1 h"),
    ],
)
def test_duration(seconds, text):
    assert formats.duration(seconds) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (None, "–"),
        (0, "$0.00"),
        (0.001, "< $0.01"),
        (1.88, "$1.88"),
        (1234.5, "$1,234.50"),
        (-2, "−$2.00"),
    ],
)
def test_money(amount, text):
    assert formats.money(amount) == text


def test_a_sum_that_rounds_to_a_cent_is_a_cent():
    assert formats.money(0.0074) == "$0.01"


@pytest.mark.parametrize(
    ("value", "text"), [(0.06, "+0.06"), (-0.1, "−0.10"), (0.001, "0.00")]
)
def test_signed(value, text):
    assert formats.signed(value) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (1, "1 byte"),
        (512, "512 bytes"),
        (98_304, "96 KB"),
        (19_293_798, "18.4 MB"),
        (222_298_112, "212 MB"),
        (1023 * 1024, "1.0 MB"),
    ],
)
def test_filesize(size, text):
    assert formats.filesize(size) == text


@pytest.mark.parametrize(
    ("ago", "text"),
    [
        (dt.timedelta(hours=3), "Today, 09:00"),
        (dt.timedelta(hours=18), "Yesterday, 18:00"),
        (dt.timedelta(days=2), "25 Nov, 12:00"),
        (dt.timedelta(days=400), "23 Oct 2025"),
    ],
)
def test_moment(ago, text):
    assert formats.moment(NOW - ago, now=NOW) == text


def test_recent_moments_can_be_relative():
    assert formats.ago(NOW - dt.timedelta(minutes=12), now=NOW) == "12 min ago"
    assert formats.ago(NOW - dt.timedelta(seconds=5), now=NOW) == "Just now"
    assert formats.ago(NOW - dt.timedelta(hours=2), now=NOW) == "Today, 10:00"


def test_when_keeps_the_exact_time():
    html = draw("{% when at %}", at=NOW)
    assert 'datetime="2026-11-27T12:00:00+00:00"' in html
    assert 'title="2026-11-27 12:00:00 UTC"' in html


def test_preview_is_one_line_and_cut():
    assert formats.preview("a\n b") == "a b"
    assert len(formats.preview("x" * 500)) == 200
    assert formats.preview(None) == ""


@pytest.mark.parametrize(
    ("status", "tone", "word"),
    [
        ("pass", "pass", "Pass"),
        ("error", "warn", "Error"),
        ("not_applicable", "neutral", "Not applicable"),
        ("completed_with_errors", "warn", "Completed with errors"),
    ],
)
def test_a_badge_has_tone_icon_and_word(status, tone, word):
    html = ui.badge(status)
    assert f"badge-{tone}" in html
    assert "<use href=" in html
    assert html.endswith(f"{word}</span>")


def test_a_running_badge_spins_and_takes_another_text():
    html = ui.badge("running", "Running 59%")
    assert "spin" in html
    assert "Running 59%" in html


def test_an_unknown_status_is_shown_and_escaped():
    assert "&lt;b&gt;" in ui.badge("<b>")


@pytest.mark.parametrize(
    ("args", "html"),
    [
        ((1, 1, 5), 'score-1">1'),
        ((5, 1, 5), 'score-5">5'),
        ((7, 0, 7, "decrease"), 'score-1">7'),
        ((0, 0, 7, "decrease"), 'score-5">0'),
        ((0.21, 0, 1), 'tnum">0.21'),
        ((1, 0, 1), 'tnum">1.00'),
        ((4.24, 1, 5), 'tnum">4.24'),
        ((None,), 'score-na">n/a'),
        ((float("nan"),), 'score-na">n/a'),
    ],
)
def test_score(args, html):
    assert html in ui.score(*args)


def test_score_bar_prints_the_number_and_the_half_interval():
    html = draw("{% score_bar 0.8475 0 1 0.5 half=0.02 width=52 %}")
    assert "<b>0.85</b>" in html
    assert "±0.02" in html
    assert 'class="thr" x1="26"' in html
    assert "–" in draw("{% score_bar none %}", none=None)


def test_only_significant_changes_are_coloured():
    assert "delta-up" in ui.delta(0.06, "Improved (strong)", "against run 13")
    assert "delta-down" in ui.delta(-0.1, "Degraded (weak)")
    assert "delta-" not in ui.delta(0.02, "Inconclusive")


@pytest.mark.parametrize(
    ("current", "changes", "url"),
    [
        ("b=2&a=1", {}, "?a=1&b=2"),
        ("a=1&page=3", {"sort": "-score"}, "?a=1&sort=-score"),
        ("a=1&page=3", {"page": 4}, "?a=1&page=4"),
        ("a=1&page=3", {"page": 1}, "?a=1"),
        ("a=1", {"a": None}, "?"),
        ("a=&b=1", {}, "?b=1"),
        ("sel=14", {"sel": [14, 13]}, "?sel=13&sel=14"),
        ("sort=-started", {"a": "x y"}, "?a=x+y"),
    ],
)
def test_query_strings_are_canonical(current, changes, url):
    query = QueryDict(current)
    assert ui.canonical_query(query, changes, {"sort": "-started"}) == url


def test_query_url_reads_the_request():
    assert draw("{% query_url q=None result='fail' %}", "q=x&has=image") == (
        "?has=image&amp;result=fail"
    )


def test_the_pager_keeps_the_query_and_marks_the_page():
    page = Paginator(range(240), 8).page(2)
    html = draw("{% pager page %}", "q=x&page=2", page=page)
    assert 'href="?q=x" rel="prev"' in html
    assert 'href="?page=3&amp;q=x" rel="next"' in html
    assert 'href="?page=2&amp;q=x" aria-current="page">2<' in html
    assert "…" in html


def test_the_first_page_has_no_previous():
    html = draw("{% pager page %}", page=Paginator(range(20), 8).page(1))
    assert html.count("aria-disabled") == 1


def test_sort_links_turn_the_order():
    assert 'href="?sort=score"' in draw("{% sort_link 'score' 'Score' '-score' %}")
    assert 'href="?sort=-score"' in draw("{% sort_link 'score' 'Score' 'score' %}")
    assert ui.aria_sort("score", "-score") == 'aria-sort="descending"'
    assert ui.aria_sort("score", "name") == ""


def test_an_image_is_a_thumbnail_in_a_link():
    html = draw("{% media value %}", value=IMAGE)
    assert 'href="/p/demo/media/a1" data-lightbox' in html
    assert 'src="/p/demo/media/a1?size=thumb" width="168" height="112"' in html
    assert 'loading="lazy" alt="Floor &lt;plan&gt;"' in html


def test_an_audio_has_native_controls_and_a_waveform():
    html = draw("{% media value %}", value=AUDIO)
    assert '<audio controls preload="none" src="/p/demo/media/b2"' in html
    assert html.count("<rect") == ui.SMALL_WAVE
    assert "0:07" in html


def test_other_media_are_downloads():
    html = draw(
        "{% media value %}",
        value={"$blob": "c3", "mime": "application/pdf", "size": 10},
    )
    assert "download" in html
    assert "<img" not in html


@pytest.mark.parametrize(
    ("width", "height", "box"),
    [
        (720, 480, (168, 112)),
        (100, 50, (100, 50)),
        (50, 1000, (6, 112)),
        (None, None, (168, 112)),
    ],
)
def test_thumbnails_fit_and_are_not_enlarged(width, height, box):
    assert ui.thumb_box(width, height) == box


MESSAGES = [
    {"role": "system", "content": "Be brief.\nBe kind."},
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "See <this>"},
            {"type": "image_url", "image_url": IMAGE},
            {"type": "input_audio", "input_audio": AUDIO},
        ],
    },
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "function": {"name": "book", "arguments": '{"size": 12}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": '{"status": "confirmed"}'},
    {"role": "assistant", "content": "Booked."},
]


def test_a_result_stands_under_its_call_and_the_answer_joins_it():
    system, user, agent = transcript.turns(MESSAGES)
    assert system.lines == "2 lines"
    assert [part.kind for part in user.parts] == ["text", "media", "media"]
    call, answer = agent.parts
    assert (call.name, call.arguments, call.result) == (
        "book",
        {"size": 12},
        {"status": "confirmed"},
    )
    assert answer.text == "Booked."


def test_calls_inside_the_content_are_read_as_well():
    messages = [
        {
            "role": "assistant",
            "content": [
                {
                    "type": "tool_call",
                    "tool_call_id": "x",
                    "name": "book",
                    "arguments": {"a": 1},
                }
            ],
        },
        {
            "role": "tool",
            "tool_call_id": "x",
            "content": [{"type": "tool_result", "tool_result": {"error": "full"}}],
        },
    ]
    (turn,) = transcript.turns(messages)
    assert turn.parts[0].name == "book"
    assert turn.parts[0].status == "error"


def test_a_result_without_its_call_is_shown_alone():
    (turn,) = transcript.turns([{"role": "tool", "tool_call_id": "y", "content": "ok"}])
    assert turn.parts[0].kind == "result"


@pytest.mark.parametrize(
    "messages", [None, "", "hello", [], ["x"], {"role": "user"}, [{"content": 3}]]
)
def test_odd_conversations_do_not_fail(messages):
    transcript.turns(messages)


def test_a_conversation_is_drawn_and_escaped():
    html = draw("{% conversation messages %}", messages=MESSAGES)
    assert "See &lt;this&gt;" in html
    assert "data-lightbox" in html
    assert "data-audio" in html
    assert "Returned" in html
    assert "Instructions" in html


def test_json_is_a_tree_with_typed_leaves():
    html = draw(
        "{% json_tree value %}", value={"a": [1, "<x>", None], "b": {"c": True}}
    )
    assert '<span class="jn">1</span>' in html
    assert "&lt;x&gt;" in html
    assert '<span class="jb">null</span>' in html
    assert "3 items" in html


def test_json_is_bounded_in_number_depth_and_length():
    many = transcript.json_nodes(list(range(10_000)))[0]
    assert len(many.children) <= transcript.MAX_NODES + 1
    assert many.children[-1].note.endswith("more")
    deep: object = 1
    for _level in range(100):
        deep = [deep]
    assert draw("{% json_tree value %}", value=deep).count("<details") <= 10
    long = transcript.json_nodes("x" * 5000)[0]
    assert len(long.text) < 2100
    assert long.note == "3,000 more characters"


def test_a_stored_medium_in_json_is_named_not_dumped():
    html = draw("{% json_tree value %}", value={"image_url": IMAGE})
    assert "image/png" in html
    assert "a1" not in html


class BookingForm(forms.Form):
    name = forms.CharField(label="run name", help_text="Shown in lists.")
    kind = forms.ChoiceField(choices=[("a", "A")], required=False)
    theme = forms.ChoiceField(
        choices=[("l", "Light")], widget=forms.RadioSelect, required=False
    )
    note = forms.CharField(widget=forms.Textarea, required=False)
    on = forms.BooleanField(required=False)


def test_a_field_with_an_error_is_described_and_marked():
    form = BookingForm({})
    html = draw("{% field form.name %}", form=form)
    assert 'aria-describedby="id_name_helptext id_name_error"' in html
    assert 'aria-invalid="true"' in html
    assert 'id="id_name_error"' in html
    assert 'class="req"' in html


def test_every_kind_of_field_has_its_classes():
    html = draw(
        "{% for bound in form %}{% field bound %}{% endfor %}", form=BookingForm()
    )
    assert 'class="input"' in html
    assert '<span class="select"><select' in html
    assert 'class="textarea"' in html
    assert 'rows="3"' in html
    assert "<legend>Theme" in html
    assert '<label class="check"><input type="checkbox"' in html


def test_problems_link_to_their_fields():
    form = BookingForm({})
    form.add_error(None, "Nothing chosen.")
    assert ui.problems(form) == [
        {"text": "Nothing chosen.", "href": ""},
        {"text": "Run name: This field is required.", "href": "#id_name"},
    ]


@pytest.mark.parametrize(
    ("template", "context"),
    [
        ("_ui/_problem_list.html", {"problems": [{"text": "A", "href": "#a"}]}),
        ("_ui/_empty.html", {"heading": "No evaluations yet", "text": "x"}),
        (
            "_ui/_confirm.html",
            {"heading": "Delete?", "submit": "Delete", "cancel_url": "/"},
        ),
        (
            "_ui/_dialog_confirm.html",
            {"id": "d", "heading": "Delete?", "submit": "Delete"},
        ),
        (
            "_ui/_stepper.html",
            {"steps": [{"label": "Target", "url": "/", "state": "done"}]},
        ),
        ("_ui/_skeleton_rows.html", {"rows": 2, "columns": 3}),
        ("_ui/_drop.html", {"label": "File", "hint": "CSV"}),
        ("_ui/_badge.html", {"status": "pass"}),
        ("_ui/_messages.html", {"messages": [SimpleNamespace(tags="success")]}),
        ("base.html", {}),
        ("plain.html", {}),
        ("400.html", {}),
        ("403.html", {}),
        ("404.html", {}),
    ],
)
def test_every_shared_template_renders(template, context):
    assert draw(f"{{% include '{template}' %}}", **context).strip()


def test_the_page_of_a_server_error_needs_no_context():
    html = Template("{% include '500.html' %}").render(Context({}))
    assert "Something failed on the server" in html
    assert "Assay" in html


def test_the_icons_that_templates_name_exist():
    root = Path(__file__).parents[2]
    drawn = set(
        re.findall(r'symbol id="([\w-]+)"', (root / "static/icons.svg").read_text())
    )
    named = {symbol for _tone, symbol, _word in ui.STATUSES.values()}
    named |= set(transcript.ROLE_ICONS.values())
    for file in (root / "templates").rglob("*.html"):
        named |= set(re.findall(r'{% icon "([\w-]+)"', file.read_text()))
    assert named <= drawn
