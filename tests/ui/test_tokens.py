"""Text must be readable in both themes: 4.5 for text, 3 for marks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TOKENS = Path(__file__).parents[2] / "static/css/tokens.css"

TEXT = [
    ("fg-1", "bg-surface"),
    ("fg-2", "bg-surface"),
    ("fg-3", "bg-surface"),
    ("fg-3", "bg-canvas"),
    ("fg-3", "bg-subtle"),
    ("fg-3", "bg-hover"),
    ("fg-3", "bg-selected"),
    ("fg-placeholder", "bg-surface"),
    ("fg-link", "bg-surface"),
    ("fg-link", "bg-subtle"),
    ("fg-on-brand", "brand-fill"),
    ("fg-on-brand", "brand-fill-hover"),
    ("brand-fg", "brand-tint"),
    ("pass-fg", "pass-bg"),
    ("fail-fg", "fail-bg"),
    ("fail-fg", "bg-surface"),
    ("warn-fg", "warn-bg"),
    ("info-fg", "info-bg"),
    ("neutral-fg", "neutral-bg"),
    *((f"score-{n}-fg", f"score-{n}-bg") for n in range(1, 6)),
    ("code-key", "bg-subtle"),
    ("code-string", "bg-subtle"),
    ("code-number", "bg-subtle"),
    ("code-bool", "bg-subtle"),
    ("chart-axis", "bg-surface"),
]
MARKS = [
    *((f"score-{n}-mark", "bg-surface") for n in range(1, 6)),
    ("pass-mark", "bg-surface"),
    ("fail-mark", "bg-surface"),
    ("warn-mark", "bg-surface"),
    ("info-mark", "bg-surface"),
    ("neutral-mark", "bg-surface"),
    ("stroke-strong", "bg-surface"),
    ("stroke-focus", "bg-surface"),
    ("brand-mark", "bg-surface"),
    ("chart-1", "bg-surface"),
    ("chart-2", "bg-surface"),
]
EXPECTED = {
    # pair: (light, dark) as written in the design
    ("fg-1", "bg-surface"): (15.5, 16.5),
    ("fg-3", "bg-surface"): (6.2, 7.3),
    ("fg-link", "bg-surface"): (6.7, 6.8),
    ("pass-fg", "pass-bg"): (5.9, 9.4),
    ("score-4-mark", "bg-surface"): (3.15, None),
}


def tokens() -> dict[str, tuple[str, str]]:
    """Name → (light, dark) of every token that is a plain colour."""
    text = re.sub(r"/\*.*?\*/", "", TOKENS.read_text(), flags=re.S)
    found = {}
    for name, value in re.findall(r"--([\w-]+):\s*([^;]+);", text):
        colours = re.findall(r"#[0-9a-f]{6}\b", value)
        if colours and "rgb" not in value:
            found[name] = (colours[0], colours[-1])
    return found


def luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("front", "back", "least"),
    [(*pair, 4.5) for pair in TEXT] + [(*pair, 3.0) for pair in MARKS],
)
def test_every_pair_is_readable(front, back, least, theme):
    colours = tokens()
    assert contrast(colours[front][theme], colours[back][theme]) >= least


@pytest.mark.parametrize(("pair", "ratios"), EXPECTED.items())
def test_the_measured_ratios_are_those_of_the_design(pair, ratios):
    front, back = (tokens()[name] for name in pair)
    for theme, ratio in enumerate(ratios):
        if ratio is not None:
            assert contrast(front[theme], back[theme]) == pytest.approx(ratio, abs=0.06)


def test_black_on_white_is_21():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


def test_every_token_that_the_styles_use_exists():
    folder = TOKENS.parent
    defined = set(
        re.findall(r"(--[\w-]+)\s*:", "".join(f.read_text() for f in folder.iterdir()))
    )
    used = set()
    for file in folder.glob("*.css"):
        used |= set(re.findall(r"var\((--[\w-]+)\)", file.read_text()))
    assert used <= defined
