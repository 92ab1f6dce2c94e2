import { v2Answers } from "../../../src/http/failure.ts";
import type { FuzzAnswer, Judge } from "../request.ts";
import { objectIn } from "./message.ts";

const pairs: ReadonlySet<string> = new Set(Object.values(v2Answers).map(({ status, code }) => `${status} ${code}`));
const requestIdForm = /^req_[2-9A-HJ-NP-Za-km-z]{22}$/;
const jsonType = "application/json; charset=utf-8";
const streamType = "text/event-stream; charset=utf-8";

/** An answer of v2: the envelope, or server-sent events (contract/v2.md 1 and 3, contract/decisions.md 17a). */
export const judgeV2: Judge = ({ method, streaming }, answer) => {
  const { status, headers, body } = answer;
  const flaws = flawsOfHead(headers);
  if (streaming && status === 204) return [...flaws, ...(body.length > 0 ? ["204 with a body"] : [])];
  if (streaming && status === 200) return [...flaws, ...flawsOfStream(answer)];
  if (headers["content-type"] !== jsonType) return [...flaws, `the content type is ${headers["content-type"]}`];
  return method === "HEAD" ? flaws : [...flaws, ...flawsOfEnvelope(status, body, headers["x-request-id"])];
};

function flawsOfHead(headers: FuzzAnswer["headers"]): string[] {
  const flaws: string[] = [];
  if (!requestIdForm.test(headers["x-request-id"] ?? "")) flaws.push("no request id of ours");
  if (headers["cache-control"] !== "no-store") flaws.push("the answer may be kept");
  return flaws;
}

/** @param requestId the one of the head */
function flawsOfEnvelope(status: number, bytes: Buffer, requestId: string | undefined): string[] {
  const found = objectIn(bytes);
  if (found === null) return ["the body is no JSON object"];
  const { warnings, ...body } = found;
  const flaws = warnings === undefined ? [] : flawsOfWarnings(warnings);
  if (body["request_id"] !== requestId) flaws.push("the body has another request id than the head");
  if (body["ok"] === true) return [...flaws, ...(status === 200 && !("error" in body) ? [] : [`ok with ${status}`])];
  if (body["ok"] !== false) flaws.push("ok is neither true nor false");
  if (Object.keys(body).toSorted().join() !== "error,ok,request_id") flaws.push("a refusal with other members");
  return [...flaws, ...flawsOfError(status, body["error"])];
}

const flawsOfWarnings = (warnings: unknown): string[] =>
  Array.isArray(warnings) && warnings.length > 0 && warnings.length <= 10 && warnings.every((text) => typeof text === "string")
    ? []
    : ["warnings that are not 1 to 10 texts"];

function flawsOfError(status: number, error: unknown): string[] {
  const { code, message, ...rest } = { ...(error as Readonly<Record<string, unknown>>) }; // Whatever it is, its members are looked at.
  const flaws: string[] = [];
  if (!pairs.has(`${status} ${code}`)) flaws.push(`${status} with the code ${code}`);
  if (typeof message !== "string" || message === "") flaws.push("a refusal without a message");
  if (Object.keys(rest).length > 0) flaws.push("an error with other members");
  return flaws;
}

function flawsOfStream({ headers, body, cut }: FuzzAnswer): string[] {
  if (headers["content-type"] !== streamType) return [`the content type of a stream is ${headers["content-type"]}`];
  const text = body.toString();
  const frames = text.split("\n\n");
  if (!cut && frames.at(-1) !== "") return ["the stream breaks off in a frame"];
  const told = frames.slice(0, -1).filter((frame) => !frame.startsWith(":"));
  const flaws = told.flatMap((frame, index) => flawsOfFrame(frame, index === told.length - 1, headers["x-request-id"]));
  return !cut && !told.at(-1)?.startsWith("event: end\n") ? [...flaws, "the stream has no end"] : flaws;
}

/** An event with its seq for an id, or the end, which has none. */
function flawsOfFrame(frame: string, isLast: boolean, requestId: string | undefined): string[] {
  const [, id, event, data = ""] = /^(?:id: (\d+)\n)?event: (\w+)\ndata: (.*)$/.exec(frame) ?? [];
  if (event === undefined) return ["a frame that is no event"];
  if (event === "end") {
    const status = objectIn(Buffer.from(data))?.["ok"] === true ? 200 : statusOf(data);
    return [...(isLast && id === undefined ? [] : ["an end that is none"]), ...flawsOfEnvelope(status, Buffer.from(data), requestId)];
  }
  const told = objectIn(Buffer.from(data));
  return told?.["type"] === event && told["seq"] === Number(id) ? [] : ["a frame that does not say what its event says"];
}

/** The status that goes with the code of an envelope that came without one. */
function statusOf(envelope: string): number {
  const error = objectIn(Buffer.from(envelope))?.["error"] as { readonly code?: string } | undefined; // An envelope's, or none.
  return Object.values(v2Answers).find(({ code }) => code === error?.code)?.status ?? 0;
}
