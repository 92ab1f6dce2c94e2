import { callees } from "../call-targets.ts";
import type { FuzzAnswer, FuzzRequest, Judge, Wire } from "../request.ts";
import { faultsOfStream, faultsOfUnary } from "./connect.ts";
import { faultsOfExportJson, isExportJson } from "./export-json.ts";
import { faultsOfGrpc, faultsOfGrpcWeb } from "./grpc.ts";
import { leaksOf, otherProjectsMark, reveals } from "./leaks.ts";
import { judgeA2aRest, judgeAgUi, judgeMcp, judgeRpc } from "./protocols.ts";
import { succeeded } from "./succeeded.ts";
import { judgeV2 } from "./v2.ts";

/** Everything that can be wrong with an answer alone. */
export const judge: Judge = (request, answer) => {
  const faults = [...faultsOfServer(answer), ...faultsOfShape(request, answer)].filter(
    (flaw) => !isExcused(request, flaw),
  );
  return [
    ...faults,
    ...leaksOf(answer).filter((flaw) => !isOwners(request, flaw)),
    ...faultsOfLimit(request, answer),
  ];
};

/** What a key with limits must not do. */
function faultsOfLimit(request: FuzzRequest, answer: FuzzAnswer): readonly string[] {
  const { limit } = request;
  if (!limit) return [];
  const isOver = limit.name === "project" && reveals(answer, otherProjectsMark);
  const isDone = !limit.isAllowed && succeeded(request, answer);
  return [
    ...(isOver ? ["reveals a task outside of the key's project"] : []),
    ...(isDone ? [`succeeds with the key "${limit.name}"`] : []),
  ];
}

/** The owner sees the changes of colleagues. */
const isOwners = ({ rpc }: FuzzRequest, flaw: string): boolean =>
  rpc === "audit.v2.AuditService/ListAuditEvents" && flaw === "reveals a colleague's data";

const faultsOfServer = ({ status }: FuzzAnswer): readonly string[] =>
  status < 500 || status === 501 ? [] : [`the status ${status}`];

/**
 * A call with its own deadline may exceed it. Connect then no longer reports who
 * caused an unreadable message; an internal error would be in the log.
 */
function isExcused({ headers }: FuzzRequest, flaw: string): boolean {
  const isTimed = "connect-timeout-ms" in headers || "grpc-timeout" in headers;
  return isTimed && /^(?:the status 50[04]|the code internal|the grpc-status is 13)$/.test(flaw);
}

/** The form of an answer, by its type. */
type Shape = "v2" | "connect" | "connect stream" | "grpc" | "grpc-web" | "page" | "text" | "none" | "unknown";

const shapes: readonly (readonly [RegExp, Shape])[] = [
  [/^application\/json; charset=utf-8$|^text\/event-stream/, "v2"],
  [/^application\/(json|proto)$/, "connect"],
  [/^application\/connect\+(json|proto)$/, "connect stream"],
  [/^application\/grpc-web\+(proto|json)$/, "grpc-web"],
  [/^application\/grpc\+(proto|json)$/, "grpc"],
  [/^text\/html; charset=utf-8$/, "page"],
  [/^text\/plain/, "text"],
  [/^$/, "none"],
];

const shapeOf = ({ headers }: FuzzAnswer): Shape =>
  shapes.find(([type]) => type.test(headers["content-type"] ?? ""))?.[1] ?? "unknown";

/** The shape of the answer when neither the request's head nor its path is odd. */
function shapeFor({ wire, streaming }: FuzzRequest): Shape {
  if (wire.startsWith("v2")) return "v2";
  if (wire === "grpc" || wire === "grpc-web") return wire;
  // The wire is not supported here: the type is refused.
  if (wire === "grpc-web-text") return "none";
  return streaming && wire !== "connect-get" ? "connect stream" : "connect";
}

/** A stream that is over, and a read whose client has the answer. */
const empty: ReadonlySet<number> = new Set([204, 304]);

function faultsOfShape(request: FuzzRequest, answer: FuzzAnswer): readonly string[] {
  const output = callees.find(({ rpc }) => rpc === request.rpc)?.method.output;
  // A changed path can lead to the address of another protocol.
  const protocol =
    protocols[request.wire] && Object.values(protocols).find(({ address }) => isAt(request, address));
  if (protocol) return protocol.judge(request, answer);
  if (output && isExportJson(request, answer)) return faultsOfExportJson(output, answer);
  const shape = shapeOf(answer);
  const isV2 = request.path.startsWith("/v2/");
  const sound = request.kind !== "head" && request.kind !== "path";
  const expectedShape = sound ? shapeFor(request) : isV2 && answer.status !== 204 ? "v2" : shape;
  const isOver = expectedShape === "v2" && empty.has(answer.status);
  if (shape !== expectedShape && !isOver)
    return [`${shape} instead of ${expectedShape}, with ${answer.status}`];
  try {
    return faultsOf(isOver ? "v2" : shape, request, answer);
  } catch {
    return ["a message that is not of its coding"];
  }
}

/** The wires of other protocols, with the pattern of their addresses. */
const protocols: Readonly<Partial<Record<Wire, { readonly address: RegExp; readonly judge: Judge }>>> = {
  mcp: { address: /^\/mcp$/, judge: judgeMcp },
  "ag-ui": { address: /^\/ag-ui$/, judge: judgeAgUi },
  "a2a-rpc": { address: /^\/a2a$/, judge: judgeRpc },
  "a2a-rest": { address: /^\/a2a\//, judge: judgeA2aRest },
};
/** Whether a request reaches the address of its wire: one with a changed path may not. */
const isAt = ({ path }: FuzzRequest, address: RegExp): boolean => address.test(path.replace(/\?.*$/s, ""));

function faultsOf(shape: Shape, request: FuzzRequest, answer: FuzzAnswer): readonly string[] {
  const output = callees.find(({ rpc }) => rpc === request.rpc)?.method.output;
  if (shape === "v2") return judgeV2(request, answer);
  if (shape === "none") return faultsOfNothing(answer);
  if (shape === "page") return faultsOfPage(request, answer);
  if (shape === "text") return request.kind === "path" ? [] : ["plain text"];
  if (!output || shape === "unknown") return [`the type ${answer.headers["content-type"]}`];
  if (shape === "connect") return faultsOfUnary(output, answer);
  if (shape === "connect stream") return faultsOfStream(output, answer);
  return (shape === "grpc" ? faultsOfGrpc : faultsOfGrpcWeb)(output, request.streaming, answer);
}

/** Addresses of the console that a changed path can lead to. */
const consolePaths = /^\/(?:new|projects|settings|(?:app|share)\/x)?$/;

/** A page of the console: only at its addresses, and under its security policy. */
function faultsOfPage(
  { kind, method, path }: FuzzRequest,
  { status, headers }: FuzzAnswer,
): readonly string[] {
  const isConsole = kind === "path" && ["GET", "HEAD"].includes(method) && consolePaths.test(path);
  if (!isConsole || status !== 200) return [`${status} with a page`];
  const isGuarded =
    headers["content-security-policy"]?.startsWith("default-src 'none';") &&
    headers["cache-control"] === "no-store";
  return isGuarded ? [] : ["a page without its policy"];
}

/** Requests refused before their wire is known get a status alone. */
const bare: ReadonlySet<number> = new Set([404, 405, 415]);

const faultsOfNothing = ({ status, body }: FuzzAnswer): readonly string[] =>
  bare.has(status) && body.length === 0
    ? []
    : [`${status} without a type, and ${body.length === 0 ? "no body" : "a body"}`];
