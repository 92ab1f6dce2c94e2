import type { FastifyRequest } from "fastify";
import { z } from "zod";
import { type Failure, invalidArgument } from "../../core/failure.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { parseBody } from "../v2/parse.ts";
import type { Member, Shape } from "../warnings/shape.ts";

export interface RequestInput {
  /**
   * The members of path, query and body, with their names converted to snake_case
   * (spec/v1.md 1.2). `null` counts as absent. The path overrides the body, the body
   * overrides the query.
   */
  readonly members: JsonObject;
  /** Query and body with the names in the client's spelling. */
  readonly sources: readonly [query: JsonObject, body: JsonObject];
}

/** Reads the input of a request. @throws Failure `invalid_argument` for a body that is not a JSON object. */
export function readRequestInput({ params, query }: FastifyRequest, body: Uint8Array): RequestInput {
  const parsed = parseBody(body);
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed))
    throw invalidArgument("", "the body must be a JSON object");
  // Fastify's query has texts, and lists of texts for repeated members.
  const queried = Object.entries(query as JsonObject).map(
    ([name, value]) => [name.replace(/\[\d*\]$/, ""), value] as const,
  );
  return {
    members: { ...queryMembers(queried), ...snakeCased(parsed), ...(params as JsonObject) },
    sources: [Object.fromEntries(queried), parsed],
  };
}

/** `status=a&status=b`, `status[]=a&status[]=b` and `status[0]=a&status[1]=b` are one list. */
function queryMembers(query: readonly (readonly [name: string, value: Json])[]): JsonObject {
  const members: JsonObject = {};
  for (const [name, value] of query) {
    const key = snakeCase(name);
    const held = members[key];
    members[key] = held === undefined ? value : [held, value].flat();
  }
  return members;
}

/**
 * Parses the input. @throws Failure `invalid_argument` with the path of the first invalid member and the rule
 * that it breaks.
 */
export function readInput<I>(schema: z.ZodType<I>, members: JsonObject): I {
  const { success, data, error } = schema.safeParse(members, { reportInput: true });
  if (success) return data;
  throw issueFailure(error);
}

function issueFailure(error: z.ZodError): Failure {
  const [issue] = error.issues;
  const path =
    issue?.path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("") ?? "";
  return invalidArgument(path.slice(path.startsWith(".") ? 1 : 0), issue ? ruleOf(issue) : "is not valid");
}

/** The text of the rule, as in v2. */
function ruleOf(issue: z.core.$ZodIssue): string {
  if ("input" in issue && issue.input === undefined) return "is required";
  if (issue.code === "invalid_type") return `must be ${types[issue.expected] ?? "of another type"}`;
  if (issue.code === "invalid_value") return `must be one of ${issue.values.join(", ")}`;
  if (issue.code === "too_small") return `must be at least ${issue.minimum}`;
  if (issue.code === "too_big")
    return `must be at most ${issue.maximum}${issue.origin === "string" ? " characters" : ""}`;
  return issue.message;
}

const types: Readonly<Record<string, string>> = {
  string: "a string",
  boolean: "true or false",
  array: "an array",
  object: "an object",
};

/** Members whose own members are named by the caller: their names stay as they are. */
const verbatim: ReadonlySet<string> = new Set(["schema", "metadata", "tools", "tool_choice"]);

/** Converts names to snake_case. For a member in both spellings, the first value that is not null applies. */
function snakeCased(object: { [member: string]: Json }): JsonObject {
  const members = Object.entries(object).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(
    members
      .toReversed()
      .map(([name, value]) => [snakeCase(name), verbatim.has(name) ? value : inSnakeCase(value)]),
  );
}

function inSnakeCase(value: Json): Json {
  if (Array.isArray(value)) return value.map(inSnakeCase);
  return typeof value === "object" && value !== null ? snakeCased(value) : value;
}

/** Converts a name to snake_case, the spelling that v1 documents. */
const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** A member that is accepted, but has no effect: requests with it get a warning. */
export const unused = z.unknown().optional();

const effectless = new WeakSet<z.core.$ZodType>();

/** A member that is read, but has no effect: requests with it get a warning. */
export function withoutEffect<S extends z.ZodType>(schema: S): S {
  effectless.add(schema);
  return schema;
}

const hasValue = (value: Json | undefined): boolean => value !== undefined && value !== null && value !== "";

/** The shape of a request that begins something, or continues what one of these members names. */
export function startOrContinueShape(
  beginning: z.core.$ZodType,
  goingOn: z.core.$ZodType,
  names: readonly string[],
): Shape {
  const [first, later] = [inputShape(beginning), inputShape(goingOn)];
  const continues = (json: JsonObject) =>
    Object.entries(json).some(([name, value]) => names.includes(snakeCase(name)) && hasValue(value));
  return { kind: "choice", of: (json) => (continues(json) ? later : first) };
}

/** The shape of a schema's input, with member names in any spelling that v1 accepts. */
export function inputShape(schema: z.core.$ZodType): Shape {
  const member = memberOf(schema);
  if (typeof member === "string") throw new Error("a request is an object");
  return member;
}

function memberOf(schema: z.core.$ZodType): Member {
  if (schema === unused || effectless.has(schema)) return "unused";
  // Every schema is of one of these types; the first has a name for each.
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "object":
      return objectShape(def.shape);
    case "array":
      return listOf(memberOf(def.element));
    case "optional":
    case "default":
      return memberOf(def.innerType);
    case "pipe":
      return pipeMember(memberOf(def.in), memberOf(def.out));
    case "union":
      return unionMember(def);
    default:
      return "value";
  }
}

/** One side of a pipe has the members; the other transforms. */
const pipeMember = (from: Member, to: Member): Member => (to === "value" ? from : to);

const listOf = (item: Member): Member => (typeof item === "string" ? "value" : { kind: "list", item });

function objectShape(schemas: Readonly<Record<string, z.core.$ZodType>>): Shape {
  const members = new Map(Object.entries(schemas).map(([name, schema]) => [name, memberOf(schema)]));
  return {
    kind: "object",
    members: { get: (name) => members.get(snakeCase(name)), keys: () => members.keys() },
  };
}

/** In a union of objects, a member selects the object; other unions are of plain values. */
function unionMember(def: z.core.$ZodUnionDef | z.core.$ZodDiscriminatedUnionDef): Member {
  if (!("discriminator" in def)) return "value";
  const { discriminator, options } = def;
  const byValue = new Map<unknown, Shape>();
  for (const option of options) {
    const shape = inputShape(option);
    for (const value of option._zod.propValues?.[discriminator] ?? []) byValue.set(value, shape);
  }
  return { kind: "choice", of: (json) => byValue.get(json[discriminator]) };
}
