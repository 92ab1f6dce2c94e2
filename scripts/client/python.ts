import type { FileRegistry } from "@bufbuild/protobuf";
import { kinds } from "../../src/core/actions/kind.ts";
import type { Operation } from "../../src/pipeline/operations.ts";
import { commentOf } from "../reference/schema.ts";
import { documented, isUnary, questionKinds, tables } from "./files.ts";
import { type Declarations, isRequired } from "./messages.ts";
import {
  aboutField,
  docstring,
  fieldsOf,
  fieldType,
  literal,
  pythonDeclarations,
  pythonName,
} from "./python-types.ts";

const made = "# Made from proto/ by the set-up.\n";
const future = "from __future__ import annotations\n";

const typesHead = (about: string, more = ""): string =>
  `${made}"""${about}"""\n\n${future}\nfrom collections.abc import Mapping, Sequence\nfrom typing import Any, Literal, NotRequired, TypeAlias, TypedDict\n${more}`;

const envelope = `

class Envelope(TypedDict):
    """What every answer has next to its own members."""

    request_id: str
    """Id of the call; the server's log has it too."""
    warnings: NotRequired[list[str]]
    """Members of the request that had no effect."""
`;

/** An operation with the types of its messages in one of the modules of types. */
interface Typed {
  readonly operation: Operation;
  readonly name: string;
  readonly about: readonly string[];
  readonly request: string;
  readonly answer: string;
  readonly types: Declarations;
}

function typed(schema: FileRegistry, types: Declarations, operation: Operation, name: string): Typed {
  const method = documented(schema, operation);
  const [request, answer] = [types.typeOf(method.input, "request"), types.typeOf(method.output, "answer")];
  return { operation, name, about: commentOf(method), request, answer, types };
}

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const pascal = (name: string): string =>
  name.replace(/(^|[._])(\w)/g, (_, __, letter: string) => letter.toUpperCase());

/** Whether the list has pages, and the type of an item. */
function itemOf(schema: FileRegistry, { operation, types }: Typed): string | null {
  const { input, output } = documented(schema, operation);
  const items =
    output.fields.find(({ name }) => name === "messages") ??
    output.fields.find(({ name }) => name === "data");
  const hasPages =
    input.fields.some(({ name }) => name === "cursor") &&
    output.fields.some(({ name }) => name === "next_cursor");
  return hasPages && items?.message ? types.typeOf(items.message, "answer") : null;
}

const needsRequest = (schema: FileRegistry, { operation }: Typed): boolean =>
  documented(schema, operation).input.fields.some(isRequired);

/** The overloads of a method that takes the name of an operation. */
function overloads(
  schema: FileRegistry,
  method: string,
  all: readonly Typed[],
  module: string,
  returns: (of: Typed) => string,
  isAsync: boolean,
): string {
  const def = isAsync ? "async def" : "def";
  const one = (of: Typed) => {
    const request = `${module}.${of.request}${needsRequest(schema, of) ? "" : " | None = None"}`;
    return `    @overload\n    ${def} ${method}(self, name: ${literal([of.name])}, request: ${request}, options: CallOptions | None = None) -> ${returns(of)}: ...\n`;
  };
  return all.map(one).join("");
}

