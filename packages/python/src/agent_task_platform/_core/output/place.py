"""Places of a schema: their form on the wire, and how their values are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Wire: TypeAlias = dict[str, Any]

# The server's rule (spec/api.md 9.5).
_LEVELS_MAX = 5


def fault(path: str, rule: str) -> ValueError:
    """What this package cannot send. The path begins with `output`."""
    return ValueError(f"output{path}: {rule}")


def type_of(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
    return "array" if isinstance(value, list) else "object"


@dataclass
class Place:
    """One place of a schema: a value without parts, and the base of the others."""

    wire: Wire
    levels: Sequence[str] = ()
    """The paths of the objects and arrays on the longest way down, from the top."""

    def fits(self, value: Any) -> bool:
        """Whether a value that came over the wire has the form of this place."""
        wanted = self.wire["type"]
        is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        kind = type_of(value)
        return kind == "number" and is_whole if wanted == "integer" else bool(kind == wanted)

    def restore(self, value: Any) -> Any:
        """The value without the nulls of absent members."""
        return value


def _longest(places: Sequence[Place]) -> Sequence[str]:
    return max((place.levels for place in places), key=len, default=())


def _below(path: str, places: Sequence[Place]) -> Sequence[str]:
    levels = [path, *_longest(places)]
    if len(levels) > _LEVELS_MAX:
        raise fault(levels[_LEVELS_MAX], f"objects and arrays can be nested at most {_LEVELS_MAX} levels deep")
    return levels


class Entries(Place):
    """One of some values; their types, if the schema has none."""

    def __init__(self, entries: Sequence[Any], type: Any, path: str) -> None:
        if not entries or any(isinstance(entry, (dict, list)) for entry in entries):
            raise fault(path, "a fixed value must be a text, a number, a boolean or null")
        types = list(dict.fromkeys(map(type_of, entries)))
        kinds = type or (types[0] if len(types) == 1 else types)
        # True equals 1 in Python, and not in JSON.
        unique = {(type_of(entry), entry): entry for entry in entries}
        super().__init__({"type": kinds, "enum": list(unique.values())})
        self._entries = set(unique)

    def fits(self, value: Any) -> bool:
        return not isinstance(value, (dict, list)) and (type_of(value), value) in self._entries


class Union(Place):
    """A value of one of several places."""

    def __init__(self, places: Sequence[Place], wire: Wire | None = None) -> None:
        super().__init__(wire or {"anyOf": [place.wire for place in places]}, _longest(places))
        self._places = places

    def fits(self, value: Any) -> bool:
        return any(place.fits(value) for place in self._places)

    def restore(self, value: Any) -> Any:
        place = next((place for place in self._places if place.fits(value)), None)
        return value if place is None else place.restore(value)


class Optional(Place):
    """A member that may be absent: null on the wire."""

    def __init__(self, place: Place) -> None:
        told = {name: value for name, value in place.wire.items() if name == "description"}
        wire = {name: value for name, value in place.wire.items() if name != "description"}
        super().__init__({**told, **_with_null(wire)}, place.levels)
        self._place = place

    def fits(self, value: Any) -> bool:
        return value is None or self._place.fits(value)

    def restore(self, value: Any) -> Any:
        return self._place.restore(value)


def _with_null(wire: Wire) -> Wire:
    if "anyOf" in wire:
        return {"anyOf": [*wire["anyOf"], {"type": "null"}]}
    if "type" not in wire:
        return {"anyOf": [wire, {"type": "null"}]}
    types = wire["type"] if isinstance(wire["type"], list) else [wire["type"]]
    entries = {"enum": [*wire["enum"], None]} if "enum" in wire else {}
    return {**wire, "type": [*types, "null"], **entries}


class Object(Place):
    """An object with members, each with a place. `optional` are those that may be absent, and never null."""

    def __init__(self, members: Mapping[str, Place], optional: set[str], path: str) -> None:
        properties = {name: place.wire for name, place in members.items()}
        wire = {"type": "object", "properties": properties, "required": list(members), "additionalProperties": False}
        super().__init__(wire, _below(path, list(members.values())))
        self._members = members
        self._optional = optional

    def fits(self, value: Any) -> bool:
        if not isinstance(value, dict) or value.keys() != self._members.keys():
            return False
        return all(place.fits(value[name]) for name, place in self._members.items())

    def restore(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {
            name: self._members[name].restore(each) if name in self._members else each
            for name, each in value.items()
            if each is not None or name not in self._optional
        }


class Array(Place):
    def __init__(self, items: Place, path: str) -> None:
        super().__init__({"type": "array", "items": items.wire}, _below(path, [items]))
        self._items = items

    def fits(self, value: Any) -> bool:
        return isinstance(value, list) and all(map(self._items.fits, value))

    def restore(self, value: Any) -> Any:
        return list(map(self._items.restore, value)) if isinstance(value, list) else value
