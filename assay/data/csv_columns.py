"""Names of the columns of a CSV file, made usable: trimmed, each there and once."""

from __future__ import annotations

from assay.data.records import Problem, count

INVISIBLE = dict.fromkeys(
    [*range(32), 0x7F, 0xAD, 0x200B, 0x200E, 0x200F, 0x2060, 0xFEFF]
)
"""Control characters, soft hyphen, zero-width and direction marks: not in a name."""


class Columns:
    """`names` of the columns, and the `problems` that are worth saying about them."""

    def __init__(self, header: list[str], line: int) -> None:
        self.problems: list[Problem] = []
        self.line = line
        self.names: list[str] = []
        named = _without_empty_tail(header)
        self._wanted = {_visible(raw) for raw in named}
        for position, raw in enumerate(named, start=1):
            self.names.append(self._unique(self._name(raw, position), position))
        if len(named) < len(header):
            left_out = count(len(header) - len(named), "column")
            message = f"{left_out} without a name at the end of line {line} left out."
            self._note("nameless_columns", message, None)

    def _name(self, raw: str, position: int) -> str:
        name = _visible(raw)
        if not name:
            name = self._free("column", position)
            message = f"Column {position} has no name in line {self.line}. "
            self._note("empty_header", message + f"It is called {name}.", name)
        elif name != raw:
            message = (
                f'The column name "{name}" had blanks or invisible characters '
                "around or inside it. They were removed."
            )
            self._note("header_cleaned", message, name)
        return name

    def _unique(self, name: str, position: int) -> str:
        """`name`, or `name_2` when a column before has it."""
        if name not in self.names:
            return name
        free = self._free(name, 2)
        message = (
            f'Line {self.line} has more than one column called "{name}". '
            f"Column {position} is called {free}."
        )
        self._note("duplicate_column", message, free)
        return free

    def _free(self, name: str, number: int) -> str:
        """`name` with the first number from `number` on that no other column has."""
        while (free := f"{name}_{number}") in self._wanted or free in self.names:
            number += 1
        return free

    def _note(self, code: str, message: str, name: str | None) -> None:
        problem = Problem(code, message, self.line, column=name, is_warning=True)
        self.problems.append(problem)


class NumberedColumns(Columns):
    """Columns of a file without a header row: `column_1`, `column_2` …"""

    def __init__(self, first_row: list[str], line: int) -> None:
        super().__init__([f"column_{i + 1}" for i in range(len(first_row))], line)
        names = " … ".join(dict.fromkeys((self.names[0], self.names[-1])))
        message = f"The file was read without a header row. Its columns: {names}."
        self._note("no_header", message, None)


def _without_empty_tail(header: list[str]) -> list[str]:
    """`header` up to its last cell with a name."""
    named = [i for i, cell in enumerate(header) if _visible(cell)]
    return header[: named[-1] + 1] if named else header


def _visible(name: str) -> str:
    """`name` without blanks around it and without characters that cannot be seen."""
    return name.translate(INVISIBLE).strip()