function operationsFile(schema: FileRegistry, v2: readonly Typed[], rpc: readonly Typed[]): string {
  const paged = v2.filter((of) => itemOf(schema, of) !== null);
  return `${made}"""Calls of every operation by its name."""

${future}
from typing import TYPE_CHECKING, Any, Literal, overload

from .._core.policy import CallOptions
from .calls import AsyncCaller
from .pages import AsyncPaged

if TYPE_CHECKING:
    from ..types import rpc, v2


class AsyncOperations(AsyncCaller):
    """Calls of every operation. Raises ApiError and ApiConnectionError."""

${overloads(schema, "call", v2, "v2", ({ answer }) => `v2.${answer}`, true)}    async def call(self, name: str, request: Any = None, options: CallOptions | None = None) -> Any:
        """Calls an operation of v2 by its name, for example \`task.create\`."""
        return await self._call(name, request, options)

${overloads(schema, "rpc", rpc, "rpc", ({ answer }) => `rpc.${answer}`, true)}    async def rpc(self, name: str, request: Any = None, options: CallOptions | None = None) -> Any:
        """Calls an operation that has no name in v2, for example \`settings.v1.WorkerService/ListWorkers\`."""
        return await self._rpc(name, request, options)

${overloads(schema, "items", paged, "v2", (of) => `AsyncPaged[v2.${itemOf(schema, of)}, v2.${of.answer}]`, false)}    def items(self, name: str, request: Any = None, options: CallOptions | None = None) -> AsyncPaged[Any, Any]:
        """The items of a list, over all its pages."""
        return self._items(name, request, options)
`;
}

/** The subjects that have a resource, and the attribute of the client. */
export const pythonSubjects: Readonly<Record<string, string>> = {
  task: "tasks",
  file: "files",
  schedule: "schedules",
  project: "projects",
  webhook: "webhooks",
  agent: "agents",
  agentProfile: "agent_profiles",
  skill: "skills",
  connector: "connectors",
  browser: "browsers",
  website: "websites",
  usage: "usage",
  user: "users",
  "team.user": "team_users",
  audit: "audit",
  import: "imports",
};

export const pythonMethod = (name: string): string =>
  pythonName(snake(name.slice(name.lastIndexOf(".") + 1)));
const subjectOf = (name: string): string => name.slice(0, name.lastIndexOf("."));

/** Methods that are written by hand. */
const byHand = new Set(["task.create", "task.list", "file.upload"]);

function parameters(
  schema: FileRegistry,
  { operation, types }: Typed,
  omitted: ReadonlySet<string> = new Set(),
) {
  const fields = fieldsOf(documented(schema, operation).input).filter(({ name }) => !omitted.has(name));
  if (fields.some(({ name }) => name === "options"))
    throw new Error(`${operation.name}: the name options is taken`);
  const isNeeded = (field: (typeof fields)[number]) => field.oneof === undefined && isRequired(field);
  const sorted = [...fields.filter(isNeeded), ...fields.filter((field) => !isNeeded(field))];
  const declared = sorted.map((field) => {
    const type = qualified(fieldType(field, "request", "v2", types.typeOf));
    return `        ${pythonName(field.name)}: ${isNeeded(field) ? type : `${type} | None = None`},\n`;
  });
  return {
    declared: declared.join(""),
    body: sorted.map(({ name }) => `            "${name}": ${name},\n`).join(""),
    about: sorted.map((field) => `${field.name}: ${aboutField(field, "request").join(" ")}`),
  };
}

/** Names of messages, in the module of types. */
const qualified = (type: string): string =>
  type.replace(/"[^"]*"|\b[A-Z]\w+/g, (word) =>
    /^("|Literal|Sequence|Mapping|Any)/.test(word) ? word : `v2.${word}`,
  );

function method(schema: FileRegistry, of: Typed): string {
  const { declared, body, about } = parameters(schema, of);
  return `
    async def ${pythonMethod(of.name)}(
        self,
${declared === "" ? "" : `        *,\n${declared}`}        options: CallOptions | None = None,
    ) -> v2.${of.answer}:
${docstring([...of.about, ...about], "        ")}        answer: v2.${of.answer} = await self._operations._call(
            ${JSON.stringify(of.name)},
            present({
${body.replaceAll(/^/gm, "    ").trimEnd()}
            }),
            options,
        )
        return answer
`.replace(/present\(\{\s+\}\)/, "{}");
}

