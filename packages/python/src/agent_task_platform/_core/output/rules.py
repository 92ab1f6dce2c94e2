"""Keywords of JSON Schema: which bound a value, which decide what it is, and which cannot be sent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

_SAFE = 2**53 - 1

_BOUNDS: dict[str, Callable[[str], str]] = {
    "format": lambda value: f"format {value}",
    "pattern": lambda value: f"matches {value}",
    "contentEncoding": lambda value: f"encoded as {value}",
    "minLength": lambda value: f"at least {value} characters",
    "maxLength": lambda value: f"at most {value} characters",
    "minimum": lambda value: f"at least {value}",
    "maximum": lambda value: f"at most {value}",
    "exclusiveMinimum": lambda value: f"greater than {value}",
    "exclusiveMaximum": lambda value: f"less than {value}",
    "multipleOf": lambda value: f"a multiple of {value}",
    "minItems": lambda value: f"at least {value} items",
    "maxItems": lambda value: f"at most {value} items",
    "uniqueItems": lambda value: "no item twice",
}
"""Keywords that only bound a value. The wire has none of them: they become words of the description."""

DECIDING = ("type", "enum", "const", "items", "anyOf", "oneOf", "propertyNames")
"""Keywords that decide what a value is. Two parts of `allOf` cannot both state one."""

UNSAID = (
    *("not", "if", "prefixItems", "patternProperties", "contains", "minProperties", "maxProperties"),
    *("dependentRequired", "dependentSchemas", "$dynamicRef"),
)
"""Keywords that decide too, and that the wire cannot say."""


def bounds_in(schema: Mapping[str, Any]) -> list[str]:
    """The bounds that a schema states, as words. The pattern of a format says the same as the format; integers are safe anyway."""
    found = []
    for keyword, words in _BOUNDS.items():
        value = schema.get(keyword)
        is_said = (keyword == "pattern" and "format" in schema) or value in (_SAFE, -_SAFE)
        if value is not None and value is not False and not is_said:
            found.append(words(str(int(value) if isinstance(value, float) and value.is_integer() else value)))
    return found


def describe(description: Any, rules: Sequence[str]) -> dict[str, str]:
    """The description of a place, with its bounds."""
    text = description if isinstance(description, str) else ""
    words = " ".join(part for part in (text, f"Rules: {'; '.join(rules)}." if rules else "") if part)
    return {"description": words} if words else {}
