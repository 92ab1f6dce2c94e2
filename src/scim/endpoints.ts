import type { DescMethod } from "@bufbuild/protobuf";
import type { FastifyRequest } from "fastify";
import type { Admission } from "../call/admit.ts";
import type { JsonObject } from "../core/json.ts";
import { TeamUserManagementApiV2Service } from "../gen/proto/team/v2/team_user_service_pb.ts";
import { parseBody } from "../http/v2/parse.ts";
import { listOf, pageDefault, pageMax } from "./discovery.ts";
import { invalidValue, ScimFailure } from "./failure.ts";
import { readFilter } from "./filter.ts";
import { type Projection, projecting } from "./projection.ts";
import { isObject } from "./sheet.ts";
import type { ScimUser } from "./user.ts";
import type { ScimPage, ScimTarget, ScimUsers } from "./users.ts";

export type Verb = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** What goes back; no body where there is nothing to say. */
export interface Answer {
  readonly status: number;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A verb at an address. */
export interface Endpoint {
  /** The operation that it stands for: its credential, its limit, its audit row. */
  readonly method: DescMethod;
  readonly answer: (admission: Admission, request: FastifyRequest) => Promise<Answer>;
}

const { listUsers, getUser, createUser, updateUser, removeMember } = TeamUserManagementApiV2Service.method;

/** `/Users` and one of them (RFC 7644 3). */
export const userEndpoints = (users: ScimUsers): Readonly<Record<string, Readonly<Partial<Record<Verb, Endpoint>>>>> => ({
  "/Users": {
    GET: {
      method: listUsers,
      async answer(admission, request) {
        const page = pageOf(request);
        const show = projecting(projectionOf(request));
        const { users: found, total } = await users.list(admission, page);
        return { status: 200, body: listOf(found.map(show), total, page.startIndex) };
      },
    },
    POST: {
      method: createUser,
      async answer(admission, request) {
        const show = projecting(projectionOf(request));
        const made = await users.create(admission, bodyOf(request));
        return { status: 201, body: show(made), headers: { ETag: made.meta.version, Location: made.meta.location } };
      },
    },
  },
  "/Users/:id": {
    GET: {
      method: getUser,
      async answer(admission, request) {
        const show = projecting(projectionOf(request));
        const user = await users.get(admission, targetOf(request).id);
        const known = request.headers["if-none-match"]?.split(",").some((tag) => tag.trim() === user.meta.version) ?? false;
        return known ? { status: 304, headers: { ETag: user.meta.version } } : one(user, show);
      },
    },
    PUT: {
      method: updateUser,
      async answer(admission, request) {
        const show = projecting(projectionOf(request));
        return one(await users.replace(admission, targetOf(request), bodyOf(request)), show);
      },
    },
    PATCH: {
      method: updateUser,
      async answer(admission, request) {
        const show = projecting(projectionOf(request));
        return one(await users.patch(admission, targetOf(request), bodyOf(request)), show);
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
  id: (params as { readonly id: string }).id, // The path has it.
  ifMatch: headers["if-match"] ?? null,
});

/** @throws ScimFailure `invalidFilter` or `invalidValue`. */
function pageOf(request: FastifyRequest): ScimPage {
  const filter = asked(request, "filter");
  return {
    meant: filter === undefined ? {} : readFilter(filter),
    startIndex: Math.max(1, whole("startIndex", asked(request, "startIndex")) ?? 1),
    count: Math.min(pageMax, Math.max(0, whole("count", asked(request, "count")) ?? pageDefault)),
  };
}

const projectionOf = (request: FastifyRequest): Projection => ({
  attributes: asked(request, "attributes"),
  excludedAttributes: asked(request, "excludedAttributes"),
});

/** @throws ScimFailure `invalidValue` for what stands twice. */
function asked({ query }: FastifyRequest, name: string): string | undefined {
  // Fastify gives texts, and lists of what stands twice.
  const value = (query as Readonly<Record<string, string | readonly string[] | undefined>>)[name];
  if (typeof value === "object") throw invalidValue(name, "stands more than once");
  return value;
}

/** Below its least a number counts as that (RFC 7644 3.4.2.4). */
function whole(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^-?\d{1,9}$/.test(text)) throw invalidValue(name, "must be a whole number of at most nine digits");
  return Number(text);
}

/** @throws ScimFailure `invalidSyntax` for what is no JSON object. */
function bodyOf({ body }: FastifyRequest): JsonObject {
  const parsed = parseBody(body instanceof Uint8Array ? body : new Uint8Array());
  if (!isObject(parsed)) throw new ScimFailure("invalidSyntax", "the body must be a JSON object");
  return parsed;
}
