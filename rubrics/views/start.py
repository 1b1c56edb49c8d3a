"""The page on which a new rubric begins."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from assay.scoring.rubric.exchange import ReadRubric, UnreadableError, read_json
from rubrics import naming, saving
from rubrics.documents import Document, from_json
from rubrics.forms import StartForm
from rubrics.queries import open_drafts
from rubrics.samples import RESTAURANT_DESCRIPTION, RESTAURANT_NAME, restaurant_json
from workspace.models import Role
from workspace.scoping import PortalRequest, project_view
from workspace.sentences import say

MOST_NOTES = 12


@project_view(role=Role.EDITOR)
def rubric_new(request: PortalRequest) -> HttpResponse:
    """Empty, from JSON or from the example; the result is a draft."""
    form = StartForm(request.POST or None, initial=request.GET.dict())
    if request.method == "POST" and form.is_valid():
        start = form.cleaned_data["start"]
        try:
            document, origin, found = begun(form.cleaned_data)
        except UnreadableError as error:
            form.add_error("json", say(error.sentence))
        else:
            wrong = naming.name_problems(request.project, document.name)
            if wrong and document.name and start != StartForm.EXAMPLE:
                form.add_error("name", say(wrong[0].sentence))
            else:
                draft = saving.create_draft(
                    request.project, document, by=request.user, origin=origin
                )
                tell_notes(request, found)
                return redirect("rubric_draft", request.project.slug, draft.ref)
    context = {"form": form, "drafts": open_drafts(request.project)}
    status = 422 if form.errors else 200
    return render(request, "rubrics/new.html", context, status=status)


def begun(
    data: dict[str, str],
) -> tuple[Document, dict[str, str], ReadRubric | None]:
    """The document that a choice on the page gives, and where it comes from.

    Raises `UnreadableError`.
    """
    document = Document(name=data["name"])
    if data["start"] == StartForm.EMPTY:
        return document, {"kind": saving.WRITTEN}, None
    if data["start"] == StartForm.EXAMPLE:
        found = read_json(restaurant_json())
        named = document.model_copy(
            update={
                "name": document.name or RESTAURANT_NAME,
                "description": RESTAURANT_DESCRIPTION,
            }
        )
        return from_json(found, named), {"kind": "sample"}, found
    found = read_json(data["json"])
    read = from_json(found, document)
    if document.name:
        read = read.model_copy(update={"name": document.name})
    return read, {"kind": saving.IMPORTED}, found


def tell_notes(request: PortalRequest, found: ReadRubric | None) -> None:
    """What was not understood, one message each."""
    for note in (found.notes if found else ())[:MOST_NOTES]:
        messages.warning(request, say(note))
