"""A client that stops sending does not hold a thread of the server."""

from __future__ import annotations

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from workspace.middleware import BodyTimeoutMiddleware


class Connection:
    seconds = None

    def settimeout(self, seconds):
        self.seconds = seconds


@pytest.mark.parametrize(("method", "expected"), [("post", 7), ("get", None)])
def test_a_body_is_waited_for_a_while(settings, method, expected):
    settings.BODY_TIMEOUT_SECONDS = 7
    connection = Connection()
    request = getattr(RequestFactory(), method)("/", **{"gunicorn.socket": connection})
    BodyTimeoutMiddleware(lambda _request: HttpResponse())(request)
    assert connection.seconds == expected


def test_another_server_is_left_alone():
    answer = BodyTimeoutMiddleware(lambda _request: HttpResponse("ok"))
    assert answer(RequestFactory().post("/")).content == b"ok"
