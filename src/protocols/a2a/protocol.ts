import type { DescMethod } from "@bufbuild/protobuf";
import { invalidArgument } from "../../core/failure.ts";
import { A2aFailure } from "./problem.ts";

/** The protocol's version in cards. */
export const protocolVersion = "1.0";
/** The extension with the platform's own events and their `seq`. */
export const eventsExtension = "urn:agent-task-platform:a2a:events:v1";

/** The largest request: a file of 20 MB in base64 and its text. */
export const requestBytesMax = 28 * 1_048_576;
/** The address of JSON-RPC; those of HTTP+JSON are below it. */
export const basePath = "/a2a";

/** Reads a header or a gRPC metadata by its lower-case name. */
export type ReadHeader = (name: string) => string | null | undefined;

/** What the headers of a request say, in each binding (A2A 1.0, 3.2.6). */
export interface ServiceParameters {
  /** The client activates the extension with events. */
  readonly hasEvents: boolean;
  /** `seq` of the last event that the client has; undefined when absent. */
  readonly lastSeq: number | undefined;
}

/**
 * Reads the service parameters. A request without version counts as one of version 0.3 (A2A 1.0, 3.6.2),
 * which is not served.
 *
 * @throws Failure
 */
export function serviceParameters(header: ReadHeader): ServiceParameters {
  const version = header("a2a-version")?.trim() || "0.3";
  if (!/^1\.0(?:\.\d{1,4})?$/.test(version))
    throw new A2aFailure(
      "VERSION_NOT_SUPPORTED",
      `A2A-Version: must be ${protocolVersion}; a request without it counts as 0.3, which is not supported`,
    );
  const extensions = (header("a2a-extensions") ?? "").split(",").map((uri) => uri.trim());
  const last = header("last-event-id") ?? "";
  if (!/^\d{0,9}$/.test(last)) throw invalidArgument("Last-Event-ID", "must be the seq of an event");
  return { hasEvents: extensions.includes(eventsExtension), lastSeq: last === "" ? undefined : Number(last) };
}

/**
 * The HTTP method and the path of a method below the base, with names of fields in braces (A2A 1.0, 11.3).
 */
type RestRule = readonly [http: "GET" | "POST" | "DELETE", path: string];

/** SubscribeToTask is GET in the specification, and POST in its SDKs. */
export const restRules: readonly (readonly [method: string, ...RestRule])[] = [
  ["SendMessage", "POST", "/message:send"],
  ["SendStreamingMessage", "POST", "/message:stream"],
  ["ListTasks", "GET", "/tasks"],
  ["CancelTask", "POST", "/tasks/{id}:cancel"],
  ["SubscribeToTask", "GET", "/tasks/{id}:subscribe"],
  ["SubscribeToTask", "POST", "/tasks/{id}:subscribe"],
  ["GetTask", "GET", "/tasks/{id}"],
  ["CreateTaskPushNotificationConfig", "POST", "/tasks/{taskId}/pushNotificationConfigs"],
  ["ListTaskPushNotificationConfigs", "GET", "/tasks/{taskId}/pushNotificationConfigs"],
  ["GetTaskPushNotificationConfig", "GET", "/tasks/{taskId}/pushNotificationConfigs/{id}"],
  ["DeleteTaskPushNotificationConfig", "DELETE", "/tasks/{taskId}/pushNotificationConfigs/{id}"],
  ["GetExtendedAgentCard", "GET", "/extendedAgentCard"],
];

/** Whether a method answers with a stream. */
export const isStream = ({ methodKind }: DescMethod): boolean => methodKind === "server_streaming";
