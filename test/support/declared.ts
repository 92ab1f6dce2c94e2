import {
  type Checker,
  checkerOf,
  closed,
  isPart,
  openapiFiles,
  type Part,
  partAt,
  readDocument,
  resolved,
} from "./documents.ts";

/** A call over HTTP, with what was answered. */
export interface Exchange {
  readonly method: string;
  readonly url: URL;
  /** The JSON of the request's body; undefined for any other body. */
  readonly sent: unknown;
  readonly status: number;
  readonly headers: Headers;
  /** The JSON of the answer; undefined for any other body. */
  readonly received: unknown;
}

/** Thrown when the server answers, or accepts, what the documents do not declare. */
export class UndeclaredAnswer extends Error {
  override readonly name = "UndeclaredAnswer";
}

/** An operation of a document. */
interface Operation {
  readonly document: Part;
  readonly checker: Checker;
  readonly path: RegExp;
  readonly method: string;
  readonly operation: Part;
}

/** Every operation of every document, read at the first call. */
let known: readonly Operation[] | undefined;

const allOperations = (): readonly Operation[] =>
  openapiFiles.flatMap((file) => operationsOf(closed(readDocument(file))));

function operationsOf(document: Part): readonly Operation[] {
  const checker = checkerOf(document);
  return Object.entries(partAt(document, "paths")).flatMap(([path, item]) =>
    Object.entries(isPart(item) ? item : {}).flatMap(([method, operation]) =>
      isPart(operation)
        ? [{ document, checker, path: pathPattern(path), method: method.toUpperCase(), operation }]
        : [],
    ),
  );
}

/** `/v1/tasks/{task_id}` with any text without a slash for a parameter. */
const pathPattern = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll(/[.*+?^$()|[\]\\]/g, "\\$&").replaceAll(/\{\w+\}/g, "[^/]+")}$`);

/** The operation that a call was for; undefined for an address or method that no document has. */
export function operationFor(method: string, { pathname }: URL): Operation | undefined {
  known ??= allOperations();
  const at = (path: string): Operation | undefined =>
    known?.find((each) => each.method === method && each.path.test(path));
  return at(pathname) ?? (alsoBelowV1.test(pathname) ? at(pathname.replace("/v1", "")) : undefined);
}

/** Addresses that one document describes without the prefix (spec/v1.md 7.1). */
const alsoBelowV1 = /^\/v1\/(responses|models|files\/[^/]+\/content)/;

/**
 * Addresses of programs; pages, SCIM, Connect and the lines of the audit log (spec/api.md 8.70) are described
 * elsewhere.
 */
const described =
  /^\/(v1|v2(?!\/audit\.download)|responses|models|files|oauth|uploads|downloads|exports)(\/|$)/;

/** Whether the documents must have an operation that answered this call. */
export const mustBeDeclared = (method: string, { pathname }: URL): boolean =>
  method !== "OPTIONS" && method !== "HEAD" && described.test(pathname) && !pathname.startsWith("/v2/test.");

/** How an exchange differs from the operation's declaration; undefined when it does not. */
export const differenceOf = (operation: Operation, exchange: Exchange): string | undefined =>
  answerDifference(operation, exchange) ?? requestDifference(operation, exchange);

function answerDifference(
  { document, checker, operation }: Operation,
  { status, headers, received }: Exchange,
): string | undefined {
  const response = partAt(operation, "responses")[String(status)];
  if (!isPart(response)) return `the status ${status} is not declared: ${JSON.stringify(received)}`;
  const [type = ""] = (headers.get("content-type") ?? "").split(";");
  if (type !== "application/json") return undefined;
  const { content } = resolved(document, response);
  const media = isPart(content) ? content[type] : undefined;
  if (!isPart(media)) return `the answer ${status} has no declared body`;
  const fault = checker.check(partAt(media, "schema"), received);
  return fault && `the answer ${status} is not as declared: ${fault}`;
}

/** Only requests that the server accepted without a warning conform to the document. */
function requestDifference(
  { document, checker, operation }: Operation,
  { url, sent, status, headers }: Exchange,
): string | undefined {
  if (status >= 300 || headers.has("x-request-warnings")) return undefined;
  const names = [...url.searchParams.keys()].map((name) => snakeCase(name.replace(/\[.*$/, "")));
  const parameters = Array.isArray(operation["parameters"]) ? operation["parameters"].filter(isPart) : [];
  const declared = new Set(parameters.flatMap((parameter) => namesOf(resolved(document, parameter))));
  const unknown = names.filter((name) => !declared.has(name));
  if (unknown.length > 0) return `the query has the undeclared ${unknown.join(", ")}`;
  const body = operation["requestBody"];
  if (!isPart(sent) || !isPart(body)) return undefined;
  const schema = partAt(body, "content", "application/json", "schema");
  // Clients repeat the parameters of the path in the body; those of the path apply.
  const inPath = new Set(
    parameters.filter((parameter) => parameter["in"] === "path").map(({ name }) => name),
  );
  const own = Object.entries(sent).filter(([name]) => !inPath.has(snakeCase(name)));
  const fault = checker.check(schema, inDeclaredNames(document, schema, Object.fromEntries(own)));
  return fault && `the accepted request is not as declared: ${fault}`;
}

/** The names of a parameter. */
const namesOf = ({ name, schema }: Part): readonly unknown[] => [
  name,
  ...(isPart(schema) ? aliasesOf(schema) : []),
];

const aliasesOf = ({ "x-aliases": aliases }: Part): readonly unknown[] =>
  Array.isArray(aliases) ? aliases : [];

const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** A value with the names that its schema declares, instead of their other accepted spellings. */
function inDeclaredNames(document: Part, schema: Part, value: unknown): unknown {
  const { properties, items, anyOf, oneOf } = resolved(document, schema);
  const alternatives = [anyOf, oneOf].flat().filter(isPart);
  if (alternatives.length > 0)
    return alternatives.reduce((renamed, each) => inDeclaredNames(document, each, renamed), value);
  if (Array.isArray(value) && isPart(items))
    return value.map((each) => inDeclaredNames(document, items, each));
  if (!isPart(value) || !isPart(properties)) return value;
  // The zero of an enum counts as absent, like null, and has no documented name.
  const present = Object.entries(value).filter(
    ([, member]) => typeof member !== "string" || !member.endsWith("_UNSPECIFIED"),
  );
  const named = present.flatMap(([name, member]) => {
    const declared = declaredName(properties, name);
    const of = properties[declared];
    // An unknown member that is null has no effect, like any that is absent.
    if (of === undefined && member === null) return [];
    return [[declared, isPart(of) ? inDeclaredNames(document, of, member) : member] as const];
  });
  return Object.fromEntries(named);
}

function declaredName(properties: Part, name: string): string {
  if (properties[name] !== undefined) return name;
  const alias = Object.entries(properties).find(([, of]) => isPart(of) && aliasesOf(of).includes(name));
  return alias?.[0] ?? snakeCase(name);
}
