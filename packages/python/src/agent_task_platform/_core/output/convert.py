"""The wire's form of a JSON Schema: only what `structured_output_schema` takes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import unquote

from .place import Array, Entries, Object, Optional, Place, Union, Wire, fault
from .rules import DECIDING, UNSAID, bounds_in, describe

# What the server takes (spec/api.md 9.5).
_SCHEMAS_MAX = 1000
_LENGTH_MAX = 65_536

_TYPES = ("string", "number", "integer", "boolean", "null")
_PREFIX = "#/$defs/"


class _Recursion(Place):
    """A reference to a recursive definition; without a place while it is read."""

    def __init__(self, wire: Wire, place: Place | None = None) -> None:
        super().__init__(wire, () if place is None else place.levels)
        self.place = place

    def fits(self, value: Any) -> bool:
        return value is not None if self.place is None else self.place.fits(value)

    def restore(self, value: Any) -> Any:
        return value if self.place is None else self.place.restore(value)


class _Conversion:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root = root
        self.definitions: dict[str, Wire] = {}
        self._known: dict[str, Place] = {}
        self._open: dict[str, list[_Recursion]] = {}
        self._schemas = 0

    def expanded(self, reference: str, schema: Mapping[str, Any], path: str) -> Place:
        """A definition that is recursive is sent as one; the root is sent in addition to its definition."""
        recursions = self._open[reference] = []
        place = self.place(schema, path)
        del self._open[reference]
        for recursion in recursions:
            recursion.place = place
        if not recursions:
            return place
        self.definitions[_name_in(self._token(reference))] = place.wire
        self._known[reference] = place
        return self.place(schema, path) if path == "" else _Recursion(self._wire(reference), place)

    def place(self, schema: Any, path: str) -> Place:
        self._schemas += 1
        if self._schemas > _SCHEMAS_MAX:
            raise fault("", f"can have at most {_SCHEMAS_MAX} schemas")
        if not isinstance(schema, dict):
            raise fault(path, "must have a type")
        if "$ref" in schema:
            beside = {name: value for name, value in schema.items() if name != "$ref"}
            return self._referred(str(schema["$ref"]), beside, path)
        parts = self._parts_of(schema, path)
        whole = _merge(parts, path)
        made = self._place_of(whole, path)
        rules = [rule for part in parts for rule in bounds_in(part)]
        made.wire = {**describe(whole.get("description"), rules), **made.wire}
        return made

    def _place_of(self, schema: Mapping[str, Any], path: str) -> Place:
        unsayable = next((keyword for keyword in UNSAID if keyword in schema), None)
        if unsayable is not None:
            raise fault(path, f'the keyword "{unsayable}" cannot be sent')
        choices = schema.get("anyOf", schema.get("oneOf"))
        if choices is not None:
            return Union([self.place(each, f"{path}.anyOf.{index}") for index, each in enumerate(choices)])
        if "enum" in schema or "const" in schema:
            return Entries(schema["enum"] if "enum" in schema else [schema["const"]], schema.get("type"), path)
        types = schema.get("type", [])
        places = [self._typed(name, schema, path) for name in (types if isinstance(types, list) else [types])]
        if not places:
            raise fault(path, "must have a type")
        # The wire has a list of types.
        return places[0] if len(places) == 1 else Union(places, _listed(places))

    def _typed(self, type: Any, schema: Mapping[str, Any], path: str) -> Place:
        if type == "object":
            return self._object(schema, path)
        if type == "array":
            return Array(self.place(schema.get("items"), f"{path}.items"), path)
        if type not in _TYPES:
            raise fault(path, f"the type {json.dumps(type)} cannot be sent")
        return Place({"type": type})

    def _object(self, schema: Mapping[str, Any], path: str) -> Place:
        more, names = schema.get("additionalProperties"), schema.get("propertyNames")
        listed = names.get("enum") if isinstance(names, dict) else None
        named = schema.get("properties", {}) if listed is None else {name: more for name in listed}
        is_open = more is True or more == {}
        if listed is None and ((is_open and not named) or (isinstance(more, dict) and not is_open)):
            raise fault(path, "an object with any names cannot be sent: use an array of objects with name and value")
        needed = set(schema.get("required", []))
        own = {name: self.place(each, f"{path}.{name}") for name, each in named.items()}
        optional = {name for name, place in own.items() if name not in needed and not place.fits(None)}
        return Object({name: Optional(place) if name in optional else place for name, place in own.items()}, optional, path)

    def _referred(self, reference: str, beside: Mapping[str, Any], path: str) -> Place:
        target = self._definition(reference, path)
        rest = {name: value for name, value in beside.items() if name != "description"}
        if reference in self._open:
            place: Place = _Recursion(self._wire(reference))
            self._open[reference].append(cast(_Recursion, place))
        elif reference in self._known:
            place = _Recursion(self._wire(reference), self._known[reference])
        else:
            place = self.expanded(reference, {**target, **rest}, path)
        words = [text for text in (beside.get("description"), place.wire.get("description")) if isinstance(text, str)]
        place.wire = {**place.wire, **describe(" ".join(words), [])}
        return place

    def _wire(self, reference: str) -> Wire:
        return {"$ref": f"{_PREFIX}{self._token(reference)}"}

    def _token(self, reference: str) -> str:
        return self._root_name() if reference == "#" else reference.removeprefix(_PREFIX)

    def _definition(self, reference: Any, path: str) -> Mapping[str, Any]:
        if reference == "#":
            return self.root
        is_local = re.fullmatch(r"#/\$defs/[^/]+", str(reference))
        found = self.root.get("$defs", {}).get(_name_in(reference.removeprefix(_PREFIX))) if is_local else None
        if not isinstance(found, dict):
            raise fault(path, f"the reference {reference} leads to no definition")
        return found

    def _parts_of(self, schema: Mapping[str, Any], path: str) -> list[Mapping[str, Any]]:
        """A schema with the parts of its `allOf`, references among them."""
        parts: list[Mapping[str, Any]] = [{name: value for name, value in schema.items() if name != "allOf"}]
        for part in schema.get("allOf", []):
            if not isinstance(part, dict):
                raise fault(path, "must have a type")
            rest = {name: value for name, value in part.items() if name != "$ref"}
            whole = {**self._definition(part["$ref"], path), **rest} if "$ref" in part else rest
            parts.extend(self._parts_of(whole, path))
        return parts

    def _root_name(self) -> str:
        """A name for the root among the definitions."""
        name = "Root"
        while name in self.root.get("$defs", {}):
            name += "_"
        return name


def _name_in(token: str) -> str:
    """The name in a reference (RFC 6901)."""
    return unquote(token).replace("~1", "/").replace("~0", "~")


def _listed(places: Sequence[Place]) -> Wire:
    """The wire of several types of one place: `type` is a list."""
    wire: Wire = {}
    for place in places:
        wire.update(place.wire)
    return {**wire, "type": [place.wire["type"] for place in places]}


def _merge(parts: Sequence[Mapping[str, Any]], path: str) -> dict[str, Any]:
    """The parts of one schema as one. Raises ValueError when two of them decide the same in different ways."""
    whole: dict[str, Any] = {}
    for part in parts:
        for keyword, value in part.items():
            if keyword not in whole:
                whole[keyword] = value
            elif keyword == "properties":
                whole[keyword] = _merge_members(whole[keyword], value, path)
            elif keyword == "required":
                whole[keyword] = [*whole[keyword], *value]
            elif keyword in DECIDING and whole[keyword] != value:
                raise fault(path, f'the parts of "allOf" differ in "{keyword}"')
    return whole


def _merge_members(before: Mapping[str, Any], more: Mapping[str, Any], path: str) -> dict[str, Any]:
    twice = next((name for name in more if name in before and before[name] != more[name]), None)
    if twice is not None:
        raise fault(f"{path}.{twice}", 'the parts of "allOf" differ in this member')
    return {**before, **more}


def to_wire(source: Mapping[str, Any]) -> tuple[Wire, Place]:
    """The schema for the server, and the place that restores its values. References are inlined, except recursive ones.

    Raises ValueError with the path of what cannot be said.
    """
    conversion = _Conversion(source)
    place = conversion.expanded("#", source, "")
    if place.wire.get("type") != "object":
        raise fault("", "must be an object; put another value into a member of one")
    sent = {**place.wire, **({"$defs": conversion.definitions} if conversion.definitions else {})}
    if len(json.dumps(sent, ensure_ascii=False, separators=(",", ":")).encode()) > _LENGTH_MAX:
        raise fault("", "can have at most 64 kB of JSON")
    return sent, place
