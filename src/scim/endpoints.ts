import type { DescMethod } from "@bufbuild/protobuf";
import type { FastifyRequest } from "fastify";
import type { Admission } from "../call/admission.ts";
import { isObject, type JsonObject } from "../core/json.ts";
import { TeamUserManagementApiV2Service } from "../gen/proto/team/v2/team_user_service_pb.ts";
import { parseBody } from "../http/v2/parse.ts";
import { listOf, pageDefault, pageMax } from "./discovery.ts";
import { invalidValue, ScimFailure } from "./failure.ts";
import { attributeOf } from "./user-input.ts";
import { readFilter, type ScimPage, type ScimTarget, type ScimUser, type ScimUsers } from "./users.ts";

const lengthMax = 1000;

/** Attributes that are always shown. */
const alwaysShown: readonly string[] = ["schemas", "id"];

/** The attributes that a request includes or excludes (RFC 7644 3.9), as lists with commas. */
interface Projection {
  readonly attributes: string | undefined;
  readonly excludedAttributes: string | undefined;
}

/**
 * Creates a function that shows the requested attributes of a user. A sub-attribute shows its complete attribute.
 *
 * @throws ScimFailure `invalidValue` for both lists at once.
 */
function projector({ attributes, excludedAttributes }: Projection): (user: ScimUser) => object {
  if (attributes !== undefined && excludedAttributes !== undefined)
    throw invalidValue("attributes", "cannot be given with excludedAttributes");
  const named = namesIn(attributes ?? excludedAttributes ?? "");
  if (named.size === 0) return (user) => user;
  const isShown = (name: string): boolean => alwaysShown.includes(name) || named.has(name.toLowerCase()) === (attributes !== undefined);
  return (user) => Object.fromEntries(Object.entries(user).filter(([name]) => isShown(name)));
}

function namesIn(list: string): ReadonlySet<string> {
  if (list.length > lengthMax) throw invalidValue("attributes", `must be at most ${lengthMax} characters`);
  const names = list.split(",").flatMap((name) => attributeOf(name) ?? []);
  return new Set(names.map((name) => name.split(".")[0] ?? name));
}

type Verb = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** An answer; without a body where there is no content. */
export interface Answer {
  readonly status: number;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The handler of one verb at an address. */
export interface Endpoint {
  /** The equivalent operation, with its credential, limit and audit row. */
  readonly method: DescMethod;
  readonly answer: (admission: Admission, request: FastifyRequest, body: Uint8Array) => Promise<Answer>;
}

/** The verbs of an address. */
export type Endpoints = Readonly<Partial<Record<Verb, Endpoint>>>;

const { listUsers, getUser, createUser, updateUser, removeMember } = TeamUserManagementApiV2Service.method;

/** `/Users` and `/Users/{id}` (RFC 7644 3). */
export const userEndpoints = (users: ScimUsers): Readonly<Record<string, Endpoints>> => ({
  "/Users": {
    GET: {
      method: listUsers,
      async answer(admission, request) {
        const page = pageOf(request);
        const show = projector(projectionOf(request));
        const { users: members, total } = await users.list(admission, page);
        return { status: 200, body: listOf(members.map(show), total, page.startIndex) };
      },
    },
    POST: {
      method: createUser,
      async answer(admission, request, body) {
        const show = projector(projectionOf(request));
        const made = await users.create(admission, objectIn(body));
        return { status: 201, body: show(made), headers: { ETag: made.meta.version, Location: made.meta.location } };
      },
    },
  },
  "/Users/:id": {
    GET: {
      method: getUser,
      async answer(admission, request) {
        const show = projector(projectionOf(request));
        const user = await users.get(admission, targetOf(request).id);
        const known = request.headers["if-none-match"]?.split(",").some((tag) => tag.trim() === user.meta.version) ?? false;
        return known ? { status: 304, headers: { ETag: user.meta.version } } : one(user, show);
      },
    },
    PUT: {
      method: updateUser,
      async answer(admission, request, body) {
        const show = projector(projectionOf(request));
        return one(await users.replace(admission, targetOf(request), objectIn(body)), show);
      },
    },
    PATCH: {
      method: updateUser,
      async answer(admission, request, body) {
        const show = projector(projectionOf(request));
        return one(await users.patch(admission, targetOf(request), objectIn(body)), show);
      },
    },
    DELETE: {
      method: removeMember,
      async answer(admission, request) {
        await users.remove(admission, targetOf(request));
        return { status: 204 };
      },
    },
  },
});

const one = (user: ScimUser, show: (user: ScimUser) => object): Answer => ({
  status: 200,
  body: show(user),
  headers: { ETag: user.meta.version },
});

const targetOf = ({ params, headers }: FastifyRequest): ScimTarget => ({
  id: (params as { readonly id: string }).id, // By the route's path.
  ifMatch: headers["if-match"] ?? null,
});

/** @throws ScimFailure `invalidFilter` or `invalidValue`. */
function pageOf(request: FastifyRequest): ScimPage {
  const filter = queryText(request, "filter");
  return {
    conditions: filter === undefined ? {} : readFilter(filter),
    startIndex: Math.max(1, readInteger("startIndex", queryText(request, "startIndex")) ?? 1),
    count: Math.min(pageMax, Math.max(0, readInteger("count", queryText(request, "count")) ?? pageDefault)),
  };
}

const projectionOf = (request: FastifyRequest): Projection => ({
  attributes: queryText(request, "attributes"),
  excludedAttributes: queryText(request, "excludedAttributes"),
});

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
function objectIn(body: Uint8Array): JsonObject {
  const parsed = parseBody(body);
  if (!isObject(parsed)) throw new ScimFailure("invalidSyntax", "the body must be a JSON object");
  return parsed;
}
