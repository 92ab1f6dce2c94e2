export type { Answered, Called } from "./called.ts";
export {
  type AnswerOf,
  type CallArguments,
  type Envelope,
  type ItemOf,
  type OperationName,
  operationNames,
  type PagedName,
  type RequestOf,
  type Resource,
  type RpcName,
  rpcNames,
} from "./calls.ts";
export {
  type Client,
  type CreateTask,
  clientOver,
  createClient,
  type Tasks,
  type Webhooks,
} from "./client.ts";
export type { DeviceBegun } from "./device.ts";
export * from "./errors.ts";
export type { Files, Readable, UploadOptions, UploadProgress, UploadSource } from "./files.ts";
export type { ActionInputs } from "./generated/actions.ts";
export type * as rpc from "./generated/rpc.ts";
export type * from "./generated/v2.ts";
export type { JsonObject, JsonValue } from "./json.ts";
export type { ListenEvent, ListenOptions } from "./listen.ts";
export type { Logger, LogLevel, LogOptions } from "./log.ts";
export * from "./oauth.ts";
export { OAuthError } from "./oauth-error.ts";
export { type OutputReader, type OutputSchema, outputSchema, type StandardSchema } from "./output/output.ts";
export type { Paged } from "./pages.ts";
export type { WaitOptions } from "./settled.ts";
export {
  isQuestion,
  type MessageLike,
  type StartedTask,
  type TaskActions,
  type TaskHandle,
  type TaskStream,
} from "./task.ts";
export type {
  CallOptions,
  ClientOptions,
  Outgoing,
  StreamEvent,
  StreamOptions,
  TokenSource,
  Transport,
} from "./transport.ts";
export type { TextDeltaEvent, WatchEvent, WatchOptions } from "./watch.ts";
export * from "./webhooks.ts";