/** \`create\` of tasks, whose message may be a text, and the request of \`list\`. */
function createMethod(schema: FileRegistry, v2: readonly Typed[]): string {
  const of = v2.find(({ name }) => name === "task.create");
  const list = v2.find(({ name }) => name === "task.list");
  if (!of || !list) throw new Error("the schema has no task.create or task.list");
  const { declared, body, about } = parameters(schema, of, new Set(["message"]));
  const signature = (output: string, answer: string) => `(
        self,
        message: MessageLike,
        *,
        output: ${output},
${declared}        options: CallOptions | None = None,
    ) -> AsyncStartedTask[${answer}]:`;
  const listed = parameters(schema, list, new Set(["cursor"]));
  return `
    @overload
    def create${signature("OutputType[Output]", "Output")} ...
    @overload
    def create${signature("None = None", "Any")} ...
    def create${signature("Any = None", "Any")}
${docstring(
  [
    "Creates a task, and returns it.",
    ...of.about.slice(1),
    "message: The first message, as a text or as `task.create` takes it.",
    "output: The form of the structured output, instead of `structured_output_schema`: a model of pydantic or a `TypeAdapter`. `result` checks the value by it. What the platform does not take raises ValueError with its path, before any call.",
    ...about,
  ],
  "        ",
)}        request = present({
            "message": to_message(message),
${body}        })
        if output is not None:
            request["structured_output_schema"] = output_schema(output)
        return self._start(request, options, output)

    def list(
        self,
        *,
${listed.declared}        options: CallOptions | None = None,
    ) -> AsyncPaged[v2.Task, v2.${list.answer}]:
${docstring(["The caller's tasks, newest first by default, over all pages.", ...listed.about], "        ")}        request = present({
${listed.body}        })
        return self._operations._items("task.list", request, options)
`;
}

function resourcesFile(schema: FileRegistry, v2: readonly Typed[]): string {
  const classes = Object.keys(pythonSubjects).map((subject) => {
    const own = v2.filter(({ name }) => subjectOf(name) === subject && !byHand.has(name));
    const isTasks = subject === "task";
    const name = `Async${pascal(subject)}Resource`;
    return `

class ${name}:
    """Operations of \`${subject}\`."""

    def __init__(self, operations: AsyncOperations) -> None:
        self._operations = operations
${
  isTasks
    ? `
    def _start(self, request: Mapping[str, Any], options: CallOptions | None, output: Any) -> AsyncStartedTask[Any]:
        raise NotImplementedError
${createMethod(schema, v2)}`
    : ""
}${own.map((of) => method(schema, of)).join("")}`;
  });
  return `${made}"""The operations of each subject, as methods."""

${future}
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from .._core.messages import MessageLike, to_message
from .._core.output import Output, OutputType, output_schema
from .._core.policy import CallOptions, present
from .operations import AsyncOperations
from .pages import AsyncPaged

if TYPE_CHECKING:
    from ..types import v2
    from .started import AsyncStartedTask
${classes.join("")}`;
}

const tableOf = (name: string, about: string, all: readonly Typed[]): string =>
  `\n${name}: dict[str, bool] = {\n${all.map((of) => `    ${JSON.stringify(of.name)}: ${of.operation.isChange ? "True" : "False"},\n`).join("")}}\n"""${about}"""\n`;

interface Shape {
  readonly type: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly items?: Shape;
}

