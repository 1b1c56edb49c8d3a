"""No inline style or script, and safe HTML is made in two modules only."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
APPS = [
    "workspace",
    "blobs",
    "targets",
    "datasets",
    "evaluators",
    "evaluations",
    "portal",
]
MAY_MAKE_HTML = {"workspace/charts.py", "workspace/markup.py"}

IN_TEMPLATES = {
    "inline style": r"\sstyle\s*=",
    "style element": r"<style\b",
    "inline handler": r"\son[a-z]+\s*=\s*[\"']",
    "inline script": r"<script(?![^>]*\bsrc=)[^>]*>",
    "address from elsewhere": r"(?:src|href)=[\"'](?:https?:)?//",
    "script address": r"javascript:",
    "unescaped output": r"\|\s*safe\b|{%\s*autoescape\s+off",
    "htmx that needs eval": r"hx-on\b|hx-vars\b|hx-vals=[\"']js:",
}
IN_PYTHON = {
    "unescaped output": r"\bmark_safe\(|\bSafeString\((?![\"'])",
    "inline style": r"[\"' ]style=[\"\\]",
}


def templates():
    return [
        *ROOT.glob("templates/**/*.html"),
        *(file for app in APPS for file in ROOT.glob(f"{app}/templates/**/*.html")),
    ]


def modules():
    files = (file for app in APPS for file in ROOT.glob(f"{app}/**/*.py"))
    return [f for f in files if f.relative_to(ROOT).as_posix() not in MAY_MAKE_HTML]


def offences(files, pattern):
    return [
        f"{file.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for file in files
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1)
        if re.search(pattern, line)
    ]


@pytest.mark.parametrize(("name", "pattern"), IN_TEMPLATES.items())
def test_templates_have_no(name, pattern):
    assert offences(templates(), pattern) == [], name


@pytest.mark.parametrize(("name", "pattern"), IN_PYTHON.items())
def test_modules_have_no(name, pattern):
    assert offences(modules(), pattern) == [], name


def test_a_planted_offence_is_found(tmp_path, monkeypatch):
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    page = tmp_path / "page.html"
    page.write_text('<p style="x" onclick="y">{{ a|safe }}</p>\n<script>1</script>')
    found = [name for name, p in IN_TEMPLATES.items() if offences([page], p)]
    assert found == [
        "inline style",
        "inline handler",
        "inline script",
        "unescaped output",
    ]


def test_styles_import_nothing_and_load_nothing():
    sheets = ROOT.glob("static/css/*.css")
    assert offences(sheets, r"@import|url\(") == []


def test_only_one_script_listens_to_htmx_events():
    scripts = [f for f in ROOT.glob("static/js/*.js") if f.name != "htmx.js"]
    assert offences(scripts, r"[\"']htmx:") == []
