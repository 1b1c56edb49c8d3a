"""Files that cannot be run here are read: compose, image, requirements, licences."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
SETTINGS = (ROOT / "portal" / "settings.py").read_text()


@pytest.fixture(scope="module")
def compose():
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text())


def test_compose_has_all_parts(compose):
    wanted = {"db", "redis", "prepare", "web", "worker", "scheduler", "simulator"}
    assert set(compose["services"]) == wanted


def test_compose_sets_only_variables_that_are_read(compose):
    for name in compose["services"]["web"]["environment"]:
        assert f'"{name}"' in SETTINGS, name


def test_compose_worker_takes_both_queues(compose):
    command = " ".join(compose["services"]["worker"]["command"])
    assert "runs,interactive" in command
    assert "--pool threads" in command


def test_the_settings_work_as_compose_starts_them(compose, tmp_path):
    """The same variables, without containers: settings load and name both servers."""
    env = {
        **os.environ,
        "ASSAY_DATA_DIR": str(tmp_path),
        "DATABASE_URL": "postgresql://assay:x@db/assay",
        "REDIS_URL": "redis://redis/0",
        "ASSAY_SECRET_KEY": "x" * 40,
        "ASSAY_PRIVATE_NETWORKS": "",
        "DJANGO_SETTINGS_MODULE": "portal.settings",
    }
    code = (
        "from django.conf import settings as s; print(s.DATABASES['default']['HOST'],"
        " s.CELERY_BROKER_URL, s.PRIVATE_NETWORKS)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True
    )
    assert done.stdout.strip() == "db redis://redis/0 []", done.stderr


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_requirements_are_pinned_with_hashes_and_without_addresses(name):
    text = (ROOT / name).read_text()
    assert "://" not in text
    packages = re.findall(r"^[a-z0-9][\w.-]*(?:\[[\w,]+\])?==\S+", text, re.MULTILINE)
    assert len(packages) > 40
    assert text.count("--hash=sha256:") >= len(packages)


def test_data_tables_carry_their_licences():
    tables = ROOT / "assay" / "data" / "tables"
    names = {path.name for path in tables.iterdir()}
    assert any(name.startswith("LICENCE") for name in names)
    assert "README.md" in names


IMPORT_ALL = """
import sys
from importlib.metadata import packages_distributions
pinned = set(sys.argv[1].split(","))
found = packages_distributions()

class OnlyPinned:
    def find_spec(self, name, path=None, target=None):
        owners = {d.lower().replace("_", "-") for d in found.get(name, [])}
        if owners and not owners & pinned:
            raise ModuleNotFoundError(f"{name} is not pinned", name=name)

sys.meta_path.insert(0, OnlyPinned())
import django
django.setup()
import kombu.transport.redis, celery.apps.worker, celery.apps.beat
import gunicorn.app.wsgiapp, gunicorn.workers.gthread, psycopg
import portal.tasks, portal.worker, portal.urls, targets.simulator
import evaluations.tasks, datasets.tasks, targets.tasks
import pandas, pyarrow.parquet, scipy.stats
print("ok")
"""


def test_everything_that_runs_is_in_the_runtime_requirements(tmp_path):
    """All processes and both brokers import with the runtime packages alone."""
    pinned = re.findall(
        r"^([a-z0-9][\w.-]*)", (ROOT / "requirements.txt").read_text(), re.MULTILINE
    )
    env = {
        **os.environ,
        "ASSAY_DATA_DIR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "portal.settings",
    }
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL, ",".join(pinned)],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "ok", done.stderr
