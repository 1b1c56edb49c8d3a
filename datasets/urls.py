from __future__ import annotations

from django.urls import path

from datasets.views import browse, download, edit, review, rows, upload

VERSION = "datasets/<slug:slug>/v<int:number>/"

urlpatterns = [
    path("datasets/", browse.datasets, name="datasets"),
    path("datasets/new/", upload.dataset_upload, name="dataset_upload"),
    path("datasets/sample/", upload.dataset_sample, name="dataset_sample"),
    path("datasets/preview/<str:ref>/", browse.dataset_preview, name="dataset_preview"),
    path("datasets/<slug:slug>/", browse.dataset, name="dataset"),
    path("datasets/<slug:slug>/edit/", edit.dataset_rename, name="dataset_rename"),
    path("datasets/<slug:slug>/delete/", edit.dataset_delete, name="dataset_delete"),
    path(
        "datasets/<slug:slug>/new-version/",
        upload.dataset_version_new,
        name="dataset_version_new",
    ),
    path(VERSION, browse.dataset_version, name="dataset_version"),
    path(f"{VERSION}rows/<int:index>/", browse.dataset_row, name="dataset_row"),
    path(f"{VERSION}rows/new/", rows.dataset_row_edit, name="dataset_row_new"),
    path(
        f"{VERSION}rows/<int:index>/edit/",
        rows.dataset_row_edit,
        name="dataset_row_edit",
    ),
    path(
        f"{VERSION}rows/<int:index>/remove/",
        rows.dataset_row_remove,
        name="dataset_row_remove",
    ),
    path(f"{VERSION}changes/", rows.dataset_changes, name="dataset_changes"),
    path(
        f"{VERSION}compare/<int:other>/", rows.dataset_compare, name="dataset_compare"
    ),
    path(f"{VERSION}part/", rows.dataset_part, name="dataset_part"),
    path(f"{VERSION}types/", rows.dataset_convert, name="dataset_convert"),
    path(f"{VERSION}download/", download.dataset_download, name="dataset_download"),
    path(f"{VERSION}reread/", review.dataset_reread, name="dataset_reread"),
    path(f"{VERSION}decide/", review.dataset_decide, name="dataset_decide"),
    path(f"{VERSION}discard/", review.dataset_discard, name="dataset_discard"),
    path(f"{VERSION}cancel/", upload.dataset_cancel, name="dataset_cancel"),
    path(
        f"{VERSION}import-again/",
        upload.dataset_import_again,
        name="dataset_import_again",
    ),
]
