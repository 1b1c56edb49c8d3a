"""What tests need beside Python: found, installed, or named as the reason to skip.

With CI=true a missing need is an error, never a skip.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
POSTGRES_FOLDERS = "/usr/lib/postgresql"


class Missing(Exception):
    """A need that is not there; the message says what and why."""


def is_ci() -> bool:
    return os.environ.get("CI", "").lower() == "true"


def browser_path() -> str:
    """An installed Chromium or Chrome, or the browser tool's own download."""
    for name in BROWSERS:
        if found := shutil.which(name):
            return found
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    if Path(path).exists():
        return path
    raise Missing("No Chromium or Chrome is installed, and none could be.")


def postgres_bin() -> Path:
    """The folder with PostgreSQL's server programs."""
    if found := shutil.which("initdb"):
        return Path(found).parent
    for folder in sorted(Path(POSTGRES_FOLDERS).glob("*/bin"), reverse=True):
        if (folder / "initdb").exists():
            return folder
    raise Missing("PostgreSQL's server programs are not installed.")


def redis_path() -> str:
    if found := shutil.which("redis-server") or shutil.which("valkey-server"):
        return found
    raise Missing("redis-server is not installed.")


def require(need):
    """What `need()` finds; else a skip with the reason, or an error in CI."""
    try:
        return need()
    except Missing as missing:
        if is_ci():
            pytest.fail(str(missing))
        pytest.skip(str(missing))  # the reason is the need that is missing


def _apt(*packages: str) -> bool:
    """Install Debian packages when we may. False when we may not or it failed."""
    if os.name != "posix" or os.geteuid() != 0 or not shutil.which("apt-get"):
        return False
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    update = subprocess.run(["apt-get", "update", "-qq"], env=env, check=False)
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
    return update.returncode == 0 and (
        subprocess.run(command, env=env, check=False).returncode == 0
    )


def _playwright_download() -> bool:
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    return subprocess.run(command, check=False).returncode == 0


def install() -> int:
    """Install what is missing; prints what stays missing. Called by `make test`."""
    wanted = []
    for need, package in (
        (browser_path, "chromium"),
        (postgres_bin, "postgresql"),
        (redis_path, "redis-server"),
    ):
        try:
            need()
        except Missing:
            wanted.append((need, package))
    packages = [package for _need, package in wanted]
    if wanted and not _apt(*packages) and "chromium" in packages:
        _playwright_download()
    for need, package in wanted:
        try:
            need()
        except Missing as missing:
            print(f"{package}: {missing}")
            if is_ci():
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(install())
