import type { DescMethod } from "@bufbuild/protobuf";
import type { FastifyRequest } from "fastify";
import { TeamUserManagementApiV2Service } from "../../gen/proto/team/v2/team_user_service_pb.ts";
import type { Admission } from "../../pipeline/admission.ts";
import { listOf } from "./discovery.ts";
import { isKnown, objectIn, pageOf, readProjection, targetOf } from "./request.ts";
import { readFilter, type ScimUser, type ScimUsers } from "./users.ts";

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
  /** The largest body in bytes; absent: that of the operation. */
  readonly maxBytes?: number;
  readonly answer: (admission: Admission, request: FastifyRequest, body: Uint8Array) => Promise<Answer>;
}

export type Endpoints = Readonly<Partial<Record<Verb, Endpoint>>>;

const { listUsers, getUser, createUser, updateUser, removeMember } = TeamUserManagementApiV2Service.method;

/** `/Users` and `/Users/{id}` (RFC 7644 3). */
export const userEndpoints = (users: ScimUsers): Readonly<Record<string, Endpoints>> => ({
  "/Users": {
    GET: {
      method: listUsers,
      async answer(admission, request) {
        const page = pageOf(request, readFilter);
        const { show } = readProjection(request);
        const { users: members, total } = await users.list(admission, page);
        return { status: 200, body: listOf(members.map(show), total, page.startIndex) };
      },
    },
    POST: {
      method: createUser,
      async answer(admission, request, body) {
        const { show } = readProjection(request);
        const made = await users.create(admission, objectIn(body));
        return {
          status: 201,
          body: show(made),
          headers: { ETag: made.meta.version, Location: made.meta.location },
        };
      },
    },
  },
  "/Users/:id": {
    GET: {
      method: getUser,
      async answer(admission, request) {
        const { show } = readProjection(request);
        const user = await users.get(admission, targetOf(request).id);
        return isKnown(request, user.meta.version)
          ? { status: 304, headers: { ETag: user.meta.version } }
          : one(user, show);
      },
    },
    PUT: {
      method: updateUser,
      async answer(admission, request, body) {
        const { show } = readProjection(request);
        return one(await users.replace(admission, targetOf(request), objectIn(body)), show);
      },
    },
    PATCH: {
      method: updateUser,
      async answer(admission, request, body) {
        const { show } = readProjection(request);
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
