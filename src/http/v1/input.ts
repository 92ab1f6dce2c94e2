import type { FastifyRequest } from "fastify";
import type { z } from "zod";
import { type Failure, invalid } from "../../core/failure.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { parseBody } from "../v2/parse.ts";

/** What came with a request. */
export interface Sent {
  /**
   * The members of path, query and body, with their names in snake_case whatever
   * spelling they came in (contract/v1.md 1.2); `null` is as good as absent. The path
   * beats the body, the body the query.
   */
  readonly members: JsonObject;
  /** Query and body with the names that the client used. */
  readonly given: readonly [query: JsonObject, body: JsonObject];
}

/** @throws Failure `invalid` for a body that is no JSON object. */
export function sentBy({ params, query, body }: FastifyRequest): Sent {
  const parsed = parseBody(body instanceof Uint8Array ? body : new Uint8Array());
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) throw invalid("", "the body must be a JSON object");
  // Fastify gives texts, and lists of texts for what is repeated.
  const asked = Object.entries(query as JsonObject).map(([name, value]) => [name.replace(/\[\d*\]$/, ""), value] as const);
  return {
    members: { ...queryMembers(asked), ...snakeCased(parsed), ...(params as JsonObject) },
    given: [Object.fromEntries(asked), parsed],
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

/** @throws Failure `invalid` with the path of the first member at fault and the rule it broke. */
export function readInput<I>(schema: z.ZodType<I>, members: JsonObject): I {
  const { success, data, error } = schema.safeParse(members, { reportInput: true });
  if (success) return data;
  throw issueFailure(error);
}

function issueFailure(error: z.ZodError): Failure {
  const [issue] = error.issues;
  const path = issue?.path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`)).join("") ?? "";
  return invalid(path.slice(path.startsWith(".") ? 1 : 0), issue ? ruleOf(issue) : "is not valid");
}

/** The rule in the words that v2 has for it. */
function ruleOf(issue: z.core.$ZodIssue): string {
  if ("input" in issue && issue.input === undefined) return "is required";
  if (issue.code === "invalid_type") return `must be ${types[issue.expected] ?? "of another type"}`;
  if (issue.code === "invalid_value") return `must be one of ${issue.values.join(", ")}`;
  if (issue.code === "too_small") return `must be at least ${issue.minimum}`;
  if (issue.code === "too_big") return `must be at most ${issue.maximum}${issue.origin === "string" ? " characters" : ""}`;
  return issue.message;
}

const types: Readonly<Record<string, string>> = {
  string: "a string",
  boolean: "true or false",
  array: "an array",
  object: "an object",
};

/** A member in both spellings keeps the first that is not null. */
function snakeCased(object: { readonly [member: string]: Json }): JsonObject {
  const members = Object.entries(object).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(members.toReversed().map(([name, value]) => [snakeCase(name), inSnakeCase(value)]));
}

function inSnakeCase(value: Json): Json {
  if (Array.isArray(value)) return value.map(inSnakeCase);
  return typeof value === "object" && value !== null ? snakeCased(value) : value;
}

/** A name in any spelling, in the one that v1 documents. */
export const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