/** The inputs of decisions as TypedDicts, and \`confirm\` with an overload for each kind. */
function actionFiles(): readonly (readonly [string, string])[] {
  const classes: string[] = [];
  function typeOf(schema: unknown, name: string): string {
    const { type, enum: words, properties = {}, required = [], items } = schema as Shape;
    if (words) return literal(words);
    if (type === "array" && items) return `Sequence[${typeOf(items, `${name}Item`)}]`;
    if (type !== "object") return { string: "str", boolean: "bool", integer: "int" }[type] ?? "float";
    const members = Object.entries(properties).map(([member, of]) => {
      const inner = typeOf(of, `${name}${pascal(member)}`);
      return `    ${pythonName(member)}: ${required.includes(member) ? inner : `NotRequired[${inner}]`}\n`;
    });
    classes.push(`\n\nclass ${name}(TypedDict):\n${members.join("")}`);
    return name;
  }
  const rows = Object.entries(kinds).flatMap(([kind, { inputs }]) => {
    const forms = Object.values(inputs).map((shape, index, all) =>
      typeOf(shape, `${pascal(kind)}Input${all.length > 1 ? index + 1 : ""}`).trim(),
    );
    return forms.length === 0 ? [] : [{ kind, type: forms.map((form) => `actions.${form}`).join(" | ") }];
  });
  const source = "# Made from src/core/actions/kind.ts by the set-up.\n";
  const overload = ({ kind, type }: (typeof rows)[number]) =>
    `    @overload\n    async def confirm(self, kind: ${literal([kind])}, input: ${type}, options: CallOptions | None = None) -> None: ...\n`;
  return [
    [
      "types/actions.py",
      `${source}"""The input of a decision, by the kind of the action (\`waiting_for_event_type\`)."""\n\n${future}\nfrom collections.abc import Sequence\nfrom typing import Literal, NotRequired, TypeAlias, TypedDict\n${classes.join("")}\n\nActionKind: TypeAlias = ${literal(rows.map(({ kind }) => kind))}\n"""The kinds of actions."""\n`,
    ],
    [
      "_async/decisions.py",
      `${source}"""\`confirm\`, with the input of each kind."""

${future}
from typing import TYPE_CHECKING, Any, Literal, overload

from .._core.policy import CallOptions

if TYPE_CHECKING:
    from ..types import actions

QUESTIONS = (${questionKinds.map((kind) => JSON.stringify(kind)).join(", ")})
"""The kinds of questions, which a message answers."""


class AsyncDecisions:
    """What can be decided about a task that waits."""

    async def _confirm(self, kind: str, input: Any, options: CallOptions | None) -> None:
        raise NotImplementedError

${rows.map(overload).join("")}    async def confirm(self, kind: str, input: Any, options: CallOptions | None = None) -> None:
        """Decides the action that the task waits for; the input depends on its kind.

        Raises TaskStateError when the task waits for no action of this kind.
        """
        await self._confirm(kind, input, options)
`,
    ],
  ];
}

/**
 * The generated files of the Python package, by their path below \`packages/python/src/agent_task_platform\`.
 */
export function pythonFiles(schema: FileRegistry): ReadonlyMap<string, string> {
  const { named, byKey, workers } = tables();
  const [v2Types, rpcTypes, workerTypes] = [
    pythonDeclarations("v2", ["Envelope"]),
    pythonDeclarations("connect"),
    pythonDeclarations("connect"),
  ];
  const v2 = named
    .filter(isUnary)
    .map((operation) => typed(schema, v2Types, operation, operation.name ?? operation.rpc));
  for (const operation of named.filter((each) => !isUnary(each)))
    typed(schema, v2Types, operation, operation.rpc);
  const rpc = byKey.map((operation) => typed(schema, rpcTypes, operation, operation.rpc));
  for (const operation of workers) typed(schema, workerTypes, operation, operation.method.name);
  const operations = operationsFile(schema, v2, rpc);
  const resources = resourcesFile(schema, v2);
  return new Map([
    ["types/v2.py", `${typesHead("The messages of v2.")}${envelope}\n${v2Types.text()}`],
    [
      "types/rpc.py",
      `${typesHead("The messages of operations without a name in v2, in the JSON of Connect: lowerCamelCase, without zero values.")}\n${rpcTypes.text()}`,
    ],
    [
      "types/worker.py",
      `${typesHead("The messages of `worker.v1`, in the JSON of Connect: lowerCamelCase, without zero values.")}\n${workerTypes.text()}`,
    ],
    [
      "_core/tables.py",
      `${made}"""Whether each operation changes something: changes are repeated with an idempotency key."""\n\n${future}${tableOf("OPERATIONS", "Operations of v2.", v2)}${tableOf("RPCS", "Operations without a name in v2.", rpc)}`,
    ],
    ["_async/operations.py", operations],
    ["_async/resources.py", resources],
    ...actionFiles(),
  ]);
}
