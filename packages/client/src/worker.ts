export * from "./errors.ts";
export type { ActionInputs } from "./generated/actions.ts";
export type * from "./generated/worker.ts";
export type { JsonObject, JsonValue } from "./json.ts";
export type { Logger, LogLevel, LogOptions } from "./log.ts";
export { RunLostError } from "./worker/calls.ts";
export { type TestAnswer, type TestedTurn, type TestTurnOptions, testTurn } from "./worker/test-turn.ts";
export {
  type Decided,
  type Ending,
  Suspended,
  type Turn,
  TurnFailure,
  type TurnResult,
} from "./worker/turn.ts";
export { type Agent, createWorker, type Worker, type WorkerOptions } from "./worker/worker.ts";
export type { WriteOptions } from "./worker/writer.ts";
