"""The rows of pydantic: prints the JSON Schema of each model, its form on the wire, and what the model reads from a value."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, Optional, TypeVar, Union
from uuid import UUID

from typing_extensions import TypedDict

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, create_model, field_validator

# Without the package itself: this Python may have no httpx.
sys.path.insert(0, str(Path(__file__).parents[3] / "packages/python/src/agent_task_platform/_core"))
import output as sdk  # noqa: E402

T = TypeVar("T")


class Color(Enum):
    red = "red"
    blue = "blue"


class Level(IntEnum):
    low = 1
    high = 2


class Inner(BaseModel):
    a: int = 3


class Circle(BaseModel):
    kind: Literal["circle"]
    radius: float


class Square(BaseModel):
    kind: Literal["square"]
    side: float | None = None
    corners: int = 4


class Node(BaseModel):
    name: str
    children: list[Node] = []


class Chain(BaseModel):
    value: int
    next: Optional[Chain] = None


class Left(BaseModel):
    right: Right | None = Field(None, description="The other side.")


class Right(BaseModel):
    left: Left | None


class Deep(BaseModel):
    next: list[list[Deep]]


class Box(BaseModel, Generic[T]):
    item: T


class Documented(BaseModel):
    """What it is."""

    model_config = ConfigDict(title="A title", json_schema_extra={"x-note": 1})
    title: str = Field(title="T", description="D", examples=["a"], deprecated=True)
    default: int = Field(1, ge=1)


class Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    at: datetime
    tags: set[str]


class Aliased(BaseModel):
    name: str = Field(alias="fullName")


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    n: int


class Checked(BaseModel):
    x: str

    @field_validator("x")
    @classmethod
    def upper(cls, value: str) -> str:
        return value.upper()


class Child(Inner):
    b: str


class Movie(TypedDict):
    name: str
    year: int


@dataclass
class Point:
    x: float
    y: float = 0


def x(type_: Any, **field: Any) -> type[BaseModel]:
    return create_model("X", x=(type_, Field(**field)))


Tagged = Annotated[Union[Circle, Square], Field(discriminator="kind")]
Row = tuple[str, Any, dict[str, Any], Any]

ROWS: list[Row] = [
    ("a text and a number", create_model("M", name=(str, ...), age=(float, ...)), {"name": "Ann", "age": 3}, {"name": "Ann", "age": 3.0}),
    ("a nested model", x(create_model("N", b=(Inner, ...))), {"x": {"b": {"a": 1}}}, None),
    ("no members", create_model("Empty"), {}, None),
    ("lengths of a text", x(str, min_length=2, max_length=5), {"x": "abc"}, None),
    ("a pattern", x(str, pattern="^[a-z]+$"), {"x": "abc"}, None),
    ("an integer", x(int), {"x": 4}, None),
    ("bounds of a number", x(float, gt=0, le=10, multiple_of=0.5), {"x": 2.5}, None),
    ("a truth value", x(bool), {"x": True}, None),
    ("null", x(None), {"x": None}, None),
    ("a nullable text that is needed", x(Optional[str]), {"x": None}, None),
    ("a nullable text with a default", x(Optional[str], default=None), {"x": None}, None),
    ("a default", x(str, default="none"), {"x": None}, {"x": "none"}),
    ("a default list", x(list[int], default_factory=list), {"x": None}, {"x": []}),
    ("a default model", x(Inner, default=Inner()), {"x": None}, {"x": {"a": 3}}),
    ("a default within a list", x(list[Inner]), {"x": [{"a": None}]}, {"x": [{"a": 3}]}),
    ("a time", x(datetime), {"x": "2026-11-28T10:00:00Z"}, None),
    ("a date, a time of day and a duration", create_model("D", d=(date, ...), t=(time, ...), p=(timedelta, ...)), {"d": "2026-11-28", "t": "10:00:00", "p": "PT1H"}, None),
    ("a UUID", x(UUID), {"x": "7f3b1c9e-2a4d-4f6b-8c1d-2e3f4a5b6c7d"}, None),
    ("a decimal", x(Decimal), {"x": "1.50"}, None),
    ("bytes", x(bytes), {"x": "abc"}, None),
    ("an enumeration", x(Color), {"x": "blue"}, None),
    ("an enumeration with a default", x(Color, default=Color.red), {"x": None}, {"x": "red"}),
    ("an enumeration of integers", x(Level), {"x": 2}, None),
    ("one literal", x(Literal["on"]), {"x": "on"}, None),
    ("literals of several types", x(Literal[1, "a", None, True]), {"x": "a"}, None),
    ("an array with lengths", x(list[str], min_length=1, max_length=3), {"x": ["a"]}, None),
    ("a set", x(set[int]), {"x": [1]}, None),
    ("a tuple of one type", x(tuple[int, ...]), {"x": [1, 2]}, None),
    ("a union of scalars", x(Union[str, float]), {"x": 2.5}, None),
    ("a union of models", x(Union[Circle, Square]), {"x": {"kind": "square", "side": None, "corners": None}}, {"x": {"kind": "square", "side": None, "corners": 4}}),
    ("a tagged union", x(Tagged), {"x": {"kind": "square", "side": None, "corners": None}}, {"x": {"kind": "square", "side": None, "corners": 4}}),
    ("an optional tagged union", x(Optional[Tagged], default=None), {"x": None}, None),
    ("known names", x(dict[Literal["a", "b"], int]), {"x": {"a": 1, "b": None}}, {"x": {"a": 1}}),
    ("annotations, and members with their names", Documented, {"title": "a", "default": 1}, None),
    ("a strict model", Strict, {"at": "2026-11-28T10:00:00Z", "tags": ["a"]}, None),
    ("an alias", Aliased, {"fullName": "Ann"}, {"name": "Ann"}),
    ("an open model", Open, {"n": 1}, None),
    ("a value that is changed", Checked, {"x": "abc"}, {"x": "ABC"}),
    ("an inherited member", Child, {"a": None, "b": "x"}, {"a": 3, "b": "x"}),
    ("a generic model", Box[list[Inner]], {"item": [{"a": 1}]}, None),
    ("a TypedDict", TypeAdapter(Movie), {"name": "M", "year": 1999}, None),
    ("a dataclass", TypeAdapter(Point), {"x": 1, "y": None}, {"x": 1.0, "y": 0.0}),
    ("a recursive model", Node, {"name": "a", "children": [{"name": "b", "children": None}]}, {"name": "a", "children": [{"name": "b", "children": []}]}),
    ("a recursive member", x(Chain), {"x": {"value": 1, "next": {"value": 2, "next": None}}}, None),
    ("two models that lead to each other", Left, {"right": {"left": {"right": None}}}, None),
]

REFUSALS: list[tuple[str, Any]] = [
    ("no object", TypeAdapter(list[str])),
    ("anything", create_model("M", a=(x(Any), ...))),
    ("a pair", x(tuple[int, str])),
    ("a dictionary", x(dict[str, int])),
    ("a dictionary of anything in a union", x(Union[str, dict])),
    ("six levels", x(list[list[list[list[Inner]]]])),
    ("six levels by recursion", Deep),
]


def dumped(output: Any, value: Any) -> Any:
    adapter = output if isinstance(output, TypeAdapter) else TypeAdapter(output)
    return json.loads(adapter.dump_json(value))


def row(name: str, output: Any, value: Any, expected: Any) -> dict[str, Any]:
    read = dumped(output, sdk.reader_of(output)(value))
    assert read == (value if expected is None else expected), (name, read)
    schema = output.json_schema() if isinstance(output, TypeAdapter) else output.model_json_schema()
    return {"name": name, "schema": schema, "wire": sdk.output_schema(output), "value": value}


def refusal(name: str, output: Any) -> dict[str, Any]:
    schema = output.json_schema() if isinstance(output, TypeAdapter) else output.model_json_schema()
    try:
        sdk.output_schema(output)
    except ValueError as error:
        return {"name": name, "schema": schema, "message": str(error)}
    raise AssertionError(name)


print(json.dumps({"rows": [row(*each) for each in ROWS], "refusals": [refusal(*each) for each in REFUSALS]}, indent=1))
