import type { Message } from "@bufbuild/protobuf";
import type { Task, TaskEvent } from "../../../packages/client/src/index.ts";
import type { RecordedClient } from "../shared/caller-client.ts";
import { unless } from "../shared/refusal.ts";
import { readTask } from "../shared/turn.ts";
import type { Agents } from "./agents.ts";
import type { ServiceParameters } from "./protocol.ts";
import type { PushUse } from "./push/use.ts";

/** One request of a caller. */
export interface Use extends ServiceParameters {
  readonly client: RecordedClient;
  /** The id of the caller's API key; empty for a token, whose records are those of its app and user. */
  readonly keyId: string;
  readonly agents: Agents;
  readonly push: PushUse;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export interface Item<M extends Message = Message> {
  readonly message: M;
  /** `seq` of the event of the item. */
  readonly seq?: number | undefined;
}

/** The newest events from which the history and the artifacts of a task are made. */
const eventsMax = 200;

/** The newest events of a task, oldest first. @throws ApiError */
export const readEvents = async ({ client }: Use, taskId: string): Promise<readonly TaskEvent[]> =>
  (await client.tasks.listMessages({ task_id: taskId, limit: eventsMax })).messages.toReversed();

/** The task with an id, if the caller can see one. @throws ApiError */
export const findTask = ({ client }: Use, id: string): Promise<Task | undefined> =>
  unless("not_found", readTask(client, id));
