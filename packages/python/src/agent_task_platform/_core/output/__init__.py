"""The structured output of a task by one model: its schema for the server, and its values."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol, TypeVar

from .convert import to_wire
from .place import Place, Wire

Output = TypeVar("Output")
Output_co = TypeVar("Output_co", covariant=True)


class OutputAdapter(Protocol[Output_co]):
    """`TypeAdapter` of pydantic: what describes and reads a type that is no model, such as a dataclass or a TypedDict."""

    def json_schema(self) -> dict[str, Any]: ...

    def validate_json(self, data: str, /) -> Output_co: ...


OutputType = type[Output] | OutputAdapter[Output]
"""A model of pydantic, or a `TypeAdapter`."""


def _schema_of(output: Any) -> tuple[Wire, Place]:
    describe = getattr(output, "model_json_schema", getattr(output, "json_schema", None))
    if describe is None:
        raise ValueError("output: must be a model of pydantic 2 or a TypeAdapter; or use structured_output_schema and result(function)")
    return to_wire(describe())


def output_schema(output: Any) -> dict[str, Any]:
    """The `structured_output_schema` of a model of pydantic, or of a TypeAdapter.

    Annotations are left out, bounds become words of descriptions, and a member that may be absent may be null.
    Raises ValueError with the path of what the platform does not take.
    """
    return _schema_of(output)[0]


def reader_of(output: Any) -> Callable[[Any], Any]:
    """Reads values by a model, an adapter, or a function. Raises what they raise."""
    read: Any = getattr(output, "model_validate_json", getattr(output, "validate_json", None))

    def read_restored(value: Any) -> Any:
        # A schema that was written by hand can have another form.
        with suppress(ValueError):
            value = _schema_of(output)[1].restore(value)
        return read(json.dumps(value))

    function: Callable[[Any], Any] = output if read is None else read_restored
    return function
