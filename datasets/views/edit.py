"""Pages that rename and delete."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ObjectDoesNotExist
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from datasets import editing, queries, usage
from datasets.forms import RenameForm
from datasets.models import DatasetVersion
from datasets.views.common import version_address
from workspace.models import Role
from workspace.scoping import PortalRequest, project_view


@project_view(role=Role.EDITOR)
def dataset_rename(request: PortalRequest, slug: str) -> HttpResponse:
    dataset = queries.dataset_in(request.project, slug)
    form = RenameForm(request.POST or None, instance=dataset)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, _("Dataset saved."))
        return redirect("dataset", request.project.slug, slug)
    # The form writes into its instance; the page names the dataset as it is stored.
    stored = queries.dataset_in(request.project, slug)
    context = {"form": form, "dataset": stored}
    status = 422 if form.errors else 200
    return render(request, "datasets/rename.html", context, status=status)


@project_view(role=Role.EDITOR)
def dataset_delete(request: PortalRequest, slug: str) -> HttpResponse:
    """Asks on GET and deletes on POST: the dataset, or with `?version=` one version."""
    dataset = queries.dataset_in(request.project, slug)
    versions = queries.versions_of(dataset)
    chosen = _chosen(request, versions)
    try:
        if request.method == "POST" and _is_as_shown(request, chosen):
            return _delete(request, dataset.name, chosen, versions)
        uses = usage.uses_of([version.pk for version in chosen])
        status = 409 if request.method == "POST" else 200
    except editing.InUseError as error:
        uses, status = error.uses, 409
    except ObjectDoesNotExist:
        raise Http404(_("This dataset does not exist or was deleted.")) from None
    context = {
        "dataset": dataset,
        "chosen": chosen,
        "is_all": len(chosen) == len(versions),
        "uses": uses,
        "row_count": sum(version.row_count for version in chosen),
        "hidden": {"shown": _shown(chosen)},
        "cancel_url": reverse("dataset", args=[request.project.slug, slug]),
    }
    return render(request, "datasets/delete.html", context, status=status)


def _shown(chosen: list[DatasetVersion]) -> str:
    return ",".join(str(version.number) for version in chosen)


def _is_as_shown(request: PortalRequest, chosen: list[DatasetVersion]) -> bool:
    """Whether what would go is what the person was asked about."""
    if request.POST.get("shown") in (None, _shown(chosen)):
        return True
    text = _("The dataset was changed meanwhile. Look again at what would go.")
    messages.warning(request, text)
    return False


def _chosen(
    request: PortalRequest, versions: list[DatasetVersion]
) -> list[DatasetVersion]:
    """The version asked for, or all. Never all when the one asked for is gone."""
    number = request.GET.get("version") or request.POST.get("version") or ""
    found = [v for v in versions if not number or str(v.number) == number]
    if not found:
        raise Http404(_("This version does not exist or was deleted."))
    return found


def _delete(
    request: PortalRequest,
    name: str,
    chosen: list[DatasetVersion],
    versions: list[DatasetVersion],
) -> HttpResponse:
    if len(chosen) == len(versions):
        editing.delete_dataset(chosen[0].dataset)
        messages.success(request, _("%(name)s was deleted.") % {"name": name})
        return redirect("datasets", request.project.slug)
    editing.delete_version(chosen[0])
    gone = f"{name} v{chosen[0].number}"
    messages.success(request, _("%(name)s was deleted.") % {"name": gone})
    left = next(version for version in versions if version not in chosen)
    return redirect(version_address(left))
