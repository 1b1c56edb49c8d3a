"""One run: its progress while it is open, then its results."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from evaluations import editing, lifecycle, queries, rowtable, runpage
from evaluations.addresses import run_url
from evaluations.forms.editing import ResumeForm, RunNameForm
from evaluations.models import Run
from evaluations.rowfilter import RowFilter
from evaluations.submit import SpecInvalid
from evaluations.submit import run_again as submit_again
from workspace.htmx import go, is_partial, render_page
from workspace.models import Role
from workspace.scoping import PortalRequest, project_view
from workspace.sentences import say


@project_view()
def run(request: PortalRequest, slug: str, number: int) -> HttpResponse:
    """At most 13 queries on every tab: 4 of the session and shell, 1 run, 8 a tab."""
    found = queries.run_in(request.project, slug, number)
    if is_partial(request) and request.headers.get("HX-Target") == "progress":
        return _polled(request, found)
    page = runpage.RunPage.of(found)
    tab = page.tab_for(request.GET)
    if tab == "results":
        return _results(request, page)
    context = page.context(tab, can_edit=request.role >= Role.EDITOR)
    if tab == "progress":
        context["resume_form"] = ResumeForm(found)
    return render_page(request, "evaluations/run.html", context)


def _polled(request: PortalRequest, found: Run) -> HttpResponse:
    """The progress as it is now; a run that ended leads to its results."""
    if not found.is_open:
        return go(request, run_url(found))
    said = request.GET.get("said", "")
    context = {
        **runpage.progress_context(found),
        "said": int(said) if said.isdecimal() else 0,
        "was": request.GET.get("state", ""),
        "can_edit": request.role >= Role.EDITOR,
        "resume_form": ResumeForm(found),
    }
    return render_page(request, "evaluations/_progress_poll.html", context)


def _wants_rows(request: PortalRequest) -> bool:
    """Links in and around the table are boosted into it."""
    htmx = request.htmx  # type: ignore[attr-defined]
    return (
        bool(htmx) and htmx.target == "row-table" and not (htmx.history_restore_request)
    )


def _results(request: PortalRequest, page: runpage.RunPage) -> HttpResponse:
    """The page, or its table alone. An address that is not canonical is mended."""
    only_rows = _wants_rows(request)
    columns = rowtable.optional_columns(
        page.run, page.metrics, has_labels=bool(page.said.labelled)
    )
    offered = rowtable.offered(columns)
    wanted = RowFilter.parse(request.GET, page.metrics, offered)
    query = page.query("results", wanted)
    address = request.path + (f"?{urlencode(query)}" if query else "")
    if not only_rows and request.GET.urlencode() != urlencode(query):
        return redirect(address)
    request.GET = QueryDict(urlencode(query))
    context = page.rows_context(wanted, columns)
    context["can_edit"] = request.role >= Role.EDITOR
    if only_rows:
        context["oob"] = True
        response = render_page(request, "evaluations/_rows.html", context)
        response["HX-Push-Url"] = address
        return response
    context |= page.context("results", can_edit=request.role >= Role.EDITOR)
    return render_page(request, "evaluations/run.html", context)


@project_view(role=Role.EDITOR)
def run_cancel(request: PortalRequest, slug: str, number: int) -> HttpResponse:
    """Asks on GET, cancels on POST. Finished rows stay."""
    found = queries.run_in(request.project, slug, number)
    if request.method == "POST" or not found.is_open:
        if not lifecycle.cancel(found):
            messages.warning(request, _("The run is over already."))
        return go(request, run_url(found))
    context = {"run": found, "cancel_url": run_url(found)}
    return render(request, "evaluations/cancel.html", context)


@project_view(role=Role.EDITOR)
@require_POST
def run_pause(request: PortalRequest, slug: str, number: int) -> HttpResponse:
    found = queries.run_in(request.project, slug, number)
    reason = _("%(name)s paused the run.") % {"name": request.user}
    if not lifecycle.pause(found.pk, reason):
        messages.warning(request, _("The run cannot be paused any more."))
    return go(request, run_url(found))


@project_view(role=Role.EDITOR)
@require_POST
def run_resume(request: PortalRequest, slug: str, number: int) -> HttpResponse:
    """Goes on, with another cost limit when one is given."""
    found = queries.run_in(request.project, slug, number)
    form = ResumeForm(found, request.POST)
    if not form.is_valid():
        context = runpage.RunPage.of(found).context("progress", can_edit=True)
        context["resume_form"] = form
        return render(request, "evaluations/run.html", context, status=422)
    editing.set_cost_limit(found, form.cleaned_data["max_cost"])
    if not lifecycle.resume(found):
        messages.warning(request, _("The run is not paused."))
    return go(request, run_url(found))


@project_view(role=Role.EDITOR)
@require_POST
def run_retry(request: PortalRequest, slug: str, number: int) -> HttpResponse:
    """The errored rows once more. A fail is a result and stays."""
    found = queries.run_in(request.project, slug, number)
    try:
        rows = lifecycle.retry_errors(found)
    except lifecycle.ModelsGone as gone:
        text = _("%(names)s was deleted. Start a new run with another model.")
        messages.error(request, text % {"names": gone})
        return go(request, run_url(found))
    if rows:
        text = ngettext(
            "%(count)d row with errors is done again.",
            "%(count)d rows with errors are done again.",
            rows,
        )
        messages.success(request, text % {"count": rows})
    else:
        messages.warning(request, _("There is no row with errors to do again."))
    return go(request, run_url(found))


@project_view(role=Role.EDITOR)
@require_POST
def run_again(request: PortalRequest, slug: str, number: int) -> HttpResponse:
    """A new run with the same criteria, data and target."""
    found = queries.run_in(request.project, slug, number)
    try:
        made = submit_again(found, by=request.user)
    except SpecInvalid as refusal:
        for problem in refusal.problems:
            messages.error(request, say(problem.sentence))
        return go(request, run_url(found))
    return go(request, run_url(made))


@project_view(role=Role.EDITOR)
def run_rename(request: PortalRequest, slug: str, number: int) -> HttpResponse:
    found = queries.run_in(request.project, slug, number)
    form = RunNameForm(found, request.POST or None)
    # An empty name is allowed: a POST without a name is a form all the same.
    if request.method == "POST":
        form = RunNameForm(found, request.POST)
        if form.is_valid():
            editing.rename_run(found, form.cleaned_data["name"])
            messages.success(request, _("Run saved."))
            return redirect(run_url(found))
    context: dict[str, Any] = {
        "form": form,
        "evaluation": found.evaluation,
        "run": found,
        "name": found.label,
        "hint": _("The number and the address of the run stay."),
        "cancel_url": run_url(found),
    }
    status = 422 if form.errors else 200
    return render(request, "evaluations/rename.html", context, status=status)


@project_view(role=Role.EDITOR)
def run_delete(request: PortalRequest, slug: str, number: int) -> HttpResponse:
    """Asks on GET, deletes on POST; refused while the run is open."""
    found = queries.run_in(request.project, slug, number)
    if request.method == "POST":
        try:
            editing.delete_run(found)
        except editing.StillOpen:
            return _ask(request, found)
        messages.success(request, _("%(name)s was deleted.") % {"name": found.label})
        return redirect("evaluation", request.project.slug, slug)
    return _ask(request, found)


def _ask(request: PortalRequest, found: Run) -> HttpResponse:
    context = {"run": found, "cancel_url": run_url(found)}
    status = 409 if found.is_open else 200
    return render(request, "evaluations/run_delete.html", context, status=status)
