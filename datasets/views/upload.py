"""Pages that bring files in."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_POST

from datasets import ingest, queries, samples, uploads
from datasets.forms import ReadForm, UploadForm
from datasets.models import Dataset
from datasets.requests import ReadRequest
from datasets.views.common import version_address
from datasets.views.limits import SizeLimit, limit_upload
from workspace.formats import filesize
from workspace.models import Role
from workspace.scoping import PortalRequest, project_view
from workspace.ways import safe_next


@csrf_exempt  # the limit must be in place before the check reads the body
def dataset_upload(request: HttpRequest, project: str) -> HttpResponse:
    limit = limit_upload(request)
    return _upload(request, project=project, limit=limit)


@csrf_exempt  # as above
def dataset_version_new(request: HttpRequest, project: str, slug: str) -> HttpResponse:
    limit = limit_upload(request)
    return _upload(request, project=project, limit=limit, slug=slug)


@csrf_protect
@project_view(role=Role.EDITOR)
def _upload(request: PortalRequest, limit: SizeLimit, slug: str = "") -> HttpResponse:
    dataset = queries.dataset_in(request.project, slug) if slug else None
    form = UploadForm(request.POST if request.method == "POST" else None)
    target = safe_next(request)
    context: dict[str, Any] = {
        "form": form,
        "dataset": dataset,
        "next": target,
        "max_bytes": settings.MAX_UPLOAD_BYTES,
        "max_rows": settings.MAX_ROWS,
        "max_row_bytes": settings.MAX_ROW_BYTES,
        "max_medium_bytes": settings.MAX_MEDIUM_BYTES,
    }
    if request.method != "POST":
        return render(request, "datasets/upload.html", context)
    problem = _problem(request, limit)
    if problem or not form.is_valid():
        return _refused(request, context, problem)
    try:
        return _accepted(request, dataset, form.cleaned_data, target)
    except OSError as error:
        if error.errno not in ingest.NO_ROOM:
            raise
        return _refused(request, context, _(ingest.DISK_FULL))


def _problem(request: PortalRequest, limit: SizeLimit) -> str:
    """Why the file cannot be taken, in a sentence."""
    if limit.too_large:
        return _(
            "The file has %(size)s. The limit is %(limit)s. "
            "Split it or upload fewer rows."
        ) % {
            "size": filesize(limit.too_large),
            "limit": filesize(settings.MAX_UPLOAD_BYTES),
        }
    file = request.FILES.get("file")
    if file is None:
        return _("Choose a CSV or JSONL file.")
    return "" if file.size else _("The file is empty.")


def _refused(
    request: PortalRequest, context: dict[str, Any], problem: str
) -> HttpResponse:
    form: UploadForm = context["form"]
    found = [str(error) for errors in form.errors.values() for error in errors]
    message = problem or " ".join(found)
    if _wants_json(request):
        return JsonResponse({"message": message}, status=422)
    context["problem"] = problem
    return render(request, "datasets/upload.html", context, status=422)


def _accepted(
    request: PortalRequest,
    dataset: Dataset | None,
    fields: dict[str, Any],
    target: str,
) -> HttpResponse:
    file = request.FILES["file"]
    assert isinstance(file, UploadedFile)
    file_name = file.name or "file"
    added = uploads.add_file(
        file.chunks(),
        project=request.project,
        by=request.user,
        name=fields["name"] or uploads.name_from_file(file_name),
        file_name=file_name,
        dataset=dataset,
        request=ReadRequest(needs_review=True, fetch_links=fields["fetch_links"]),
    )
    if not added.is_new:
        known = f"{added.version.dataset.name} v{added.version.number}"
        messages.info(
            request,
            _("This file is already here as %(version)s. No new version is saved.")
            % {"version": known},
        )
    address = version_address(added.version)
    if target:
        address += "?" + urlencode({"next": target})
    if _wants_json(request):
        return JsonResponse({"location": address})
    return redirect(address)


def _wants_json(request: HttpRequest) -> bool:
    return request.headers.get("X-Requested-With") == "XMLHttpRequest"


@require_POST
@project_view(role=Role.EDITOR)
def dataset_sample(request: PortalRequest) -> HttpResponse:
    """Add the sample dataset."""
    version = samples.ensure_sample(request.project)
    return redirect(version_address(version))


@require_POST
@project_view(role=Role.EDITOR)
def dataset_cancel(request: PortalRequest, slug: str, number: int) -> HttpResponse:
    version = queries.version_in(request.project, slug, number)
    uploads.cancel_import(version)
    messages.info(request, _("The import ends. No rows are kept."))
    return redirect(version_address(version))


@require_POST
@project_view(role=Role.EDITOR)
def dataset_import_again(
    request: PortalRequest, slug: str, number: int
) -> HttpResponse:
    """Read the file again in another way: a new version when this one is ready."""
    version = queries.version_in(request.project, slug, number)
    form = ReadForm(request.POST)
    if version.original is None and version.state == version.State.READY:
        messages.error(request, _("This version was not made from a file."))
        return redirect(version_address(version))
    if not form.is_valid():
        messages.error(request, _("Choose how to read the file from the lists."))
        return redirect(version_address(version))
    version = uploads.import_again(version, by=request.user, request=form.request)
    target = safe_next(request)
    suffix = "?" + urlencode({"next": target}) if target else ""
    return redirect(version_address(version) + suffix)
