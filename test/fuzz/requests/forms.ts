import { restRules } from "../../../src/protocols/a2a/protocol.ts";
import { toolName } from "../../../src/protocols/mcp/tools/tool.ts";
import type { Callee } from "../call-targets.ts";
import { objectIn } from "../oracle/message.ts";
import type { FuzzRequest, Headers, Wire } from "../request.ts";
import type { Coding } from "./codings.ts";
import type { Coded } from "./envelopes.ts";
import type { Spelling } from "./payloads.ts";

/** The parts of a request that depend on the wire form. */
export type Formed = Pick<FuzzRequest, "method" | "path" | "headers" | "body">;

/** The content of a request, each part valid or not. */
export interface Parts {
  readonly payload: Uint8Array;
  readonly spelling: Spelling;
  readonly coding: Coding;
  readonly envelope: (coded: Coded) => Buffer;
}

/** Puts a call into its wire form. */
type Form = (callee: Callee, parts: Parts) => Formed;

/** How a wire form spells messages; a Connect GET takes either. */
export const spellingsOf: Readonly<Record<Wire, readonly Spelling[]>> = {
  v2: ["v2"],
  "v2-get": [],
  "connect-json": ["json"],
  "connect-proto": ["proto"],
  "connect-get": ["json", "proto"],
  grpc: ["proto"],
  "grpc-web": ["proto"],
  "grpc-web-text": ["proto"],
  mcp: ["tool"],
  "a2a-rpc": ["json"],
  "a2a-rest": ["json"],
  "ag-ui": [],
};

export const v2Path = ({ operation }: Callee): string => `/v2/${operation?.name}`;
export const rpcPath = ({ rpc }: Callee): string => `/${rpc}`;

/** Whether the messages of a call are in envelopes on this wire. */
export const isEnveloped = (wire: Wire, { method }: Callee): boolean =>
  wire.startsWith("grpc") ||
  (wire !== "connect-get" && wire.startsWith("connect") && method.methodKind !== "unary");

/** The headers of a coding: the one of the message, and those that the answer may have. */
const coded = (given: string, accepted: string, { name, accept }: Coding): Headers => ({
  ...(name === null ? {} : { [given]: name }),
  ...(accept === null ? {} : { [accepted]: accept }),
});
const httpCoded = (coding: Coding): Headers => coded("content-encoding", "accept-encoding", coding);

const connectUnary = (callee: Callee, { payload, spelling, coding }: Parts): Formed => ({
  method: "POST",
  path: rpcPath(callee),
  headers: { "content-type": `application/${spelling}`, ...httpCoded(coding) },
  body: coding.apply(payload).bytes,
});

const connectStream = (callee: Callee, { payload, spelling, coding, envelope }: Parts): Formed => ({
  method: "POST",
  path: rpcPath(callee),
  headers: {
    "content-type": `application/connect+${spelling}`,
    ...coded("connect-content-encoding", "connect-accept-encoding", coding),
  },
  body: envelope(coding.apply(payload)),
});

const connect: Form = (callee, parts) =>
  (callee.method.methodKind === "unary" ? connectUnary : connectStream)(callee, parts);

const connectGet: Form = (callee, { payload, spelling, coding }) => {
  const { bytes } = coding.apply(payload);
  const query = new URLSearchParams({
    connect: "v1",
    encoding: spelling,
    base64: "1",
    ...(coding.name === null ? {} : { compression: coding.name }),
    message: Buffer.from(bytes).toString("base64url"),
  });
  return { method: "GET", path: `${rpcPath(callee)}?${query}`, headers: {}, body: new Uint8Array() };
};

const grpc =
  (type: string, own: Headers = {}, encode = (body: Buffer): Uint8Array => body): Form =>
  (callee, { payload, coding, envelope }) => ({
    method: "POST",
    path: rpcPath(callee),
    headers: { "content-type": type, ...own, ...coded("grpc-encoding", "grpc-accept-encoding", coding) },
    body: encode(envelope(coding.apply(payload))),
  });

/** A request of JSON-RPC whose parameters have the message at the text `@`. */
const jsonRpc = (path: string, method: string, params: unknown, { payload, coding }: Parts): Formed => {
  const [before = "", after = ""] = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }).split('"@"');
  return {
    method: "POST",
    path,
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...httpCoded(coding),
    },
    body: coding.apply(Buffer.concat([Buffer.from(before), payload, Buffer.from(after)])).bytes,
  };
};

/** A call of a tool, with the message as its input. */
const mcp: Form = ({ operation }, parts) =>
  jsonRpc("/mcp?tools=all", "tools/call", { name: toolName(operation?.name ?? ""), arguments: "@" }, parts);

/** HTTP+JSON of A2A: fields of the message are in the path, and others in the query or the body. */
const a2aRest: Form = ({ method: { name } }, { payload, coding }) => {
  const [, method, rule] = restRules.find(([each]) => each === name) ?? ["", "GET", ""];
  const fields = objectIn(payload) ?? {};
  const path = `/a2a${rule.replaceAll(/\{(\w+)\}/g, (_, field: string) =>
    encodeURIComponent(
      String(fields[field] ?? "none")
        .toWellFormed()
        .slice(0, 100),
    ),
  )}`;
  if (method === "POST")
    return {
      method,
      path,
      headers: { "content-type": "application/json", ...httpCoded(coding) },
      body: coding.apply(payload).bytes,
    };
  const query = new URLSearchParams(
    Object.entries(fields).map(([field, value]): [string, string] => [field, String(value).slice(0, 1_000)]),
  );
  return { method, path: `${path}?${query}`, headers: {}, body: new Uint8Array() };
};

/** Calls by their wire form; a v2 GET has a query instead of a message, and AG-UI has other messages. */
export const forms: Readonly<Record<Exclude<Wire, "v2-get" | "ag-ui">, Form>> = {
  mcp,
  "a2a-rpc": ({ method: { name } }, parts) => jsonRpc("/a2a", name, "@", parts),
  "a2a-rest": a2aRest,
  v2: (callee, { payload, coding }) => ({
    method: "POST",
    path: v2Path(callee),
    headers: { "content-type": "application/json", ...httpCoded(coding) },
    body: coding.apply(payload).bytes,
  }),
  "connect-json": connect,
  "connect-proto": connect,
  "connect-get": connectGet,
  grpc: grpc("application/grpc+proto", { te: "trailers" }),
  "grpc-web": grpc("application/grpc-web+proto", { "x-grpc-web": "1" }),
  "grpc-web-text": grpc("application/grpc-web-text+proto", { "x-grpc-web": "1" }, (body) =>
    Buffer.from(body.toString("base64")),
  ),
};

/** A run of AG-UI. */
export const ran = (payload: Uint8Array, coding: Coding): Formed => ({
  method: "POST",
  path: "/ag-ui",
  headers: { "content-type": "application/json", ...httpCoded(coding) },
  body: coding.apply(payload).bytes,
});

/** A v2 read by GET. */
export const queried = (callee: Callee, query: string): Formed => ({
  method: "GET",
  path: `${v2Path(callee)}${query === "" ? "" : `?${query}`}`,
  headers: {},
  body: new Uint8Array(),
});
