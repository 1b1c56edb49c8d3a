"""Rubrics as JSON text: read from anywhere, written in Foundry's form.

What is read may be a bare list of dimensions, a rubric definition
(`{type, dimensions, pass_threshold, scoring: {mode}}`) or an evaluator that wraps one
(`{definition: {…}, name, display_name, …}`). Values stay the texts that were written,
so that a wrong one can be shown and mended; what is not understood is named in a note.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from assay.data.exact import NotFiniteError, number_text
from assay.data.jsonx import JSON, JSONObject
from assay.data.text import Sentence, storable
from assay.data.text import gettext_noop as _
from assay.scoring.rubric.spec import MAX_DIMENSIONS, Dimension, RubricSpec

MOST_READ = 100
"""Dimensions that are read: more cannot be edited on one page."""
YES, NO = "yes", "no"
NAMES: dict[str, tuple[str, ...]] = {
    "name": ("name", "evaluator_name", "rubric_id"),
    "title": ("display_name", "title"),
    "description": ("description",),
    "category": ("category",),
    "level": ("level", "evaluation_level"),
    "pass_threshold": ("pass_threshold", "threshold"),
    "normalization": ("normalization",),
}
"""The texts of a rubric, each with the names under which it is found."""
LISTS = {"categories": "category", "supported_evaluation_levels": "level"}
"""Fields of Foundry that are lists; one value is understood."""
SWITCHES = ("fail_on_any_1", "one_call_per_dimension")
IDS = ("id", "dimension_id")
DIMENSION_FIELDS = (
    *IDS,
    "description",
    "weight",
    "always_applicable",
    "allowed",
    "generated_weight",
)
CATEGORIES = {"quality": "quality", "safety": "safety"}
LEVELS = {"turn": "turn", "response": "turn", "conversation": "conversation"}


class UnreadableError(ValueError):
    """The text holds no rubric; `sentence` says why and where."""

    def __init__(self, sentence: Sentence) -> None:
        super().__init__(str(sentence))
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class ReadDimension:
    """A dimension as it was written. `allowed` is "yes", "no" or ""."""

    id: str = ""
    description: str = ""
    weight: str = ""
    always_applicable: bool = False
    allowed: str = ""
    generated_weight: int | None = None


@dataclass(frozen=True, slots=True)
class ReadRubric:
    """What was found. `fields` holds the texts and switches that were given, by the
    names of `NAMES`, `SWITCHES` and "scoring"; `notes` say what was left out."""

    dimensions: tuple[ReadDimension, ...]
    fields: Mapping[str, str | bool] = field(default_factory=dict)
    notes: tuple[Sentence, ...] = ()


def read_json(text: str) -> ReadRubric:
    """Raises `UnreadableError` when `text` is not JSON or holds no dimensions."""
    reader = _Reader()
    value = reader.parse(text)
    return reader.rubric(value)


class _Reader:
    """Reads one text and collects what it could not take."""

    def __init__(self) -> None:
        self.notes: list[Sentence] = []

    def parse(self, text: str) -> JSON:
        if not text.strip():
            raise UnreadableError(Sentence(_("Paste the JSON of a rubric.")))
        try:
            value: JSON = json.loads(
                text.removeprefix("\ufeff"),
                object_pairs_hook=self._object,
                parse_constant=_refuse,
            )
        except json.JSONDecodeError as error:
            message = _("This is not JSON: line %(line)s, column %(column)s. %(why)s.")
            params = {"line": error.lineno, "column": error.colno, "why": error.msg}
            raise UnreadableError(Sentence(message, params)) from None
        except NotFiniteError as error:
            message = _("This is not JSON: %(value)s is not a number that JSON has.")
            raise UnreadableError(Sentence(message, {"value": str(error)})) from None
        except (RecursionError, ValueError):
            message = _("This JSON is too deep or has a number that is too long.")
            raise UnreadableError(Sentence(message)) from None
        return value

    def _object(self, pairs: list[tuple[str, JSON]]) -> JSONObject:
        found: JSONObject = {}
        for name, value in pairs:
            if name in found:
                message = _('The field "%(name)s" stands twice; the last one counts.')
                self.notes.append(Sentence(message, {"name": _short(name)}))
            found[name] = value
        return found

    def rubric(self, value: JSON) -> ReadRubric:
        wrapper: JSONObject = {}
        if isinstance(value, dict) and isinstance(value.get("definition"), dict):
            wrapper = {k: v for k, v in value.items() if k != "definition"}
            value = value["definition"]
        if isinstance(value, list):
            listed: JSON = value
            body: JSONObject = {}
        elif isinstance(value, dict):
            body = {k: v for k, v in value.items() if k != "dimensions"}
            listed = value.get("dimensions")
        else:
            listed, body = None, {}
        if not isinstance(listed, list):
            message = _(
                "This JSON holds no dimensions. Paste a list of dimensions, or an "
                'object with the field "dimensions".'
            )
            raise UnreadableError(Sentence(message))
        if len(listed) > MOST_READ:
            message = _("There are %(count)s dimensions. At most %(most)s are judged.")
            params = {"count": len(listed), "most": MAX_DIMENSIONS}
            raise UnreadableError(Sentence(message, params))
        fields = self._fields({**wrapper, **body})
        dimensions = tuple(self._dimension(n, d) for n, d in enumerate(listed, 1))
        return ReadRubric(dimensions, fields, tuple(self.notes))

    def _fields(self, given: JSONObject) -> dict[str, str | bool]:
        rest = dict(given)
        found: dict[str, str | bool] = {}
        for plural, single in LISTS.items():
            listed = rest.get(plural)
            if isinstance(listed, list) and len(listed) == 1 and single not in rest:
                rest[single] = listed[0]
                del rest[plural]
        kind = rest.pop("type", "rubric")
        if kind != "rubric":
            message = _('The type is "%(type)s". It is read as a rubric.')
            self.notes.append(Sentence(message, {"type": _short(kind)}))
        for name, spellings in NAMES.items():
            for spelling in spellings:
                if spelling in rest:
                    text = self._text(rest.pop(spelling), _rubric(spelling))
                    if text is not None and name not in found:
                        found[name] = text
        for name in SWITCHES:
            if name in rest:
                switch = self._switch(rest.pop(name), _rubric(name))
                if switch is not None:
                    found[name] = switch
        found |= self._scoring(rest)
        self._left_out(rest, None)
        return _plain_words(found)

    def _scoring(self, rest: JSONObject) -> dict[str, str | bool]:
        """`scoring: {mode}` of Foundry, or the bare word."""
        scoring = rest.pop("scoring", None)
        if isinstance(scoring, dict):
            others = {k: v for k, v in scoring.items() if k != "mode"}
            rest |= {f"scoring.{name}": value for name, value in others.items()}
            scoring = scoring.get("mode")
        text = self._text(scoring, _rubric("scoring"))
        return {} if text is None else {"scoring": text}

    def _dimension(self, number: int, value: JSON) -> ReadDimension:
        if not isinstance(value, dict):
            place = Sentence(_("dimension %(number)s"), {"number": number})
            self._wrong(place, value)
            return ReadDimension(description=_short(value) if value else "")
        name = next((n for n in IDS if n in value), IDS[0])

        def at(part: str) -> Sentence:
            message = _("dimension %(number)s: %(field)s")
            return Sentence(message, {"number": number, "field": part})

        rest = {k: v for k, v in value.items() if k not in DIMENSION_FIELDS or k in IDS}
        rest.pop(name, None)
        self._left_out(rest, number)
        generated = value.get("generated_weight")
        if generated is not None and not _is_whole(generated):
            self._wrong(at("generated_weight"), generated)
            generated = None
        allowed = self._switch(value.get("allowed"), at("allowed"))
        return ReadDimension(
            id=self._text(value.get(name), at(name)) or "",
            description=self._text(value.get("description"), at("description")) or "",
            weight=self._text(value.get("weight"), at("weight"), numbers=True) or "",
            always_applicable=bool(
                self._switch(value.get("always_applicable"), at("always_applicable"))
            ),
            allowed={True: YES, False: NO}.get(allowed, "")
            if allowed is not None
            else "",
            generated_weight=generated if isinstance(generated, int) else None,
        )

    def _text(
        self, value: JSON, place: Sentence, *, numbers: bool = False
    ) -> str | None:
        """The text of a value; of another type it is named, and kept as written."""
        if value is None:
            return None
        if isinstance(value, str):
            if numbers:
                self._wrong(place, value)
            return storable(value)
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if is_number and (numbers or place.params.get("field") in _NUMBERS):
            return _number(value)
        self._wrong(place, value)
        return storable(json.dumps(value, ensure_ascii=False))

    def _switch(self, value: JSON, place: Sentence) -> bool | None:
        if value is None or isinstance(value, bool):
            return value
        self._wrong(place, value)
        return {"true": True, "false": False}.get(str(value).strip().lower())

    def _wrong(self, place: Sentence, value: JSON) -> None:
        message = _("%(place)s has the wrong type: %(value)s.")
        self.notes.append(
            Sentence(message, {"place": str(place), "value": _short(value)})
        )

    def _left_out(self, rest: JSONObject, number: int | None) -> None:
        if not rest:
            return
        names = ", ".join(_short(name) for name in rest)
        if number is None:
            message = _(
                "These fields are not part of a rubric and were left out: %(names)s."
            )
            self.notes.append(Sentence(message, {"names": names}))
        else:
            message = _(
                "Dimension %(number)s: these fields are not part of a dimension and "
                "were left out: %(names)s."
            )
            self.notes.append(Sentence(message, {"number": number, "names": names}))


_NUMBERS = ("pass_threshold", "threshold")


def _refuse(text: str) -> float:
    raise NotFiniteError(text)


def _rubric(name: str) -> Sentence:
    return Sentence(_("rubric: %(field)s"), {"field": name})


def _is_whole(value: JSON) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: JSON) -> str:
    return number_text(value) if isinstance(value, float) else str(value)


def _short(value: JSON) -> str:
    """A value as one line of at most 80 characters."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    line = " ".join(storable(text).split())
    return line if len(line) <= 80 else f"{line[:79]}…"


