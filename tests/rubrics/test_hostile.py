"""Rubric pages against hostile and clumsy people: never a 500, text stays text."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.urls import reverse

from assay.scoring.rubric.spec import Dimension, RubricSpec
from evaluators.models import Evaluator, EvaluatorVersion
from rubrics import saving, trying
from rubrics.documents import from_spec
from rubrics.models import RubricDraft, RubricJob
from tests.factories import make_version
from tests.rubrics.desk import HTMX, Desk, start, text_of
from tests.support.making import make_deployment, make_rubric
from workspace.models import Membership, Project, Role

pytestmark = pytest.mark.django_db

XSS = "<script>window.__xss = 1</script>"
TABS = ("dimensions", "json", "json&form=definition", "prompt", "versions", "x" * 900)
DEEP = '{"dimensions":' * 20_000 + "[" * 20_000
WRONG = [
    "null", "1", '"x"', "true", "[]", "{}", "[[]]", "[null]", "[1, 2.5, true]", DEEP,
    '[{"id": {}, "description": [], "weight": {"a": 1}, "allowed": "x"}]',
    '[{"id": null, "description": 5, "weight": "9", "always_applicable": "no"}]',
    '[{"id": "a", "description": "b", "weight": 1e400}]',
    '[{"id": "a", "description": "b", "weight": NaN}]',
    '[{"id": "a", "description": "b", "weight": ' + "9" * 5000 + "}]",
    '[{"id": "a", "description": "b", "weight": -0.0, "generated_weight": 1e300}]',
    '[{"id": "a", "description": "b", "weight": 1, "generated_weight": '
    + "9" * 400 + "}]",
    '[{"id": "\\u0000\\ud800", "description": "\\udfff", "weight": 1}]',
    '{"type": 7, "dimensions": {"a": 1}, "pass_threshold": [], "scoring": 3}',
    '{"dimensions": [], "pass_threshold": 1e999, "level": ["turn", "turn", 4]}',
    '{"definition": {"definition": {"dimensions": []}}, "name": {"x": "y"}}',
    '{"definition": [], "dimensions": [{"id": "a", "id": "b"}]}',
    '{"dimensions": [{"id": "a", "description": "b", "weight": 3}],'
    ' "name": ["x"], "display_name": {}, "scoring": {"mode": []},'
    ' "category": 1, "fail_on_any_1": "yes", "normalization": null}',
]  # fmt: skip


@pytest.fixture(autouse=True)
def bells(monkeypatch) -> list[tuple[str, int]]:
    rung: list[tuple[str, int]] = []
    monkeypatch.setattr(
        "workspace.bells.current_app.send_task",
        lambda name, args: rung.append((name, args[0])),
    )
    return rung


@pytest.fixture
def desk(client_editor, project) -> Desk:
    return start(client_editor, project)


@pytest.fixture
def saved(project, editor) -> EvaluatorVersion:
    spec = RubricSpec(dimensions=(Dimension(id="a", description="b", weight=1),))
    return make_rubric(project, editor, spec, name="damson")


def at(project: Project, name: str, *args: Any, query: str = "") -> str:
    return reverse(name, args=[project.slug, *args]) + query


def assert_opens(desk: Desk) -> None:
    """Every tab of the draft still shows."""
    for tab in TABS:
        page = desk.client.get(f"{desk.url}?tab={tab}")
        assert page.status_code == 200
        assert "<script>window" not in text_of(page)


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_json_of_every_wrong_kind(desk, client_editor, project, text):
    posted = {"start": "json", "name": "other", "json": text}
    begun = client_editor.post(at(project, "rubric_new"), posted)
    assert begun.status_code in {302, 422}
    if begun.status_code == 302:
        ref = re.search(r"/drafts/(\w+)/", begun["Location"])[1]
        other = Desk(client_editor, project, RubricDraft.objects.get(ref=ref))
        assert_opens(other)
        assert other.post("publish").status_code in {200, 302, 422}
    assert desk.post("json", json=text).status_code in {302, 422}
    assert_opens(desk)
    assert desk.post("publish", htmx=True).status_code in {200, 204, 422}


def test_a_paste_of_ten_megabytes(client_editor, project):
    text = json.dumps([{"id": "a", "description": "x" * 10_000_000, "weight": 1}])
    posted = {"start": "json", "name": "", "json": text}
    answer = client_editor.post(at(project, "rubric_new"), posted)
    assert answer.status_code in {302, 400, 413, 422}


@pytest.mark.parametrize("count", [50, 60, 100, 101])
def test_very_many_dimensions(client_editor, project, count):
    listed = [
        {"id": f"d{n}", "description": XSS, "weight": 1 + n % 10} for n in range(count)
    ]
    posted = {"start": "json", "name": "many", "json": json.dumps(listed)}
    answer = client_editor.post(at(project, "rubric_new"), posted)
    assert answer.status_code == (302 if count <= 100 else 422)
    if count > 100:
        return
    ref = re.search(r"/drafts/(\w+)/", answer["Location"])[1]
    desk = Desk(client_editor, project, RubricDraft.objects.get(ref=ref))
    assert_opens(desk)
    for do in ("add", "publish"):
        assert desk.post(do).status_code in {200, 302, 422}
    assert Evaluator.objects.filter(name="many").exists() is (count < 50)


HOSTILE = [
    XSS,
    "\"><img src=x onerror=alert(1)> ' {{ x }} {% load x %} %(name)s {0} %s %",
    "名前‮txt.exe",
    "a\0b\ud800\r\n\t",
    "</textarea></pre></script>",
    "x" * 5000,
    "../../etc/passwd",
    "javascript:alert(1)",
    " ",
    "💥" * 200,
]
FIELDS = ("id", "description", "weight", "allowed", "always")
ABOUT = (
    "name", "title", "description", "category", "level", "scoring", "normalization",
    "pass_threshold", "revision", "page", "shape", "key", "version", "row", "count",
    "judge", "try-version", "try-row", "try-count", "try-judge",
)  # fmt: skip
BUTTONS = (
    "save", "auto", "add", "residual", "up", "down:", "remove:", "undo", "forget",
    "publish", "publish:x", "publish:²", "overwrite:", "overwrite:²", "cancel",
    "cancel:job_x", "try", "try:1", "json", "", ":", "nothing", "up:" + "x" * 9000,
)  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_every_field_of_the_editor(desk, value):
    value = value.encode("utf-8", "replace").decode()
    key = desk.key(0)
    for name in (*ABOUT, *(f"{field}-{key}" for field in FIELDS)):
        for do in ("save", "auto", "publish", "try"):
            answer = desk.post(do, htmx=do == "auto", **{name: value})
            assert answer.status_code in {200, 302, 404, 409, 422}, (name, do)
            assert "<script>window" not in text_of(answer)
        desk.draft.refresh_from_db()
    assert_opens(desk)


def test_every_button_with_every_argument(desk):
    for do in BUTTONS:
        for htmx in (False, True):
            answer = desk.post(do, htmx=htmx)
            assert answer.status_code in {200, 302, 404, 409, 422}, do
    answer = desk.client.post(desk.url, {"do": "save", "dimensions": "1", "key": "é"})
    assert answer.status_code in {302, 409, 422}
    assert desk.client.put(desk.url).status_code < 500
    assert_opens(desk)


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_addresses_with_odd_questions(client_editor, project, saved, value):
    value = value.encode("utf-8", "replace").decode()
    ref = saved.evaluator.ref
    names = {"rubric": ref, "rubric_agreement": ref, "rubric_copy": ref}
    asked = {"tab": "versions", "v": value, "from": value, "to": value, "form": value}
    for name, arg in names.items():
        page = client_editor.get(at(project, name, arg), asked)
        assert page.status_code in {200, 404}
    odd = dict.fromkeys(
        ("start", "name", "json", "draft", "rubric", "prompt", "category", "level",
         "model", "title", "q", "c", "kind", "in", "evaluator"), value
    )  # fmt: skip
    for name in ("rubric_new", "rubric_generate", "evaluators"):
        page = client_editor.get(at(project, name), odd)
        assert page.status_code in {200, 404}
        assert "<script>window" not in text_of(page)
    del odd["draft"], odd["rubric"]
    page = client_editor.post(at(project, "rubric_generate"), {**odd, "kept": value})
    assert page.status_code in {200, 422}
    page = client_editor.post(
        at(project, "rubric_copy", ref), {"project": value, "name": value, "v": value}
    )
    assert page.status_code in {200, 422}


def test_numbers_that_no_version_has(client_editor, project, saved):
    ref = saved.evaluator.ref
    for number in ("0", "-1", "2", "9" * 40, "1e3", "٣", "1.0"):
        for query in (f"?v={number}", f"?tab=versions&from={number}&to={number}"):
            assert (
                client_editor.get(at(project, "rubric", ref) + query).status_code < 500
            )
    huge = at(project, "rubric_export", ref, 1).replace("v1.json", f"v{'9' * 400}.json")
    assert client_editor.get(huge).status_code == 404


def test_two_editors_of_one_draft(desk, client_owner, project):
    other = Desk(client_owner, project, desk.draft, page="page2")
    before = other.fields()
    assert desk.post("save", title="Mine").status_code == 302
    lost = client_owner.post(other.url, {**before, "do": "save", "title": "Theirs"})
    assert lost.status_code == 409
    assert desk.document.title == "Mine"
    assert "Theirs" in text_of(lost)
    for do in ("publish", "try", "add", "remove:x"):
        assert client_owner.post(other.url, {**before, "do": do}).status_code == 409
    assert not EvaluatorVersion.objects.exists()


def test_published_twice_there_is_one_version(desk):
    posted = {**desk.fields(), "do": "publish"}
    assert desk.client.post(desk.url, posted).status_code == 302
    again = desk.client.post(desk.url, posted)
    assert again.status_code in {404, 409}
    assert desk.client.post(desk.url, posted, headers=HTMX).status_code == 422
    assert EvaluatorVersion.objects.count() == 1


def test_discarded_and_deleted_twice(desk, client_editor, project, saved):
    gone = at(project, "rubric_draft_discard", desk.draft.ref)
    assert client_editor.post(gone).status_code == 302
    assert client_editor.post(gone).status_code == 404
    delete = at(project, "rubric_delete", saved.evaluator.ref)
    draft = saving.edit(saved, by=saved.created_by)
    assert client_editor.post(delete).status_code == 302
    assert client_editor.post(delete).status_code == 404
    assert client_editor.get(at(project, "rubric_draft", draft.ref)).status_code == 404


def addresses(project: Project, refs: dict[str, str]) -> list[str]:
    """All addresses of rubrics with these refs."""
    rubric = ("rubric", "rubric_edit", "rubric_copy", "rubric_delete",
              "rubric_agreement")  # fmt: skip
    draft = ("rubric_draft", "rubric_draft_discard")
    tries = ("rubric_try", "rubric_try_cancel")
    made = ("rubric_generation", "rubric_generation_cancel", "rubric_generation_take")
    names = {"rubric": rubric, "draft": draft, "try": tries, "generate": made}
    found = [
        at(project, name, refs[key]) for key, listed in names.items() for name in listed
    ]
    return [*found, at(project, "rubric_export", refs["rubric"], 1)]


@pytest.fixture
def refs(project, editor, saved) -> dict[str, str]:
    draft = saving.edit(saved, by=editor)
    common: dict[str, Any] = {"project": project, "by": editor}
    kinds = {kind: RubricJob.objects.create(kind=kind, **common).ref
             for kind in ("try", "generate")}  # fmt: skip
    return {"rubric": saved.evaluator.ref, "draft": draft.ref, **kinds}


def test_refs_of_another_project(client, client_stranger, stranger, project, refs):
    own = Membership.objects.get(user=stranger).project
    for address in addresses(own, refs):
        assert client_stranger.get(address).status_code in {404, 405}, address
        # 409: "the draft is gone", with what was just posted and nothing else.
        answer = client_stranger.post(address, {"do": "save"})
        assert answer.status_code in {404, 409}, address
        assert "damson" not in text_of(answer)
    for address in addresses(project, refs):
        assert client_stranger.get(address).status_code in {404, 405}, address
        assert client_stranger.post(address).status_code in {404, 405}, address
        assert client.post(address).status_code in {302, 404, 405}, address
    query = f"?draft={refs['draft']}&rubric={refs['rubric']}"
    page = client_stranger.get(at(own, "rubric_generate", query=query))
    assert page.status_code == 404 or "damson" not in text_of(page)
    assert Evaluator.objects.filter(ref=refs["rubric"]).exists()
    assert RubricDraft.objects.filter(ref=refs["draft"]).exists()


def test_refs_of_the_wrong_kind(client_editor, project, refs):
    mixed = {
        "rubric": refs["draft"],
        "draft": refs["rubric"],
        "try": refs["generate"],
        "generate": refs["try"],
    }
    for address in addresses(project, mixed):
        for answer in (client_editor.get(address), client_editor.post(address)):
            assert answer.status_code in {302, 404, 405, 409}, address


def test_viewers_change_nothing(client_viewer, project, refs):
    before = (Evaluator.objects.count(), RubricDraft.objects.count())
    for address in addresses(project, refs):
        answer = client_viewer.post(address, {"do": "publish", "take": "a"})
        assert answer.status_code in {200, 403, 405, 422}, address
    for name in ("rubric_new", "rubric_generate"):
        assert client_viewer.post(at(project, name)).status_code == 403
    assert (Evaluator.objects.count(), RubricDraft.objects.count()) == before
    assert not RubricJob.objects.exclude(cancel_requested_at=None).exists()


def test_a_copy_to_where_one_may_not(client_editor, editor, project, saved):
    seen = Project.objects.create(name="Seen", slug="seen")
    Membership.objects.create(project=seen, user=editor, role=Role.VIEWER)
    unseen = Project.objects.create(name="Unseen", slug="unseen")
    for target in (seen.pk, unseen.pk, 10**30, -1, "x", ""):
        page = client_editor.post(
            at(project, "rubric_copy", saved.evaluator.ref),
            {"project": target, "name": "copied"},
        )
        assert page.status_code == 422, target
        assert "Unseen" not in text_of(page)
    assert not Evaluator.objects.filter(name="copied").exists()


def test_a_try_of_foreign_things(desk, stranger, project, bells):
    own = make_version(project, [{"query": "q", "response": "r"}] * 12, name="own")
    judge = make_deployment(project, "http://127.0.0.1:9/v1", "judge")
    elsewhere = Membership.objects.get(user=stranger).project
    foreign = make_version(elsewhere, [{"query": "secret"}], name="foreign")
    spy = make_deployment(elsewhere, "http://127.0.0.1:9/v1", "spy")
    good = {"try-version": own.ref, "try-row": "1", "try-count": "1",
            "try-judge": judge.ref}  # fmt: skip
    bells.clear()
    for wrong in (
        {"try-version": foreign.ref}, {"try-judge": spy.ref}, {"try-row": "13"},
        {"try-row": "0"}, {"try-row": "9" * 30}, {"try-row": "1.5"},
        {"try-count": "11"}, {"try-count": "-1"}, {"try-judge": ""},
    ):  # fmt: skip
        page = desk.post("try", **{**good, **wrong})
        assert page.status_code == 422, wrong
        assert "secret" not in text_of(page)
    assert not bells
    ten = {**good, "try-row": "3", "try-count": "10"}
    assert desk.post("try", **ten).status_code == 302
    job = RubricJob.objects.get()
    assert job.request["indexes"] == list(range(3, 13))
    assert desk.post(f"cancel:{job.ref}").status_code == 302
    cancel = at(project, "rubric_try_cancel", job.ref)
    for _again in range(2):
        assert desk.client.post(cancel).status_code == 302
    assert "Canceled" in text_of(desk.client.get(at(project, "rubric_try", job.ref)))
    job.refresh_from_db()
    assert job.cancel_requested_at is not None


def test_a_try_whose_things_were_deleted(desk, project):
    own = make_version(project, [{"query": "q", "response": "r"}], name="own")
    judge = make_deployment(project, "http://127.0.0.1:9/v1", "judge")
    spec = RubricSpec(dimensions=(Dimension(id="a", description="b", weight=1),))
    asked = {"rows": own, "indexes": [1], "judge": judge, "by": desk.draft.by}
    job = trying.ask(desk.draft, spec, **asked)
    judge.delete()
    own.dataset.delete()
    for address in (desk.url, at(project, "rubric_try", job.ref)):
        assert desk.client.get(address).status_code == 200
    assert from_spec(spec).dimensions
