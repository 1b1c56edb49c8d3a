"""All addresses. Pages of a project live below `/p/<project>/`."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from portal import views

project_pages: list[URLPattern | URLResolver] = [
    path("", include("evaluations.urls")),
    path("", include("rubrics.urls")),
    path("", include("evaluators.urls")),
    path("", include("datasets.urls")),
    path("", include("targets.urls")),
    path("", include("blobs.urls")),
    path("search/", views.search, name="search"),
]

urlpatterns = [
    path("", include("workspace.urls")),
    path("healthz", views.healthz, name="healthz"),
    path("favicon.ico", views.favicon, name="favicon"),
    path("p/<slug:project>/", include(project_pages)),
]
