import { TeamUserManagementApiV2Service } from "../../gen/proto/team/v2/team_user_service_pb.ts";
import { listOf } from "./discovery.ts";
import type { Answer, Endpoints } from "./endpoints.ts";
import { readGroupFilter, type ScimGroup, type ScimGroups } from "./groups.ts";
import { isKnown, objectIn, type Projection, pageOf, readProjection, targetOf } from "./request.ts";

const { listUsers, getUser, createUser, updateUser, removeMember } = TeamUserManagementApiV2Service.method;

/** 2,000 members with names and references. */
const maxBytes = 1024 * 1024;

/** `/Groups` and `/Groups/{id}` (RFC 7644 3). Credential and limit are those of the operation on a user. */
export const groupEndpoints = (groups: ScimGroups): Readonly<Record<string, Endpoints>> => ({
  "/Groups": {
    GET: {
      method: listUsers,
      async answer(admission, request) {
        const page = pageOf(request, readGroupFilter);
        const { show, isShown } = readProjection(request);
        const { groups: found, total } = await groups.list(admission, page, isShown("members"));
        return { status: 200, body: listOf(found.map(show), total, page.startIndex) };
      },
    },
    POST: {
      method: createUser,
      maxBytes,
      async answer(admission, request, body) {
        const projection = readProjection(request);
        const made = await groups.create(admission, objectIn(body));
        const { headers, ...answer } = one(made, projection);
        return { ...answer, status: 201, headers: { ...headers, Location: made.meta.location } };
      },
    },
  },
  "/Groups/:id": {
    GET: {
      method: getUser,
      async answer(admission, request) {
        const projection = readProjection(request);
        const group = await groups.get(admission, targetOf(request).id, projection.isShown("members"));
        return isKnown(request, group.meta.version)
          ? { status: 304, headers: { ETag: group.meta.version } }
          : one(group, projection);
      },
    },
    PUT: {
      method: updateUser,
      maxBytes,
      async answer(admission, request, body) {
        const projection = readProjection(request);
        return one(await groups.replace(admission, targetOf(request), objectIn(body)), projection);
      },
    },
    PATCH: {
      method: updateUser,
      maxBytes,
      async answer(admission, request, body) {
        const projection = readProjection(request);
        const group = await groups.patch(admission, targetOf(request), objectIn(body));
        // Large groups are not sent back unless the client asks (RFC 7644 3.5.2).
        return projection.isNamed
          ? one(group, projection)
          : { status: 204, headers: { ETag: group.meta.version } };
      },
    },
    DELETE: {
      method: removeMember,
      async answer(admission, request) {
        await groups.remove(admission, targetOf(request));
        return { status: 204 };
      },
    },
  },
});

const one = (group: ScimGroup, { show }: Projection): Answer => ({
  status: 200,
  body: show(group),
  headers: { ETag: group.meta.version },
});
