import {
  ListenWebhookResponseSchema,
  WebhookService,
} from "../../../src/gen/proto/webhook/v2/webhook_service_pb.ts";
import { v2Answers } from "../../../src/http/failure.ts";
import type { FuzzAnswer, Judge } from "../request.ts";
import { decode, objectIn } from "./message.ts";

const pairs: ReadonlySet<string> = new Set(
  Object.values(v2Answers).map(({ status, code }) => `${status} ${code}`),
);
const requestIdForm = /^req_[2-9A-HJ-NP-Za-km-z]{22}$/;
const jsonType = "application/json; charset=utf-8";
/** The stream whose frames have the name of their field, and no id (spec/api.md 8.94). */
const listenRpc = `${WebhookService.typeName}/ListenWebhook`;
const listenFrames: ReadonlySet<string> = new Set(ListenWebhookResponseSchema.fields.map(({ name }) => name));
const streamType = "text/event-stream; charset=utf-8";

/** An answer of v2: the envelope, or server-sent events (spec/api.md 1 and 3, spec/decisions.md 17a). */
export const judgeV2: Judge = ({ rpc, method, streaming }, answer) => {
  const { status, headers } = answer;
  const body = Buffer.from(decode(answer.body, headers["content-encoding"]));
  const faults = faultsOfHead(method, answer);
  if (status === 304) return [...faults, ...(body.length > 0 ? ["304 with a body"] : [])];
  if (streaming && status === 204) return [...faults, ...(body.length > 0 ? ["204 with a body"] : [])];
  if (streaming && status === 200 && method !== "HEAD") return [...faults, ...faultsOfStream(rpc, answer)];
  if (streaming && status === 200)
    return [...faults, ...(headers["content-type"] === streamType ? [] : ["the head of no stream"])];
  if (headers["content-type"] !== jsonType)
    return [...faults, `the content type is ${headers["content-type"]}`];
  return method === "HEAD" ? faults : [...faults, ...faultsOfEnvelope(status, body, headers["x-request-id"])];
};

/** A read by GET may be kept by its client, which asks again each time. */
function faultsOfHead(method: string, { status, headers }: FuzzAnswer): string[] {
  const faults: string[] = [];
  const isRead =
    ["GET", "HEAD"].includes(method) && [200, 304].includes(status) && headers["etag"] !== undefined;
  if (!requestIdForm.test(headers["x-request-id"] ?? "")) faults.push("no request id of ours");
  if (headers["cache-control"] !== (isRead ? "private, no-cache" : "no-store"))
    faults.push("the answer may be kept");
  return faults;
}

/** @param requestId the one of the head */
function faultsOfEnvelope(status: number, bytes: Buffer, requestId: string | undefined): string[] {
  const found = objectIn(bytes);
  if (found === null) return ["the body is not a JSON object"];
  const { warnings, ...body } = found;
  const faults = warnings === undefined ? [] : faultsOfWarnings(warnings);
  if (body["request_id"] !== requestId) faults.push("the body has another request id than the head");
  if (body["ok"] === true)
    return [...faults, ...(status === 200 && !("error" in body) ? [] : [`ok with ${status}`])];
  if (body["ok"] !== false) faults.push("ok is neither true nor false");
  if (Object.keys(body).toSorted().join() !== "error,ok,request_id")
    faults.push("a refusal with other members");
  return [...faults, ...faultsOfError(status, body["error"])];
}

const faultsOfWarnings = (warnings: unknown): string[] =>
  Array.isArray(warnings) &&
  warnings.length > 0 &&
  warnings.length <= 10 &&
  warnings.every((text) => typeof text === "string")
    ? []
    : ["warnings that are not 1 to 10 texts"];

function faultsOfError(status: number, error: unknown): string[] {
  const {
    code,
    message,
    type,
    doc_url: page,
    param,
    details = [],
    ...rest
  } = { ...(error as Readonly<Record<string, unknown>>) }; // Of any type; its members are checked.
  const faults: string[] = [];
  if (!pairs.has(`${status} ${code}`)) faults.push(`${status} with the code ${code}`);
  if (typeof message !== "string" || message === "") faults.push("a refusal without a message");
  if (Object.keys(rest).length > 0) faults.push("an error with other members");
  if (typeof type !== "string" || typeof page !== "string" || !page.endsWith(`/errors/${type}`))
    faults.push("an error without its page");
  if (!Array.isArray(details) || details.length > 20) faults.push("details that are not at most 20");
  else if (typeof param === "string" && !String(message).startsWith(`${param}: `))
    faults.push("a message that is not about its member");
  return faults;
}

function faultsOfStream(rpc: string, { headers, body, cut }: FuzzAnswer): string[] {
  if (headers["content-type"] !== streamType)
    return [`the content type of a stream is ${headers["content-type"]}`];
  const text = body.toString();
  const frames = text.split("\n\n");
  if (!cut && frames.at(-1) !== "") return ["the stream breaks off in a frame"];
  const dataFrames = frames.slice(0, -1).filter((frame) => !frame.startsWith(":"));
  const faults = dataFrames.flatMap((frame, index) =>
    faultsOfFrame(rpc, frame, index === dataFrames.length - 1, headers["x-request-id"]),
  );
  return !cut && !dataFrames.at(-1)?.startsWith("event: end\n")
    ? [...faults, "the stream has no end"]
    : faults;
}

/** An event with its seq as the id, a message of a listener, or the end; the last two have no id. */
function faultsOfFrame(rpc: string, frame: string, isLast: boolean, requestId: string | undefined): string[] {
  const [, id, event, data = ""] = /^(?:id: (\d+)\n)?event: (\w+)\ndata: (.*)$/.exec(frame) ?? [];
  if (event === undefined) return ["a frame that is not an event"];
  if (event === "end") {
    const status = objectIn(Buffer.from(data))?.["ok"] === true ? 200 : statusOf(data);
    return [
      ...(isLast && id === undefined ? [] : ["an end that is none"]),
      ...faultsOfEnvelope(status, Buffer.from(data), requestId),
    ];
  }
  const content = objectIn(Buffer.from(data));
  if (rpc === listenRpc)
    return content !== null && id === undefined && listenFrames.has(event) ? [] : ["a frame of no listener"];
  return content?.["type"] === event && content["seq"] === Number(id)
    ? []
    : ["a frame that does not say what its event says"];
}

/** The status for the code of an envelope without a status. */
function statusOf(envelope: string): number {
  const error = objectIn(Buffer.from(envelope))?.["error"] as { readonly code?: string } | undefined; // An envelope's, or none.
  return Object.values(v2Answers).find(({ code }) => code === error?.code)?.status ?? 0;
}
