import type { StreamResponse } from "@a2a-js/sdk";
import { TaskState } from "@a2a-js/sdk";
import { expect } from "vitest";
import {
  a2aClient,
  asTask,
  type Binding,
  data,
  factsOf,
  readCard,
  sending,
  stateIn,
  text,
  withEvents,
} from "../a2a/client.ts";
import { tokenOf } from "../support/token.ts";
import { untilStatus } from "../support/until.ts";
import { eventsOf, isPart, plain, type RunStory, storyMessage } from "./story.ts";

/** Runs the story over a binding of A2A, as an app that may approve. */
export const storyByA2a =
  (binding: Binding): RunStory =>
  async ({ service, person, did }) => {
    const { url, store } = service;
    const client = await a2aClient(url, await readCard(url), binding);
    const { headers } = await tokenOf(service, person, { scopes: ["create_task", "approve:task"] });
    const options = withEvents(headers);
    const asked: StreamResponse[] = [];
    for await (const item of client.sendMessageStream(sending(text(storyMessage)), options)) asked.push(item);
    const [first] = asked;
    if (first?.payload?.$case !== "task") throw new Error("a stream begins with the task");
    const { id: taskId, contextId } = first.payload.value;
    did("create");
    expect(factsOf(asked).some(({ delta }) => isPart(delta?.text))).toBe(true);
    did("delta");
    expect(stateIn(asked)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    did("question");

    const waiting = asTask(await client.sendMessage(sending(text("blue"), { taskId, contextId }), options));
    did("answer");
    expect(waiting.status?.state).toBe(TaskState.TASK_STATE_AUTH_REQUIRED);
    const facts = waiting.status?.message?.parts.at(-1)?.content;
    // biome-ignore lint/suspicious/noExplicitAny: the part is JSON of the server
    const { event_id } = (facts?.$case === "data" ? facts.value : {}) as any;
    const done = asTask(
      await client.sendMessage(sending(data({ event_id, input: { accept: true } }), { taskId }), options),
    );
    expect(done.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    did("approval");
    expect(done.history.at(-1)?.parts[0]?.content).toEqual(done.status?.message?.parts[0]?.content);
    const [file] = done.artifacts.flatMap(({ parts }) =>
      parts.filter(({ filename }) => filename === "sums.csv"),
    );
    expect(await (await fetch(file?.content?.$case === "url" ? file.content.value : "")).text()).toBe(
      "tea,12",
    );
    did("file");

    await client.sendMessage(sending(text("[[forever]]"), { contextId, returnImmediately: true }), options);
    await untilStatus(store, taskId, "running");
    const canceled = await client.cancelTask({ tenant: "", id: taskId, metadata: undefined }, options);
    expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    did("stop");

    // A client that was cut off at any event gets exactly those that follow.
    const recorded = await eventsOf(person, taskId);
    for (const lastSeq of [0, 5, recorded.length]) {
      const items: StreamResponse[] = [];
      for await (const item of client.resubscribeTask(
        { tenant: "", id: taskId },
        withEvents(headers, lastSeq),
      ))
        items.push(item);
      const events = factsOf(items).flatMap(({ event }) => event ?? []);
      expect(events.map(({ id, seq }) => [id, seq])).toEqual(
        recorded.slice(lastSeq).map(({ id, seq }) => [id, seq]),
      );
      expect(plain(events)).toEqual(plain(recorded.slice(lastSeq)));
      expect(stateIn(items)).toBe(TaskState.TASK_STATE_CANCELED);
    }
    return taskId;
  };
