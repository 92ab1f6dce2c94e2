import type { IncomingHttpHeaders } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { type DescMessage, fromBinary, fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { WorkerService } from "../src/gen/proto/worker/v1/worker_service_pb.ts";

/** The run of a call, or the run that a response assigns. */
export interface RunName {
  readonly taskId: string;
  readonly fence: number;
}

/** A recorded call of the worker. Times are in milliseconds of the machine's monotonic clock. */
export interface Call {
  /** `Poll`, `Append` … An AppendBatch is recorded as its appends. */
  readonly method: string;
  readonly startedAt: number;
  /** The run in the request; null for a Poll. */
  readonly run: RunName | null;
  /** The keys of its events. */
  readonly keys: readonly string[];
  /** The platform has processed it, and the worker did not get the response. */
  isLost: boolean;
  /** When the worker received its response; null if it has not received one. */
  answeredAt: number | null;
  /** The HTTP status; 0 without a response. */
  status: number;
  /** The code and the text of a refusal; empty without one. */
  code: string;
  message: string;
  /** `stop` of a Heartbeat's response: why the run is over. */
  stop: string;
  /** The runs that the response assigned. */
  assigned: readonly RunName[];
  /** The platform was unavailable when the call arrived. */
  isPlatformAway: boolean;
}

const batch = "AppendBatch";

/** The name by which faults find a method: a batch has the faults of Append. */
export const faultName = (method: string | null): string => (method === batch ? "Append" : (method ?? ""));

/** The method name in a path; null for other paths. */
export function readMethod(path: string): string | null {
  const [, service, name = ""] = path.split("?")[0]?.split("/") ?? [];
  return service === WorkerService.typeName && WorkerService.methods.some((method) => method.name === name)
    ? name
    : null;
}

/** A body and the headers that say how to read it. */
export interface Content {
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
}

/** Records an arriving call; a batch as one call for each append. */
export function recordCalls(method: string, content: Content, startedAt: number): readonly Call[] {
  const input = WorkerService.methods.find(({ name }) => name === method)?.input;
  const request = method === "Poll" || !input ? null : decode(input, content);
  return method === batch
    ? readList(request, "appends").map((each) => callOf("Append", each, startedAt))
    : [callOf(method, request, startedAt)];
}

function callOf(method: string, request: JsonValue, startedAt: number): Call {
  return {
    method,
    startedAt,
    run: readRun(request),
    keys: readList(request, "events").map((event) => readText(event, "key")),
    isLost: false,
    answeredAt: null,
    status: 0,
    code: "",
    message: "",
    stop: "",
    assigned: [],
    isPlatformAway: false,
  };
}

/** Records the response of a call, by the calls that `recordCalls` returned for it. */
export function recordAnswer(method: string, calls: readonly Call[], status: number, content: Content): void {
  const output = WorkerService.methods.find(({ name }) => name === method)?.output;
  const answer = status === 200 && output ? decode(output, content) : null;
  for (const [index, call] of calls.entries()) {
    call.status = status;
    if (status !== 200) Object.assign(call, readRefusal(content));
    else if (method === batch) recordResult(call, readList(answer, "results")[index] ?? null);
    else {
      call.stop = readText(answer, "stop");
      call.assigned = [readMember(answer, "run"), ...readList(answer, "moreRuns")].flatMap(
        (run) => readRun(run) ?? [],
      );
    }
  }
}

/** An append of a batch has the status that it would have by itself, as far as the rules distinguish them. */
function recordResult(call: Call, result: JsonValue): void {
  call.stop = readText(readMember(result, "appended"), "stop");
  const error = readMember(result, "error");
  if (error !== null)
    Object.assign(call, { status: 400, code: readText(error, "code"), message: readText(error, "message") });
}

/** Decodes JSON or binary to JSON with lowerCamelCase names; null for an invalid message. */
function decode(schema: DescMessage, content: Content): JsonValue {
  try {
    const isBinary = content.headers["content-type"]?.startsWith("application/proto");
    const bytes = decompress(content);
    const json = () => fromJson(schema, JSON.parse(bytes.toString()), { ignoreUnknownFields: true });
    return toJson(schema, isBinary ? fromBinary(schema, bytes) : json());
  } catch {
    return null;
  }
}

/** The codings of bodies that the platform accepts and answers with. */
function decompress({ headers, body }: Content): Buffer {
  const coding = headers["content-encoding"];
  if (coding === "gzip") return gunzipSync(body);
  return coding === "br" ? brotliDecompressSync(body) : Buffer.from(body);
}

function readRun(value: JsonValue): RunName | null {
  const taskId = readText(value, "taskId");
  return taskId === "" ? null : { taskId, fence: Number(readMember(value, "fence") ?? 0) };
}

function readRefusal(content: Content): Pick<Call, "code" | "message"> {
  try {
    const refusal: JsonValue = JSON.parse(decompress(content).toString());
    return { code: readText(refusal, "code"), message: readText(refusal, "message") };
  } catch {
    return { code: "", message: "" };
  }
}

const readMember = (value: JsonValue, name: string): JsonValue =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value[name] ?? null) : null;

function readList(value: JsonValue, name: string): readonly JsonValue[] {
  const member = readMember(value, name);
  return Array.isArray(member) ? member : [];
}

function readText(value: JsonValue, name: string): string {
  const member = readMember(value, name);
  return typeof member === "string" ? member : "";
}
