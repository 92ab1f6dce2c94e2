import { EventType } from "@ag-ui/core";
import { v2Answers } from "../../../src/http/failure.ts";
import { callees } from "../call-targets.ts";
import type { FuzzAnswer, FuzzRequest, Judge } from "../request.ts";
import { decode, faultsOfMessage, objectIn } from "./message.ts";

type Json = Readonly<Record<string, unknown>>;

const pairs: ReadonlySet<string> = new Set(
  Object.values(v2Answers).map(({ status, code }) => `${status} ${code}`),
);
const codes: ReadonlySet<unknown> = new Set(Object.values(v2Answers).map(({ code }) => code));
/** JSON-RPC's code for an internal error. */
const internal = -32_603;

const bodyOf = ({ body, headers }: FuzzAnswer): Buffer =>
  Buffer.from(decode(body, headers["content-encoding"]));
/** A preflight, and HEAD, have no body. */
const isBodiless = (method: string, { body }: FuzzAnswer): boolean =>
  ["HEAD", "OPTIONS"].includes(method) && body.length === 0;

/** The data of server-sent events. */
const dataIn = (text: string): readonly string[] =>
  Array.from(text.matchAll(/^data: (.*)$/gm), ([, data = ""]) => data);

/** An answer of `/mcp`: the result of a tool, or an error (spec/api.md 8.103). */
export const judgeMcp: Judge = (request, answer) => faultsOfRpc(request, answer, faultsOfTool);

/** An answer of JSON-RPC of A2A: messages of the method, or an error (spec/api.md 8.107). */
export const judgeRpc: Judge = (request, answer) =>
  faultsOfRpc(request, answer, (status, result) => faultsOfA2a(request, status, result));

const isStream = ({ headers }: FuzzAnswer): boolean =>
  headers["content-type"]?.startsWith("text/event-stream") ?? false;

/** One message of JSON-RPC as JSON, or messages as server-sent events. */
function faultsOfRpc(
  { method }: FuzzRequest,
  answer: FuzzAnswer,
  faultsOfResult: (status: number, result: Json) => readonly string[],
) {
  if (isBodiless(method, answer)) return [];
  const text = bodyOf(answer).toString();
  const messages = isStream(answer) ? dataIn(wholeOf(answer, text)) : [text];
  if (messages.length === 0) return answer.cut ? [] : ["a stream without a message"];
  return messages.flatMap((each) => {
    const message = objectIn(Buffer.from(each));
    if (message?.["jsonrpc"] !== "2.0") return [`${answer.status} without a message of JSON-RPC`];
    const { error, result } = message as { readonly error?: Json; readonly result?: Json }; // Their members are checked.
    if (error) return faultsOfRpcError(answer.status, error);
    // Notifications of progress come before the result.
    return result
      ? faultsOfResult(answer.status, result)
      : "method" in message
        ? []
        : ["neither a result nor an error"];
  });
}

/** An answer of HTTP+JSON of A2A: messages of the method, or `google.rpc.Status` (spec/api.md 8.107). */
export const judgeA2aRest: Judge = (request, answer) => {
  const { status } = answer;
  if (isBodiless(request.method, answer)) return [];
  const text = bodyOf(answer).toString();
  if (status !== 200) return faultsOfStatus(status, objectIn(Buffer.from(text)));
  if (!isStream(answer)) return faultsOfA2a(request, status, objectIn(Buffer.from(text)));
  return dataIn(wholeOf(answer, text)).flatMap((data) => {
    const json = objectIn(Buffer.from(data));
    return json && "error" in json ? faultsOfStatus(undefined, json) : faultsOfA2a(request, status, json);
  });
};

function faultsOfStatus(status: number | undefined, body: Json | null): readonly string[] {
  const { code, status: name, message, details } = { ...(body?.["error"] as Json | undefined) };
  const isWhole =
    /^[A-Z_]+$/.test(String(name)) && typeof message === "string" && message !== "" && Array.isArray(details);
  if (!isWhole || (status !== undefined && code !== status)) return [`${status} with the code ${code}`];
  return name === "INTERNAL" || name === "UNKNOWN" ? [`the code ${name}`] : [];
}

function faultsOfA2a({ rpc, kind }: FuzzRequest, status: number, result: Json | null): readonly string[] {
  const output = callees.find((callee) => callee.rpc === rpc)?.method.output;
  if (status !== 200 || !output || result === null) return [`${status} with a result`];
  // Another path can be the address of another method.
  return kind === "path" || kind === "head"
    ? []
    : faultsOfMessage(output, Buffer.from(JSON.stringify(result)), true);
}

/** The text of server-sent events without one that was cut off. */
const wholeOf = ({ cut }: FuzzAnswer, text: string): string =>
  cut ? text.slice(0, text.lastIndexOf("\n\n") + 2) : text;

/** A refusal names the code of its status. */
function faultsOfRpcError(status: number, { code, message, data }: Json): readonly string[] {
  const faults = typeof message === "string" && message !== "" ? [] : ["an error without a message"];
  if (!Number.isInteger(code) || code === internal) faults.push(`the error ${code}`);
  const { code: reason } = { ...(data as Json | undefined) };
  if (code === -32_000 && reason !== undefined && !pairs.has(`${status} ${reason}`))
    faults.push(`${status} with the code ${reason}`);
  return faults;
}

/** The result of a tool: blocks, of which a refusal has one with a code of v2. */
function faultsOfTool(status: number, { content, isError }: Json): readonly string[] {
  const [block] = Array.isArray(content) ? (content as readonly Json[]) : [];
  if (status !== 200 || !block) return [`${status} with a result ${block ? "" : "of no blocks"}`];
  if (isError !== true) return [];
  const { code } = { ...(objectIn(Buffer.from(String(block["text"])))?.["error"] as Json | undefined) };
  return codes.has(code) && code !== "internal" ? [] : [`the refusal ${code} of a tool`];
}

const eventTypes: ReadonlySet<unknown> = new Set(Object.values(EventType));
const ends: ReadonlySet<unknown> = new Set(["RUN_FINISHED", "RUN_ERROR"]);

/**
 * An answer of `/ag-ui`: events of the protocol up to the end of the run, or a refusal as on v2 (spec/api.md
 * 8.110).
 */
export const judgeAgUi: Judge = ({ method }, answer) => {
  const { status, headers, cut } = answer;
  if (isBodiless(method, answer)) return [];
  const text = bodyOf(answer).toString();
  if (status !== 200) return faultsOfRefusal(status, objectIn(Buffer.from(text)));
  if (!isStream(answer)) return [`the type ${headers["content-type"]}`];
  const events = dataIn(wholeOf(answer, text)).map((data) => objectIn(Buffer.from(data)) ?? {});
  const faults = events.flatMap(({ type }) => (eventTypes.has(type) ? [] : [`the event ${type}`]));
  const end = events.at(-1);
  if (!cut && !ends.has(end?.["type"])) faults.push("the run has no end");
  if (end?.["type"] === "RUN_ERROR" && end["code"] === "internal")
    faults.push("a run with an internal error");
  return faults;
};

function faultsOfRefusal(status: number, body: Json | null): readonly string[] {
  const { code, message } = { ...(body?.["error"] as Json | undefined) };
  const isRefusal =
    body?.["ok"] === false && typeof message === "string" && message !== "" && pairs.has(`${status} ${code}`);
  return isRefusal ? [] : [`${status} with the code ${code}`];
}
