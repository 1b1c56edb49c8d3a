"""A large dataset through the real product: memory stays flat, every row is scored."""

from __future__ import annotations

import csv
import re
import time
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

import pytest

from tests.portal.test_up import assert_accounted, processes_of, wait_for_run
from tests.support.inside import RUN_STATE
from tests.support.portal import running_portal

pytestmark = [pytest.mark.broker, pytest.mark.scale]

ROWS = 20_000
GROWTH_MB = 100

SUBMIT = """
import json
from datasets.models import DatasetVersion
from evaluations import drafts
from evaluations.submit import submit_draft
from evaluations.surroundings import look_around
from tests.support.making import make_spec
from workspace.signin import ensure_first_project
project, owner = ensure_first_project()
version = DatasetVersion.objects.get(dataset__slug="large")
spec = make_spec(version, ["f1_score", "rouge_score"], name="Large")
spec = drafts.remap(spec, look_around(project, spec))
print(json.dumps(submit_draft(drafts.create(project, owner, spec), by=owner).pk))
"""


def write_csv(path: Path) -> int:
    """20,000 rows of about a kilobyte; returns the size in bytes."""
    filler = " ".join(f"word{n}" for n in range(120))
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow(["query", "response", "ground_truth"])
        for n in range(ROWS):
            truth = f"Answer {n} is {n % 7} {filler}"
            response = truth if n % 3 else "Something else entirely"
            writer.writerow([f"Question {n}?", response, truth])
    return path.stat().st_size


class Visitor:
    """A session over plain HTTP."""

    def __init__(self, portal) -> None:
        self.base = portal.url
        self.opener = build_opener(HTTPCookieProcessor(CookieJar()))
        self.get(portal.manage("signin_link").strip().removeprefix(self.base))

    def get(self, path: str) -> str:
        with self.opener.open(self.base + path, timeout=60) as answer:
            return answer.read().decode()

    def token(self, page: str) -> str:
        return re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page).group(1)

    def upload(self, path: str, file: Path) -> str:
        token = self.token(self.get(path))
        line = "----assayboundary"
        head = "".join(
            f'--{line}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'
            f"{value}\r\n"
            for name, value in {"csrfmiddlewaretoken": token, "name": "large"}.items()
        )
        head += (
            f'--{line}\r\nContent-Disposition: form-data; name="file"; '
            f'filename="{file.name}"\r\nContent-Type: text/csv\r\n\r\n'
        )
        body = head.encode() + file.read_bytes() + f"\r\n--{line}--\r\n".encode()
        kind = f"multipart/form-data; boundary={line}"
        request = Request(self.base + path, body, {"Content-Type": kind})
        with self.opener.open(request, timeout=120) as answer:
            return answer.url


def web_memory(portal) -> int:
    """The largest peak of resident memory among the web processes, in MB."""
    peaks = [0]
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            ours = str(portal.folder).encode() in (folder / "environ").read_bytes()
            if ours and b"gunicorn" in (folder / "cmdline").read_bytes():
                status = (folder / "status").read_text()
                peak = int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) // 1024
                peaks.append(peak)
        except (OSError, AttributeError):
            continue
    return max(peaks)


def test_20000_rows_upload_page_and_run_with_flat_memory(tmp_path):
    with running_portal({}, "--no-simulator") as portal:
        assert processes_of(portal)
        visitor = Visitor(portal)
        visitor.get("/p/my-project/datasets/")
        before = web_memory(portal)
        size = write_csv(tmp_path / "large.csv")
        assert size > 20_000_000
        visitor.upload("/p/my-project/datasets/new/", tmp_path / "large.csv")
        until = time.monotonic() + 120
        while "20,000" not in (page := visitor.get("/p/my-project/datasets/large/v1/")):
            assert time.monotonic() < until, page
            time.sleep(1)
        for number in (1, 2, 399, 400):
            query = urlencode({"page": number})
            page = visitor.get(f"/p/my-project/datasets/large/v1/?{query}")
            assert f"Question {(number - 1) * 50}?" in page
        run = portal.shell(SUBMIT)
        state = wait_for_run(portal, run, 240)
        assert_accounted(state, ROWS, ROWS * 4)
        for query in ("", "?page=1000", "?sort=-index", "?result=fail", "?q=19999"):
            assert "Question" in visitor.get(
                f"/p/my-project/evaluations/large/runs/1/{query}"
            )
        after = web_memory(portal)
        print(f"peak RSS of a web process: {before} MB before, {after} MB after")
        assert after - before < GROWTH_MB
        assert portal.shell(RUN_STATE.format(run=run))["calls"] == 0
