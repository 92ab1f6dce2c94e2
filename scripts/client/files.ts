import type { DescMessage, FileRegistry } from "@bufbuild/protobuf";
import { isKind, isQuestion, kinds } from "../../src/core/actions/kind.ts";
import { Access_Credential } from "../../src/gen/proto/taskplatform/options/v1/options_pb.ts";
import { type Operation, type OperationAccess, operationTable } from "../../src/pipeline/operations.ts";
import { commentOf, serviceOf } from "../reference/schema.ts";
import { declarations } from "./declarations.ts";
import type { Form } from "./messages.ts";

const head = "// Made from proto/ by the set-up.\n";

/** The method with its comments: the table has it without. */
export function documented(schema: FileRegistry, { method }: Operation) {
  const found = serviceOf(schema, method.parent.typeName).methods.find(({ name }) => name === method.name);
  if (!found) throw new Error(`the schema has no method ${method.name}`);
  return found;
}

const credentialKind = (operation: Operation): "read" | "change" => (operation.isChange ? "change" : "read");

/** One entry of a table of operations: what it takes, and what it returns. */
function entry(
  schema: FileRegistry,
  operation: Operation,
  name: string,
  typeOf: (message: DescMessage, of: "request" | "answer") => string,
) {
  const method = documented(schema, operation);
  const [summary = ""] = commentOf(method);
  return `  /** ${summary} */\n  readonly ${JSON.stringify(name)}: { readonly request: ${typeOf(method.input, "request")}; readonly answer: ${typeOf(method.output, "answer")} };\n`;
}

/** Operations that answer once; streams have separate methods. */
export const isUnary = ({ method }: Operation): boolean => method.methodKind === "unary";

const takesMoreThanSessions = (access: OperationAccess | null): boolean =>
  access === null || [...access.credentials].some((credential) => credential !== Access_Credential.SESSION);

interface Table {
  readonly form: Form;
  readonly about: string;
  readonly type: string;
  readonly constant: string;
  readonly operations: readonly Operation[];
  readonly nameOf: (operation: Operation) => string;
  /** Streams, whose messages are declared too. */
  readonly streams?: readonly Operation[];
}

function file(
  schema: FileRegistry,
  { form, about, type, constant, operations, nameOf, streams = [] }: Table,
): string {
  const declared = declarations(form, ["JsonValue", "JsonObject", type]);
  const entries = operations
    .map((operation) => entry(schema, operation, nameOf(operation), declared.typeOf))
    .join("");
  for (const operation of streams) {
    declared.typeOf(documented(schema, operation).input, "request");
    declared.typeOf(documented(schema, operation).output, "answer");
  }
  const facts = operations
    .map(
      (operation) =>
        `  ${JSON.stringify(nameOf(operation))}: ${JSON.stringify(credentialKind(operation))},\n`,
    )
    .join("");
  const text = declared.text();
  const json = ["JsonObject", "JsonValue"].filter((name) => new RegExp(`\\b${name}\\b`).test(text));
  return [
    `${head}${json.length > 0 ? `import type { ${json.join(", ")} } from "../json.ts";\n` : ""}`,
    `/** ${about} */\nexport interface ${type} {\n${entries}}\n`,
    `/** Whether each operation changes something: changes are repeated with an idempotency key. */\nexport const ${constant}: { readonly [Name in keyof ${type}]: "read" | "change" } = {\n${facts}};\n`,
    text,
  ].join("\n");
}

/**
 * The operations of each table: those with a name in v2, those of Connect that take a key, and those of
 * workers.
 */
export function tables() {
  const { all } = operationTable();
  const named = all.filter(({ name }) => name !== null);
  const workers = all.filter(({ method }) => method.parent.typeName === "worker.v1.WorkerService");
  const others = all.filter(
    (operation) => operation.name === null && !workers.includes(operation) && isUnary(operation),
  );
  // v2 has the operations of dataexport.v1, whose errors have another form.
  const byKey = others.filter(
    ({ access, rpc }) => !rpc.startsWith("dataexport.v1.") && takesMoreThanSessions(access),
  );
  return { named, byKey, workers };
}

/** The kinds that a message answers. */
export const questionKinds: readonly string[] = Object.keys(kinds).filter(
  (name) => isKind(name) && isQuestion(name),
);

/** The kinds of questions, and the input of each kind of approval, as `confirm` takes it. */
function actionsFile(): string {
  const typeOf = (schema: unknown): string => {
    const {
      type,
      enum: words,
      properties,
      required = [],
      items,
    } = schema as {
      type: string;
      enum?: string[];
      properties?: Record<string, unknown>;
      required?: string[];
      items?: unknown;
    };
    if (words) return words.map((word) => JSON.stringify(word)).join(" | ");
    if (type === "array") return `readonly ${typeOf(items)}[]`;
    if (type === "object")
      return `{ ${Object.entries(properties ?? {})
        .map(([name, of]) => `readonly ${name}${required.includes(name) ? "" : "?"}: ${typeOf(of)}`)
        .join("; ")} }`;
    return type === "integer" ? "number" : type;
  };
  const rows = Object.entries(kinds).flatMap(([name, { inputs }]) => {
    const forms = Object.values(inputs).map(typeOf);
    return forms.length === 0 ? [] : [`  readonly ${name}: ${forms.join(" | ")};\n`];
  });
  return `// Made from src/core/actions/kind.ts by the set-up.\n\n/** The kinds of questions, which a message answers. */\nexport const questionKinds = ${JSON.stringify(questionKinds)} as const;\n\n/** The input of a decision, by the kind of the action (\`waiting_for_event_type\`). */\nexport interface ActionInputs {\n${rows.join("")}}\n`;
}

/** The generated files of the client, by their path below \`packages/client/src/generated\`. */
export function generatedFiles(schema: FileRegistry): ReadonlyMap<string, string> {
  const { named, byKey, workers } = tables();
  return new Map([
    [
      "v2.ts",
      file(schema, {
        form: "v2",
        about: "The operations of v2 that answer once, by name.",
        type: "Operations",
        constant: "operations",
        operations: named.filter(isUnary),
        nameOf: ({ name, rpc }) => name ?? rpc,
        streams: named.filter((operation) => !isUnary(operation)),
      }),
    ],
    [
      "rpc.ts",
      file(schema, {
        form: "connect",
        about:
          "The operations without a name in v2 that a key or a token can call, by RPC. Their JSON is that of Connect: lowerCamelCase, without zero values.",
        type: "Rpcs",
        constant: "rpcs",
        operations: byKey,
        nameOf: ({ rpc }) => rpc,
      }),
    ],
    [
      "worker.ts",
      file(schema, {
        form: "connect",
        about: "The calls of a worker, by name.",
        type: "WorkerCalls",
        constant: "workerCalls",
        operations: workers,
        nameOf: ({ method }) => method.name,
      }),
    ],
    ["actions.ts", actionsFile()],
  ]);
}
