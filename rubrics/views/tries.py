"""A try: its progress, its result, its end."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from rubrics import queries, trying
from rubrics.tries import shown
from workspace.htmx import is_partial, render_page
from workspace.models import Role
from workspace.scoping import PortalRequest, project_view


@project_view(role=Role.EDITOR)
@never_cache
def rubric_try(request: PortalRequest, ref: str) -> HttpResponse:
    """The fragment of a try; as a page, the try alone."""
    job = queries.job_in(request.project, ref)
    context = {"tried": shown(job), "draft": job.draft}
    return render_page(request, "rubrics/try.html", context, partial="try")


@project_view(role=Role.EDITOR)
@require_POST
def rubric_try_cancel(request: PortalRequest, ref: str) -> HttpResponse:
    job = queries.job_in(request.project, ref)
    trying.cancel(job)
    job.refresh_from_db()
    if is_partial(request):
        context = {"tried": shown(job), "draft": job.draft}
        return render_page(request, "rubrics/try.html", context, partial="try")
    if job.draft is not None:
        return redirect("rubric_draft", request.project.slug, job.draft.ref)
    return redirect("rubric_try", request.project.slug, job.ref)
