import type { FastifyRequest } from "fastify";
import { isObject, type JsonObject } from "../../core/json.ts";
import { parseBody } from "../../http/v2/parse.ts";
import { pageDefault, pageMax } from "./discovery.ts";
import { invalidValue, ScimFailure } from "./failure.ts";
import { attributeOf } from "./user-input.ts";

/** A filter and a page of resources. */
export interface ScimPage<C> {
  readonly conditions: Partial<C>;
  /** From 1. */
  readonly startIndex: number;
  /** From 0. */
  readonly count: number;
}

/** The resource of a request: the id, and the version in `If-Match`; null when absent. */
export interface ScimTarget {
  readonly id: string;
  readonly ifMatch: string | null;
}

const lengthMax = 1000;

/** Attributes that are always shown. */
const alwaysShown: readonly string[] = ["schemas", "id"];

/**
 * The attributes that a request includes or excludes (RFC 7644 3.9). A sub-attribute shows its complete
 * attribute.
 */
export interface Projection {
  /** Whether the request has `attributes`. */
  readonly isNamed: boolean;
  readonly isShown: (attribute: string) => boolean;
  /** The resource with the attributes that are shown. */
  readonly show: (resource: object) => object;
}

/**
 * Reads the requested attributes.
 *
 * @throws ScimFailure `invalidValue` for both lists at once.
 */
export function readProjection(request: FastifyRequest): Projection {
  const [attributes, excludedAttributes] = [
    queryText(request, "attributes"),
    queryText(request, "excludedAttributes"),
  ];
  if (attributes !== undefined && excludedAttributes !== undefined)
    throw invalidValue("attributes", "cannot be given with excludedAttributes");
  const named = namesIn(attributes ?? excludedAttributes ?? "");
  const isShown = (name: string): boolean =>
    named.size === 0 ||
    alwaysShown.includes(name) ||
    named.has(name.toLowerCase()) === (attributes !== undefined);
  const show = (resource: object): object =>
    Object.fromEntries(Object.entries(resource).filter(([name]) => isShown(name)));
  return { isShown, show, isNamed: attributes !== undefined };
}

function namesIn(list: string): ReadonlySet<string> {
  if (list.length > lengthMax) throw invalidValue("attributes", `must be at most ${lengthMax} characters`);
  const names = list.split(",").flatMap((name) => attributeOf(name) ?? []);
  return new Set(names.map((name) => name.split(".")[0] ?? name));
}

/** The resource of the address, and the version in `If-Match`. */
export const targetOf = ({ params, headers }: FastifyRequest): ScimTarget => ({
  id: (params as { readonly id: string }).id, // By the route's path.
  ifMatch: headers["if-match"] ?? null,
});

/** @throws ScimFailure `invalidFilter` or `invalidValue`. */
export function pageOf<C extends object>(
  request: FastifyRequest,
  readFilter: (text: string) => Partial<C>,
): ScimPage<C> {
  const filter = queryText(request, "filter");
  return {
    conditions: filter === undefined ? {} : readFilter(filter),
    startIndex: Math.max(1, readInteger("startIndex", queryText(request, "startIndex")) ?? 1),
    count: Math.min(pageMax, Math.max(0, readInteger("count", queryText(request, "count")) ?? pageDefault)),
  };
}

/** A query parameter. @throws ScimFailure `invalidValue` for a repeated parameter. */
function queryText({ query }: FastifyRequest, name: string): string | undefined {
  // Fastify's query has texts, and lists for repeated parameters.
  const value = (query as Readonly<Record<string, string | readonly string[] | undefined>>)[name];
  if (typeof value === "object") throw invalidValue(name, "must be given once");
  return value;
}

/** Reads an integer; the caller raises a number below the minimum (RFC 7644 3.4.2.4). */
function readInteger(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^-?\d{1,9}$/.test(text)) throw invalidValue(name, "must be a whole number of at most nine digits");
  return Number(text);
}

/** Reads a JSON object. @throws ScimFailure `invalidSyntax` for any other body. */
export function objectIn(body: Uint8Array): JsonObject {
  const parsed = parseBody(body);
  if (!isObject(parsed)) throw new ScimFailure("invalidSyntax", "the body must be a JSON object");
  return parsed;
}

/**
 * Whether `If-Match` allows a change of this version; entity tags are compared weakly, as in SCIM (RFC 7644
 * 3.14).
 */
export const isCurrent = (ifMatch: string | null, version: string): boolean =>
  ifMatch === null ||
  ifMatch
    .split(",")
    .some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === version.replace(/^W\//, ""));

/** Whether the client has this version already (`If-None-Match`). */
export const isKnown = ({ headers }: FastifyRequest, version: string): boolean =>
  headers["if-none-match"]?.split(",").some((tag) => tag.trim() === version) ?? false;
