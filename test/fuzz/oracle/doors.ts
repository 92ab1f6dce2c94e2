import { EventType } from "@ag-ui/core";
import { v2Answers } from "../../../src/http/failure.ts";
import type { FuzzAnswer, Judge } from "../request.ts";
import { decode, objectIn } from "./message.ts";

type Json = Readonly<Record<string, unknown>>;

const pairs: ReadonlySet<string> = new Set(Object.values(v2Answers).map(({ status, code }) => `${status} ${code}`));
const codes: ReadonlySet<unknown> = new Set(Object.values(v2Answers).map(({ code }) => code));
/** JSON-RPC's code for an internal error. */
const internal = -32_603;

const bodyOf = ({ body, headers }: FuzzAnswer): Buffer => Buffer.from(decode(body, headers["content-encoding"]));
/** A preflight, and HEAD, have no body. */
const isBodiless = (method: string, { body }: FuzzAnswer): boolean => ["HEAD", "OPTIONS"].includes(method) && body.length === 0;

/** The data of server-sent events. */
const dataIn = (text: string): readonly string[] => Array.from(text.matchAll(/^data: (.*)$/gm), ([, data = ""]) => data);

/** An answer of `/mcp`: one message of JSON-RPC, as JSON or as the last of server-sent events (spec/api.md 8.103). */
export const judgeMcp: Judge = ({ method }, answer) => {
  if (isBodiless(method, answer)) return [];
  const text = bodyOf(answer).toString();
  const isStream = answer.headers["content-type"]?.startsWith("text/event-stream") ?? false;
  const message = objectIn(Buffer.from(isStream ? (dataIn(text).at(-1) ?? "") : text));
  if (message?.["jsonrpc"] !== "2.0") return [`${answer.status} without a message of JSON-RPC`];
  const { error, result } = message as { readonly error?: Json; readonly result?: Json }; // Their members are checked.
  if ((error === undefined) === (result === undefined)) return ["neither a result nor an error"];
  return error ? faultsOfRpcError(answer.status, error) : faultsOfResult(answer.status, result ?? {});
};

/** A refusal of the door names the code of its status. */
function faultsOfRpcError(status: number, { code, message, data }: Json): readonly string[] {
  const faults = typeof message === "string" && message !== "" ? [] : ["an error without a message"];
  if (!Number.isInteger(code) || code === internal) faults.push(`the error ${code}`);
  const { code: reason } = { ...(data as Json | undefined) };
  if (code === -32_000 && reason !== undefined && !pairs.has(`${status} ${reason}`)) faults.push(`${status} with the code ${reason}`);
  return faults;
}

/** The result of a tool: blocks, of which a refusal has one with a code of v2. */
function faultsOfResult(status: number, { content, isError }: Json): readonly string[] {
  const [block] = Array.isArray(content) ? (content as readonly Json[]) : [];
  if (status !== 200 || !block) return [`${status} with a result ${block ? "" : "of no blocks"}`];
  if (isError !== true) return [];
  const { code } = { ...(objectIn(Buffer.from(String(block["text"])))?.["error"] as Json | undefined) };
  return codes.has(code) && code !== "internal" ? [] : [`the refusal ${code} of a tool`];
}

const eventTypes: ReadonlySet<unknown> = new Set(Object.values(EventType));
const ends: ReadonlySet<unknown> = new Set(["RUN_FINISHED", "RUN_ERROR"]);

/** An answer of `/ag-ui`: events of the protocol up to the end of the run, or a refusal as on v2 (spec/api.md 8.110). */
export const judgeAgUi: Judge = ({ method }, answer) => {
  const { status, headers, cut } = answer;
  if (isBodiless(method, answer)) return [];
  const text = bodyOf(answer).toString();
  if (status !== 200) return faultsOfRefusal(status, objectIn(Buffer.from(text)));
  if (!headers["content-type"]?.startsWith("text/event-stream")) return [`the type ${headers["content-type"]}`];
  const whole = cut ? text.slice(0, text.lastIndexOf("\n\n") + 2) : text;
  const events = dataIn(whole).map((data) => objectIn(Buffer.from(data)) ?? {});
  const faults = events.flatMap(({ type }) => (eventTypes.has(type) ? [] : [`the event ${type}`]));
  const end = events.at(-1);
  if (!cut && !ends.has(end?.["type"])) faults.push("the run has no end");
  if (end?.["type"] === "RUN_ERROR" && end["code"] === "internal") faults.push("a run with an internal error");
  return faults;
};

function faultsOfRefusal(status: number, body: Json | null): readonly string[] {
  const { code, message } = { ...(body?.["error"] as Json | undefined) };
  const isRefusal = body?.["ok"] === false && typeof message === "string" && message !== "" && pairs.has(`${status} ${code}`);
  return isRefusal ? [] : [`${status} with the code ${code}`];
}
