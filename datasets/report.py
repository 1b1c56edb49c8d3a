"""What an import found, as it is stored with the version and shown on its page."""

from __future__ import annotations

from dataclasses import dataclass, field

from assay.data.jsonx import JSONObject
from assay.data.records import Detected, Problem
from datasets.models import Contents

MAX_LISTED = 100
CONTENTS = {"image": Contents.IMAGE, "audio": Contents.AUDIO, "chat": Contents.CHAT}


@dataclass(slots=True)
class Report:
    """Problems refuse the file, unless `skips_bad`; notes only tell something."""

    skips_bad: bool = False
    detected: Detected | None = None
    problems: list[Problem] = field(default_factory=list)
    problem_count: int = 0
    notes: list[Problem] = field(default_factory=list)
    note_count: int = 0
    good_rows: int = 0
    rows_with: dict[str, int] = field(default_factory=dict)
    media: dict[str, int] = field(default_factory=dict)
    found_rows: dict[str, set[int]] = field(default_factory=dict)
    dropped: list[int] = field(default_factory=list)
    dropped_count: int = 0
    is_canceled: bool = False
    is_broken: bool = False
    broken_because: str = ""

    @property
    def needs_decision(self) -> bool:
        """True when a person should look before the rows are used."""
        return bool(
            self.note_count
            or self.found_rows
            or (self.detected and self.detected.is_guess)
        )

    @property
    def refuses(self) -> bool:
        """True when the rows may not be kept."""
        return self.problem_count > 0 and not (self.skips_bad and self.good_rows)

    def add(self, problem: Problem) -> None:
        if problem.is_warning:
            self.note_count += 1
            if len(self.notes) < MAX_LISTED:
                self.notes.append(problem)
            return
        self.problem_count += 1
        if len(self.problems) < MAX_LISTED:
            self.problems.append(problem)

    def count_row(self, contents: int) -> None:
        """Count a row that holds what these bits of `Contents` say."""
        for name, bit in CONTENTS.items():
            if contents & bit:
                self.rows_with[name] = self.rows_with.get(name, 0) + 1

    def count_finding(self, slug: str, row: int) -> None:
        """Count `row` among those with a finding of this kind, once."""
        self.found_rows.setdefault(slug, set()).add(row)

    def drop(self, line: int) -> None:
        """Note that the good row in `line` was left out on request."""
        self.dropped_count += 1
        if len(self.dropped) < MAX_LISTED:
            self.dropped.append(line)

    def summary(self) -> str:
        """One sentence for the job."""
        if self.is_canceled:
            return "The import was canceled."
        if self.is_broken:
            return self.broken_because or (
                "The import failed on the server. Nothing is wrong with the file."
            )
        if not self.refuses:
            return ""
        return self.problems[0].message if self.problems else ""

    def as_json(self) -> JSONObject:
        return {
            "detected": self.detected.as_json() if self.detected else None,
            "problems": [problem.as_json() for problem in self.problems],
            "problem_count": self.problem_count,
            "notes": [note.as_json() for note in self.notes],
            "note_count": self.note_count,
            "good_rows": self.good_rows,
            "rows_with": dict(self.rows_with),
            "media": dict(self.media),
            "findings": {slug: len(rows) for slug, rows in self.found_rows.items()},
            "dropped": list(self.dropped),
            "dropped_count": self.dropped_count,
            "is_foreign": bool(self.detected and self.detected.refusal),
            "is_canceled": self.is_canceled,
            "is_broken": self.is_broken,
            "broken_because": self.broken_because,
            "skips_bad": self.skips_bad,
        }
