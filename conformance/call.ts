import { type DescMessage, fromBinary, fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { WorkerService } from "../src/gen/proto/worker/v1/worker_service_pb.ts";

/** Which run a call is about, or an answer hands out. */
export interface RunName {
  readonly taskId: string;
  readonly fence: number;
}

/** A call of the worker, as the proxy saw it. Times are milliseconds of the machine's monotonic clock. */
export interface Call {
  /** `Poll`, `Append` … */
  readonly method: string;
  readonly startedAt: number;
  /** The run that it names; null for a Poll. */
  readonly run: RunName | null;
  /** When the worker had its answer; null while it has none, and for good where it never got one. */
  answeredAt: number | null;
  /** HTTP status; 0 without an answer. */
  status: number;
  /** What a refusal says: its code and its text; both empty without one. */
  code: string;
  message: string;
  /** Why the run is over, as a Heartbeat was answered. */
  stop: string;
  /** The run that was handed out with the answer. */
  handed: RunName | null;
  /** The platform was away when it came. */
  away: boolean;
}

/** The name of the method in a path; null for any other address. */
export function methodIn(path: string): string | null {
  const [, service, name = ""] = path.split("?")[0]?.split("/") ?? [];
  return service === WorkerService.typeName && WorkerService.methods.some((method) => method.name === name) ? name : null;
}

/** A call as it comes in. */
export function callOf(method: string, contentType: string, body: Uint8Array, startedAt: number): Call {
  const input = WorkerService.methods.find(({ name }) => name === method)?.input;
  const run = method === "Poll" || !input ? null : runIn(decoded(input, contentType, body));
  return { method, startedAt, run, answeredAt: null, status: 0, code: "", message: "", stop: "", handed: null, away: false };
}

/** Notes what a call was answered with. */
export function noteAnswer(call: Call, status: number, contentType: string, body: Uint8Array): void {
  call.status = status;
  const output = WorkerService.methods.find(({ name }) => name === call.method)?.output;
  if (status !== 200) Object.assign(call, refusalIn(body));
  else if (output) {
    const answer = decoded(output, contentType, body);
    call.stop = textAt(answer, "stop");
    call.handed = runIn(memberOf(answer, "run"));
  }
}

/** As JSON with lowerCamelCase, whatever it was; null for what is no such message. */
function decoded(schema: DescMessage, contentType: string, body: Uint8Array): JsonValue {
  try {
    const isBinary = contentType.startsWith("application/proto");
    const json = () => fromJson(schema, JSON.parse(Buffer.from(body).toString()), { ignoreUnknownFields: true });
    return toJson(schema, isBinary ? fromBinary(schema, body) : json());
  } catch {
    return null;
  }
}

function runIn(value: JsonValue): RunName | null {
  const taskId = textAt(value, "taskId");
  return taskId === "" ? null : { taskId, fence: Number(memberOf(value, "fence") ?? 0) };
}

function refusalIn(body: Uint8Array): Pick<Call, "code" | "message"> {
  try {
    const said: JsonValue = JSON.parse(Buffer.from(body).toString());
    return { code: textAt(said, "code"), message: textAt(said, "message") };
  } catch {
    return { code: "", message: "" };
  }
}

const memberOf = (value: JsonValue, name: string): JsonValue =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value[name] ?? null) : null;

function textAt(value: JsonValue, name: string): string {
  const member = memberOf(value, name);
  return typeof member === "string" ? member : "";
}