def _plain_words(found: dict[str, str | bool]) -> dict[str, str | bool]:
    """Category and level in the words of a spec; Foundry counts `response` as turn."""
    for name, words in (("category", CATEGORIES), ("level", LEVELS)):
        value = found.get(name)
        if isinstance(value, str):
            found[name] = words.get(value.strip().lower(), value)
    return found


def dimensions_json(spec: RubricSpec) -> list[JSON]:
    """The dimensions in the form of Foundry's documentation."""
    return list(_written(spec.dimensions))


def _written(dimensions: Sequence[Dimension]) -> Iterator[JSONObject]:
    for dimension in dimensions:
        found: JSONObject = {
            "id": dimension.id,
            "description": dimension.description,
        }
        if dimension.weight is not None:
            found["weight"] = dimension.weight
        if dimension.always_applicable:
            found["always_applicable"] = True
        if dimension.allowed is not None:
            found["allowed"] = dimension.allowed
        if dimension.generated_weight is not None:
            found["generated_weight"] = dimension.generated_weight
        yield found


def definition_json(
    spec: RubricSpec, *, name: str, title: str = "", description: str = ""
) -> JSONObject:
    """The whole rubric as Foundry's evaluator. Our own settings stand beside its own
    ones, and only where they differ from the defaults."""
    own: JSONObject = {}
    standard = RubricSpec(dimensions=())
    for key in ("normalization", "fail_on_any_1", "one_call_per_dimension", "level"):
        value = getattr(spec, key)
        if value != getattr(standard, key):
            own[key] = value
    definition: JSONObject = {
        "type": "rubric",
        "dimensions": dimensions_json(spec),
        "pass_threshold": spec.pass_threshold,
        "scoring": {"mode": spec.scoring},
        **own,
    }
    return {
        "name": name,
        "display_name": title or name,
        "description": description,
        "category": spec.category,
        "definition": definition,
    }


def pretty(value: JSON) -> str:
    """JSON text for people: two blanks of indent, characters as they are."""
    return json.dumps(value, ensure_ascii=False, indent=2)
