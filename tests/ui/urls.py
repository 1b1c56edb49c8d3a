"""The addresses that templates of the interface name."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import path


def nothing(_request: HttpRequest, **_parts: str) -> HttpResponse:
    return HttpResponse()


urlpatterns = [
    path("", nothing, name="home"),
    path("theme/", nothing, name="theme"),
    path("account/", nothing, name="account"),
    path("sign-in/", nothing, name="sign_in"),
    path("sign-out/", nothing, name="sign_out"),
    path("p/<slug:project>/media/<slug:sha>", nothing, name="media"),
    path("p/<slug:project>/evaluations/", nothing, name="evaluations"),
]
