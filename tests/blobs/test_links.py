"""What links in data give: media, bounded in size and time, or a sentence."""

from __future__ import annotations

import socket
import time

import pytest

from blobs.links import Fetched, LinkProblem, fetch_all
from tests.blobs.recorder import LOOPBACK, PICTURE, Names, code, load
from tests.factories import wav


def test_a_medium_is_loaded_and_its_type_comes_from_the_bytes(server, get):
    server.pages["/s"] = server.body(wav(), "text/html", Content_Length=None)
    url = f"http://media.example:{server.port}"
    assert get("/a.png") == Fetched(PICTURE, "image/png", f"{url}/a.png")
    assert get("/s") == Fetched(wav(), "audio/wav", f"{url}/s")


def test_nothing_of_us_is_told_and_nothing_is_kept(server, get, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    server.pages["/a"] = server.body(
        b"", status=302, Location="/b", Set_Cookie="who=you; Path=/"
    )
    assert isinstance(get("/a"), Fetched)
    expected = {"Host", "Accept", "Accept-Encoding", "User-Agent", "Connection"}
    for headers in server.headers:
        assert headers.keys() == expected
        assert headers["Accept-Encoding"] == "identity"


def test_three_redirects_are_followed_and_no_more(server, get):
    for hop in range(4):
        server.pages[f"/{hop}"] = server.to(f"/{hop + 1}")
    found = get("/1")
    assert isinstance(found, Fetched)
    assert found.url.endswith("/4")
    assert get("/0") == LinkProblem(
        "redirects", "The link is redirected more than 3 times."
    )


def test_a_redirect_in_a_circle_ends(server, get):
    server.pages["/a"] = server.to("/a")
    assert code(get("/a")) == "redirects"
    assert len(server.asked) == 4


@pytest.mark.parametrize("length", [None, "200000"])
def test_too_large_is_said_with_and_without_a_length(server, get, length):
    data = PICTURE + bytes(200_000 - len(PICTURE))
    server.pages["/a"] = server.body(data, Content_Length=length)
    assert get("/a") == LinkProblem("too_large", "The file is larger than 98 KB.")


def test_a_length_that_lies_small_gives_no_more_than_it_says(server, get):
    server.pages["/a"] = server.body(PICTURE + bytes(200_000), Content_Length="500")
    found = get("/a")
    assert len(found.data) == 500 if isinstance(found, Fetched) else code(found)


def test_an_endless_file_is_cut_off(server, get):
    sent = []

    def endless(handler):
        handler.send_response(200)
        handler.end_headers()
        try:
            while len(sent) < 10_000:
                handler.wfile.write(PICTURE if not sent else bytes(65_536))
                sent.append(1)
        except OSError:
            return

    server.pages["/a"] = endless
    assert code(get("/a")) == "too_large"
    time.sleep(0.1)
    assert len(sent) < 1000


def test_a_slow_file_is_given_up(server, get):
    def slow(handler):
        handler.send_response(200)
        handler.end_headers()
        for byte in PICTURE[:40]:
            handler.wfile.write(bytes([byte]))
            handler.wfile.flush()
            time.sleep(0.1)

    server.pages["/a"] = slow
    began = time.monotonic()
    found = get("/a", seconds=0.5)
    assert found == LinkProblem("slow", "The file did not arrive within 0.5 seconds.")
    assert time.monotonic() - began < 2


def test_all_links_together_have_their_time(server):
    server.pages["/"] = lambda _handler: time.sleep(1)
    urls = [f"http://127.0.0.1:{server.port}/{n}" for n in range(20)]
    began = time.monotonic()
    found = fetch_all(
        urls, private=LOOPBACK, max_bytes=1000, seconds=5, total_seconds=0.6, parallel=4
    )
    assert {code(problem) for problem in found.values()} == {"out_of_time"}
    assert list(found) == urls
    assert time.monotonic() - began < 3
    assert len(server.asked) <= 4


@pytest.mark.parametrize(
    ("data", "options", "expected"),
    [
        (b"<html><script>x()</script>", {"mime": "image/png"}, "not_media"),
        (b"%PDF-1.7", {}, "not_media"),
        (b"\x1aE\xdf\xa3" + bytes(50), {"mime": "image/png"}, "not_media"),
        (b"", {}, "empty"),
        (PICTURE, {"status": 404}, "status"),
        (PICTURE, {"status": 206}, "status"),
        (PICTURE, {"Content_Encoding": "gzip"}, "encoded"),
        (b"", {"status": 302}, "malformed"),
        (PICTURE[:100], {"Content_Length": "500"}, "broken"),
    ],
)
def test_what_is_no_medium_has_its_own_sentence(server, get, data, options, expected):
    server.pages["/a"] = server.body(data, **options)
    found = get("/a")
    assert code(found) == expected
    assert found.message.endswith(".")


def test_html_is_not_read_to_its_end(server, get):
    server.pages["/a"] = server.body(b"<html>" + b"x" * 90_000, Content_Length=None)
    assert code(get("/a", max_bytes=10_000_000)) == "not_media"


def test_who_is_not_there_is_said():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/a.png"
        assert code(load(url, private=LOOPBACK)) == "unreachable"
    assert code(load("http://nobody.example/a.png")) == "unknown_name"


def test_many_links_are_asked_once_each_and_a_few_at_once(server):
    names = Names(media_example=[["127.0.0.1"]])
    url = f"http://media.example:{server.port}"
    urls = [f"{url}/{n % 10}" for n in range(30)]
    found = fetch_all(
        urls,
        private=LOOPBACK,
        max_bytes=100_000,
        seconds=5,
        total_seconds=10,
        resolver=names,
    )
    assert len(found) == len(server.asked) == 10
    assert all(isinstance(one, Fetched) for one in found.values())


def test_no_links_start_nothing():
    limits = {"max_bytes": 1, "seconds": 1, "total_seconds": 1}
    assert fetch_all([], private=(), **limits) == {}
