"""A server that remembers who asked, and names that lead to it."""

from __future__ import annotations

import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from aiohttp.abc import AbstractResolver

from blobs.links import LinkProblem, fetch_all
from blobs.net import networks
from tests.factories import png

LOOPBACK = networks(["127.0.0.0/8"])
PICTURE = png(300, 300)


class Recorder:
    """A server on all loopback addresses that remembers who asked for what."""

    def __init__(self):
        self.asked = []
        self.headers = []
        self.pages = {}
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_args):
                """Quiet."""

            def do_GET(self):
                recorder.asked.append((self.connection.getsockname()[0], self.path))
                recorder.headers.append(dict(self.headers))
                recorder.pages.get(self.path, recorder.pages["/"])(self)

        self.server = ThreadingHTTPServer(("0.0.0.0", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        self.pages["/"] = self.body(PICTURE, "image/png")

    def body(self, data, mime="image/png", status=200, **headers):
        def answer(handler):
            handler.send_response(status)
            fields = {"Content_Type": mime, "Content_Length": str(len(data)), **headers}
            for name, value in fields.items():
                if value is not None:
                    handler.send_header(name.replace("_", "-"), value)
            handler.end_headers()
            handler.wfile.write(data)

        return answer

    def to(self, url, status=302):
        return self.body(b"", status=status, Location=url)


class Names(AbstractResolver):
    """Answers from a table: a list of addresses, or several such lists in turn."""

    def __init__(self, **table):
        self.table = {name.replace("_", "."): turns for name, turns in table.items()}
        self.asked = []

    async def resolve(self, host, port=0, family=socket.AF_INET):
        self.asked.append(host)
        if host not in self.table:
            raise OSError(f"no address for {host}")
        turns = self.table[host]
        addresses = turns.pop(0) if len(turns) > 1 else turns[0]
        return [entry(host, address, port) for address in addresses]

    async def close(self):
        """Nothing is open."""


def entry(host, address, port):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return {
        "hostname": host,
        "host": address,
        "port": port,
        "family": family,
        "proto": 0,
        "flags": socket.AI_NUMERICHOST,
    }


def load(url, *, private=(), resolver=None, **limits):
    bounds = {"max_bytes": 100_000, "seconds": 5, "total_seconds": 10, **limits}
    found = fetch_all([url], private=private, resolver=resolver or Names(), **bounds)
    return found[url]


def code(found):
    assert isinstance(found, LinkProblem), found
    return found.code
