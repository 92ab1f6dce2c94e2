import { callees } from "../callees.ts";
import type { FuzzAnswer, FuzzRequest, Judge } from "../request.ts";
import { flawsOfStream, flawsOfUnary } from "./connect.ts";
import { flawsOfExportJson, isExportJson } from "./export-json.ts";
import { flawsOfGrpc, flawsOfGrpcWeb } from "./grpc.ts";
import { flawsOfSecrecy } from "./leaks.ts";
import { judgeV2 } from "./v2.ts";

/** Everything that can be wrong with an answer by itself. */
export const judge: Judge = (request, answer) => {
  const flaws = [...flawsOfServer(answer), ...flawsOfShape(request, answer)].filter((flaw) => !isExcused(request, flaw));
  return [...flaws, ...flawsOfSecrecy(answer).filter((flaw) => !isOwners(request, flaw))];
};

/** The owner is told what colleagues have changed. */
const isOwners = ({ rpc }: FuzzRequest, flaw: string): boolean =>
  rpc === "audit.v2.AuditService/ListAuditEvents" && flaw === "tells a colleague's data";

const flawsOfServer = ({ status }: FuzzAnswer): readonly string[] => (status < 500 || status === 501 ? [] : [`the status ${status}`]);

/**
 * A call that set itself a time may run out of it. Connect then no longer says whose
 * fault a message is that cannot be read; a fault of ours would be in the log.
 */
function isExcused({ headers }: FuzzRequest, flaw: string): boolean {
  const isTimed = "connect-timeout-ms" in headers || "grpc-timeout" in headers;
  return isTimed && /^(?:the status 50[04]|the code internal|the grpc-status is 13)$/.test(flaw);
}

/** The form that an answer has, by its type. */
type Shape = "v2" | "connect" | "connect stream" | "grpc" | "grpc-web" | "text" | "none" | "unknown";

const shapes: readonly (readonly [RegExp, Shape])[] = [
  [/^application\/json; charset=utf-8$|^text\/event-stream/, "v2"],
  [/^application\/(json|proto)$/, "connect"],
  [/^application\/connect\+(json|proto)$/, "connect stream"],
  [/^application\/grpc-web\+(proto|json)$/, "grpc-web"],
  [/^application\/grpc\+(proto|json)$/, "grpc"],
  [/^text\/plain/, "text"],
  [/^$/, "none"],
];

const shapeOf = ({ headers }: FuzzAnswer): Shape => shapes.find(([type]) => type.test(headers["content-type"] ?? ""))?.[1] ?? "unknown";

/** The shape that a request is answered in when neither its head nor its path is odd. */
function shapeFor({ wire, streaming }: FuzzRequest): Shape {
  if (wire.startsWith("v2")) return "v2";
  if (wire === "grpc" || wire === "grpc-web") return wire;
  // Nobody speaks it here: the type is refused.
  if (wire === "grpc-web-text") return "none";
  return streaming && wire !== "connect-get" ? "connect stream" : "connect";
}

function flawsOfShape(request: FuzzRequest, answer: FuzzAnswer): readonly string[] {
  const output = callees.find(({ rpc }) => rpc === request.rpc)?.method.output;
  if (output && isExportJson(request, answer)) return flawsOfExportJson(output, answer);
  const shape = shapeOf(answer);
  const isV2 = request.path.startsWith("/v2/");
  const sound = request.kind !== "head" && request.kind !== "path";
  const wanted = sound ? shapeFor(request) : isV2 && answer.status !== 204 ? "v2" : shape;
  const isOver = wanted === "v2" && answer.status === 204;
  if (shape !== wanted && !isOver) return [`${shape} instead of ${wanted}, with ${answer.status}`];
  try {
    return flawsOf(isOver ? "v2" : shape, request, answer);
  } catch {
    return ["a message that is not of its coding"];
  }
}

function flawsOf(shape: Shape, request: FuzzRequest, answer: FuzzAnswer): readonly string[] {
  const output = callees.find(({ rpc }) => rpc === request.rpc)?.method.output;
  if (shape === "v2") return judgeV2(request, answer);
  if (shape === "none") return flawsOfNothing(answer);
  if (shape === "text") return request.kind === "path" ? [] : ["plain text"];
  if (!output || shape === "unknown") return [`the type ${answer.headers["content-type"]}`];
  if (shape === "connect") return flawsOfUnary(output, answer);
  if (shape === "connect stream") return flawsOfStream(output, answer);
  return (shape === "grpc" ? flawsOfGrpc : flawsOfGrpcWeb)(output, request.streaming, answer);
}

/** What is refused before it is known which wire it is for has a status alone. */
const bare: ReadonlySet<number> = new Set([404, 405, 415]);

const flawsOfNothing = ({ status, body }: FuzzAnswer): readonly string[] =>
  bare.has(status) && body.length === 0 ? [] : [`${status} without a type, and ${body.length === 0 ? "no body" : "a body"}`];
