import { type DescMethodUnary, fromJson, type JsonObject, toJson } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect } from "vitest";
import { TeamUserManagementApiV2Service as service } from "../../../src/gen/proto/team/v2/team_user_service_pb.ts";
import { transportOf } from "../../support/wires.ts";
import type { Shown } from "./expected-answers.ts";
import type { Refusal } from "./rules.ts";

/** The wires of a command: v2, Connect's JSON as curl writes it, and gRPC with a generated client. */
export const wires = ["v2", "connect", "grpc"] as const;
export type Wire = (typeof wires)[number];

/** The operations with both of their names (spec/enterprise.md 0). */
export const methods = {
  list: "ListUsers",
  detail: "GetUser",
  create: "CreateUser",
  update: "UpdateUser",
  delegate: "DelegateProfile",
  reclaim: "ReclaimProfile",
  rename: "RenameProfile",
  remove: "RemoveMember",
} as const;
export type Action = keyof typeof methods;

/** An answer on any wire. */
export interface Answer {
  readonly requestId: string;
  readonly refusal: Refusal | undefined;
  readonly body: Shown;
}

interface Call {
  readonly url: string;
  readonly wire: Wire;
  readonly headers: Readonly<Record<string, string>>;
}

/** Makes a call; a refusal whose status does not match its code fails the test. */
export function call(at: Call, action: Action, body: JsonObject): Promise<Answer> {
  if (at.wire === "v2") return byV2(at, action, body);
  return at.wire === "connect" ? byConnect(at, action, body) : byGrpc(at, action, body);
}

/** spec/decisions.md 9. */
const statuses = {
  v2: {
    invalid_argument: 400,
    permission_denied: 403,
    unauthenticated: 401,
    not_found: 404,
    already_exists: 409,
    failed_precondition: 412,
  },
  connect: {
    ...{
      invalid_argument: 400,
      permission_denied: 403,
      unauthenticated: 401,
      not_found: 404,
      already_exists: 409,
    },
    failed_precondition: 400,
  },
} as const;

async function post({ url, headers }: Call, path: string, body: JsonObject) {
  const sent = { ...headers, "content-type": "application/json" };
  const reply = await fetch(`${url}${path}`, { method: "POST", headers: sent, body: JSON.stringify(body) });
  return {
    status: reply.status,
    requestId: reply.headers.get("x-request-id") ?? "",
    // biome-ignore lint/suspicious/noExplicitAny: an answer is read as the client sees it, member by member
    json: (await reply.json()) as any,
  };
}

async function byV2(at: Call, action: Action, body: JsonObject): Promise<Answer> {
  const { status, requestId, json } = await post(at, `/v2/team.user.${action}`, body);
  expect(json.request_id).toBe(requestId);
  expect(json.ok, JSON.stringify(json)).toBe(status === 200);
  const { ok, request_id, error, ...rest } = json;
  if (status === 200) return { requestId, refusal: undefined, body: rest };
  const refusal: Refusal = status === 401 ? "unauthenticated" : error.code;
  expect([json, status]).toEqual([json, statuses.v2[refusal]]);
  return { requestId, refusal, body: {} };
}

async function byConnect(at: Call, action: Action, body: JsonObject): Promise<Answer> {
  const { status, requestId, json } = await post(at, `/${service.typeName}/${methods[action]}`, body);
  const { ok, request_id, ...rest } = json;
  if (status === 200) {
    expect([ok, request_id]).toEqual([true, requestId]);
    return { requestId, refusal: undefined, body: rest };
  }
  const refusal: Refusal = json.code;
  expect([json, status]).toEqual([json, statuses.connect[refusal]]);
  return { requestId, refusal, body: {} };
}

const clients = new Map<string, ReturnType<typeof transportOf>>();

async function byGrpc({ url, headers }: Call, action: Action, body: JsonObject): Promise<Answer> {
  const transport = clients.get(url) ?? transportOf("grpc", url, {});
  clients.set(url, transport);
  const method = unaryOf(action);
  try {
    const { message, header } = await transport.unary(
      method,
      undefined,
      undefined,
      headers,
      fromJson(method.input, body),
    );
    const { ok, request_id, ...rest } = toJson(method.output, message) as JsonObject;
    expect([ok, request_id]).toEqual([true, header.get("x-request-id")]);
    return { requestId: header.get("x-request-id") ?? "", refusal: undefined, body: rest };
  } catch (thrown) {
    const { code, rawMessage, metadata } = ConnectError.from(thrown);
    const refusal = Code[code].replace(/(?<=.)([A-Z])/g, "_$1").toLowerCase();
    expect(Object.keys(statuses.v2), rawMessage).toContain(refusal);
    // The line before checks it.
    return { requestId: metadata.get("x-request-id") ?? "", refusal: refusal as Refusal, body: {} };
  }
}

function unaryOf(action: Action): DescMethodUnary {
  const method = service.methods.find(({ name }) => name === methods[action]);
  if (method?.methodKind !== "unary") throw new Error(`no such method: ${action}`);
  // The type of a service's methods is a union that this does not narrow.
  return method as DescMethodUnary;
}

/**
 * A body in a form that every wire can have: protobuf omits empty lists and zeros; the order of held profiles
 * is unspecified.
 */
export function tidy(body: unknown): unknown {
  if (Array.isArray(body)) return body.map(tidy);
  if (typeof body !== "object" || body === null) return body;
  const members = Object.entries(body).filter(
    ([, value]) => value !== 0 && !(Array.isArray(value) && value.length === 0),
  );
  return Object.fromEntries(
    members.map(([name, value]) => [name, unordered.has(name) ? byId(value) : tidy(value)]),
  );
}

const unordered = new Set(["delegated_profiles", "cascade_affected"]);

const byId = (profiles: readonly Shown[]): unknown =>
  profiles.toSorted((a, b) => String(a["team_user_id"]).localeCompare(String(b["team_user_id"])));
