import { create, type JsonObject } from "@bufbuild/protobuf";
import type { Task, TaskEvent, WatchEvent } from "../../../packages/client/src/index.ts";
import { type StreamResponse, StreamResponseSchema, TaskState } from "../../gen/proto/lf/a2a/v1/a2a_pb.ts";
import { watchTurn } from "../shared/caller-client.ts";
import { readTask } from "../shared/turn.ts";
import { eventsExtension } from "./protocol.ts";
import {
  artifactOf,
  messageOf,
  placeOf,
  type ShownTask,
  type StatusInit,
  statusOf,
  type TaskPlace,
  taskOf,
} from "./task.ts";
import { type Item, readEvents, type Use } from "./use.ts";

type Update = Item<StreamResponse>;

/**
 * Follows a task from the event after `afterSeq` until it is over or waits: first the task, then its events
 * in order, at last the state in which it is. With the extension every event is an update, and the text that
 * the agent writes now too; without it only those that say something in the protocol.
 */
export async function* follow(task: Task, afterSeq: number, use: Use): AsyncGenerator<Update> {
  const place = placeOf(task);
  const { taskId } = place;
  const snapshot = taskOf(task, [], 0);
  yield { message: create(StreamResponseSchema, { payload: { case: "task", value: snapshot } }) };
  let seq = afterSeq;
  let now = task;
  do {
    for await (const item of watchTurn(use.client, taskId, seq)) {
      if (item.type !== "text_delta") seq = item.seq;
      yield* updatesOf(item, place, use.hasEvents);
    }
    now = await readTask(use.client, taskId);
    // A message can arrive after the end of the watch.
  } while (now.status === "running");
  yield restUpdate(now, await readEvents(use, taskId), seq, use.hasEvents);
}

/**
 * The state of a task that does not run. @param events its newest events, oldest first. @param seq of the
 * newest one.
 */
export const restUpdate = (
  task: ShownTask,
  events: readonly TaskEvent[],
  seq: number,
  hasEvents: boolean,
): Update =>
  statusUpdate(placeOf(task), statusOf(task, events), { seq, ...(hasEvents && { facts: { seq } }) });

/** What an event, or a part of a text, is in the protocol: nothing, or one update. */
export function* updatesOf(item: WatchEvent, place: TaskPlace, hasEvents: boolean): Generator<Update> {
  if (item.type === "text_delta") {
    if (hasEvents) yield statusUpdate(place, working, { facts: { delta: item.delta } });
    return;
  }
  const { seq } = item;
  const artifact = artifactOf(item);
  const status = textStatus(item, place);
  const facts = hasEvents ? { seq, event: item } : undefined;
  if (artifact) {
    const value = { ...place, artifact, lastChunk: true, ...metadata(facts) };
    yield { seq, message: create(StreamResponseSchema, { payload: { case: "artifactUpdate", value } }) };
  } else if (status || facts) yield statusUpdate(place, status ?? working, { seq, facts });
}

const working = { state: TaskState.WORKING };

/**
 * The state while the agent speaks; undefined for an event that says nothing. The last update of a stream has
 * questions.
 */
function textStatus(event: TaskEvent, place: TaskPlace): StatusInit | undefined {
  const isSpeech = event.type === "assistant_message" && event.assistant_message.delivery_kind === "progress";
  const message = isSpeech ? messageOf(event, place) : undefined;
  return message && { state: TaskState.WORKING, message };
}

function statusUpdate(
  place: TaskPlace,
  status: StatusInit,
  { seq, facts }: { readonly seq?: number; readonly facts?: object | undefined },
): Update {
  const value = { ...place, status, ...metadata(facts) };
  return { seq, message: create(StreamResponseSchema, { payload: { case: "statusUpdate", value } }) };
}

/** The facts of the extension. They are JSON. */
const metadata = (facts: object | undefined): { readonly metadata?: JsonObject } =>
  facts ? { metadata: { [eventsExtension]: facts as JsonObject } } : {};
