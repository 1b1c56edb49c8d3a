"""The product as a user starts it: one command, one process tree."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from tests.support.inside import RUN_STATE, START_RUN
from tests.support.needs import require
from tests.support.portal import RunningPortal, running_portal
from tests.support.servers import both

pytestmark = pytest.mark.broker
FINAL = {"completed", "completed_with_errors", "failed", "canceled"}


def wait_for_run(portal, run, seconds=150):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        state = portal.shell(RUN_STATE.format(run=run))
        if state["state"] in FINAL | {"paused"}:
            return state
        time.sleep(1)
    raise AssertionError(f"The run did not end: {state}\n{portal.log_text()}")


def assert_accounted(state, rows, results):
    assert state["state"] == "completed", state
    assert state["done"] == state["items"] == rows
    parts = ("passed", "failed", "errored", "skipped")
    assert sum(state[part] for part in parts) == rows
    assert state["results"] == state["distinct"] == results


def connections_of(portal) -> set[int]:
    """Remote ports of all TCP connections of the portal's processes."""
    inodes = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes()
            if str(portal.folder).encode() not in environment:
                continue
            for link in (folder / "fd").iterdir():
                target = str(link.readlink())
                if target.startswith("socket:["):
                    inodes.add(target[8:-1])
        except OSError:
            continue
    ports = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[9] in inodes:
                ports.add(int(fields[2].rpartition(":")[2], 16))
    return ports


@pytest.fixture(scope="module")
def portal():
    with running_portal() as started:
        yield started


def test_a_fresh_start_reaches_a_usable_page_and_opens_no_server_port(portal):
    status, report = portal.health()
    assert status == 200
    assert report["database"] == "sqlite"
    assert report["broker"] == "files"
    assert len(report["workers"]) == 1
    assert "/sign-in/?token=" in portal.sign_in_address()
    assert not connections_of(portal) & {5432, 6379}
    key = portal.folder / "data" / "secret_key"
    assert key.stat().st_mode & 0o777 == 0o600


def test_a_killed_worker_costs_no_row(portal):
    """500 rows, three judges, the worker killed in the middle: each score once."""
    code = START_RUN.format(
        rows=500, evaluators=["coherence", "relevance", "similarity"]
    )
    run = portal.shell(code)
    until = time.monotonic() + 60
    while portal.shell(RUN_STATE.format(run=run))["done"] < 20:
        assert time.monotonic() < until, portal.log_text()
    os.kill(portal.worker_pid(), signal.SIGKILL)
    state = wait_for_run(portal, run)
    assert_accounted(state, 500, 1500)
    assert "part_stopped name=worker" in portal.log_text()


def test_health_names_the_missing_worker_and_it_comes_back(portal):
    portal.wait_healthy()
    before = portal.worker_pid()
    os.kill(before, signal.SIGKILL)
    until = time.monotonic() + 20
    while portal.health()[0] != 503:
        assert time.monotonic() < until
        time.sleep(0.1)
    assert "workers" in portal.health()[1]["down"]
    portal.wait_healthy()
    assert portal.worker_pid() != before


def test_a_second_start_finds_the_data_and_a_stop_leaves_nothing():
    with running_portal() as portal:
        run = portal.shell(START_RUN.format(rows=3, evaluators=["f1_score"]))
        assert_accounted(wait_for_run(portal, run), 3, 3)
        assert portal.stop(signal.SIGINT) < 10
        assert not processes_of(portal)
        portal.start()
        assert portal.shell(RUN_STATE.format(run=run))["done"] == 3
        second = RunningPortal()
        second.env["ASSAY_DATA_DIR"] = portal.env["ASSAY_DATA_DIR"]
        with pytest.raises(AssertionError, match="already runs on"):
            second.start()


def processes_of(portal) -> list[str]:
    """Command lines of processes that were started with this portal's folder."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if str(portal.folder).encode() in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_bytes().decode())
        except OSError:
            continue
    return found


def test_a_killed_supervisor_leaves_no_orphan():
    with running_portal() as portal:
        assert processes_of(portal)
        portal.process.kill()
        portal.process.wait()
        portal.process = None
        until = time.monotonic() + 15
        while processes_of(portal):
            assert time.monotonic() < until, processes_of(portal)
            time.sleep(0.2)


@pytest.mark.services
def test_the_same_code_on_postgresql_and_redis():
    from tests.support.needs import postgres_bin, redis_path

    require(postgres_bin)
    require(redis_path)
    with both() as services, running_portal(services.env) as portal:
        report = portal.wait_healthy()
        assert (report["database"], report["broker"]) == ("postgresql", "redis")
        run = portal.shell(
            START_RUN.format(rows=120, evaluators=["coherence", "rouge_score"])
        )
        assert_accounted(wait_for_run(portal, run), 120, 480)
