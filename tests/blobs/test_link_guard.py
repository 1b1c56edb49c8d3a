"""Links in data lead to public addresses only, whatever they are written like."""

from __future__ import annotations

import socket

import pytest

from blobs.links import problem_of
from blobs.net import networks
from tests.blobs.recorder import Names, code, entry, load

# Where it must not go

PRIVATE_HOSTS = [
    "127.0.0.1",
    "127.8.9.10",
    "127.0.0.1.",
    "0.0.0.0",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.169.254",
    "192.0.2.1",
    "224.0.0.1",
    "255.255.255.255",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "a.localhost",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "017700000001",
    "0177.0.0.1",
    "127.1",
    "127.0.1",
    "0",
    "2852039166",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b:1::1]",
    "[2002:7f00:1::]",
    "[2002:a9fe:a9fe::1]",
    "[fd00:ec2::254]",
    "[fc00::1]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[2001:db8::1]",
    "１２７.0.0.1",
    "127。0。0。1",
]


@pytest.mark.parametrize("host", PRIVATE_HOSTS)
def test_a_private_address_is_never_asked(server, host):
    found = load(f"http://{host}:{server.port}/a.png")
    assert code(found) in ("address_not_allowed", "malformed")
    assert server.asked == []


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["10.1.2.3"],
        ["169.254.169.254"],
        ["::1"],
        ["::ffff:127.0.0.1"],
        ["64:ff9b::7f00:1"],
        ["fd00:ec2::254"],
        ["93.184.216.34", "127.0.0.1"],
        ["127.0.0.1", "93.184.216.34"],
        ["2606:2800:220:1::1", "::1"],
    ],
)
def test_a_name_with_a_private_address_is_never_asked(server, addresses):
    names = Names(media_example=[addresses])
    found = load(f"http://media.example:{server.port}/a.png", resolver=names)
    assert code(found) == "address_not_allowed"
    assert names.asked == ["media.example"]
    assert server.asked == []


class Changing(dict):
    """An answer that is public when it is checked and private when it is used."""

    def __getitem__(self, key):
        value = super().__getitem__(key)
        if key == "host":
            super().__setitem__("host", "127.0.0.1")
        return value


def test_the_address_is_checked_again_when_the_socket_connects(server):
    class Rebinding(Names):
        async def resolve(self, host, port=0, family=socket.AF_INET):
            return [Changing(entry(host, "93.184.216.34", port))]

    found = load(f"http://media.example:{server.port}/", resolver=Rebinding())
    assert code(found) == "address_not_allowed"
    assert server.asked == []


def test_each_redirect_is_resolved_and_checked_anew(server):
    names = Names(media_example=[["127.0.0.2"], ["127.0.0.1"]])
    server.pages["/a"] = server.to("/b")
    found = load(
        f"http://media.example:{server.port}/a",
        private=networks(["127.0.0.2/32"]),
        resolver=names,
    )
    assert code(found) == "address_not_allowed"
    assert server.asked == [("127.0.0.2", "/a")]


TARGETS = [
    "http://127.0.0.1:{port}/x",
    "http://localhost:{port}/x",
    "http://2130706433:{port}/x",
    "//127.0.0.1:{port}/x",
    "http://[::1]:{port}/x",
    "http://[::ffff:127.0.0.1]:{port}/x",
    "http://169.254.169.254/latest/meta-data/",
    "http://inner.example:{port}/x",
]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("status", [301, 307])
def test_a_redirect_to_a_private_address_is_not_followed(server, target, status):
    names = Names(media_example=[["127.0.0.2"]], inner_example=[["127.0.0.1"]])
    server.pages["/a"] = server.to(target.format(port=server.port), status)
    found = load(
        f"http://media.example:{server.port}/a",
        private=networks(["127.0.0.2/32"]),
        resolver=names,
    )
    assert code(found) == "address_not_allowed"
    assert server.asked == [("127.0.0.2", "/a")]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("file:///etc/passwd", "scheme"),
        ("ftp://127.0.0.1/x.png", "scheme"),
        ("gopher://127.0.0.1:6379/_INFO", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("data:image/png;base64,AAAA", "scheme"),
        ("http://user:pw@media.example/x.png", "credentials"),
        ("http://user@media.example/x.png", "credentials"),
        ("//media.example/x.png", "malformed"),
        ("../../../../etc/passwd", "malformed"),
        ("/media/other/secret.png", "malformed"),
        ("http:///x.png", "malformed"),
        ("http://media.example:99999/", "malformed"),
        ("http://media.example\\@127.0.0.1/", "malformed"),
        ("http://media.example/\r\nHost: x", "malformed"),
        ("http://media.example/" + "a" * 5000, "malformed"),
        ("http://[::1", "malformed"),
        ("", "malformed"),
    ],
)
def test_what_is_no_link_for_us(server, url, expected):
    found = load(url)
    assert code(found) == expected
    assert problem_of(url) == found
    assert server.asked == []


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://media.example/a.png"])
def test_a_redirect_to_another_scheme_is_not_followed(server, get, target):
    server.pages["/a"] = server.to(target)
    assert code(get("/a")) == "scheme"
