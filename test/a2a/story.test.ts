import { type StreamResponse, TaskState, verifyAgentCardSignature } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import { beforeAll, expect, test, vi } from "vitest";
import { taskRig } from "../support/task-rig.ts";
import { type Token, tokenOf } from "../support/token.ts";
import { untilStatus } from "../support/until.ts";
import type { V2Body } from "../support/wires.ts";
import { a2aClient, asTask, bindings, data, factsOf, readCard, sending, stateIn, text, withEvents } from "./client.ts";

const rig = taskRig({ env: { A2A: "on", A2A_PROFILES: "manus-1.6,manus-1.6-lite" } });
let token: Token;
beforeAll(async () => {
  token = await tokenOf(rig.service, rig.ann, { scopes: ["create_task", "approve:task"] });
});

const words = "one two three four five six seven eight nine ten";
const story = `[[stream ${words}]] [[ask Which colour? | red | blue]] [[confirm terminalExecute]] [[file sums.csv | tea,12]] [[say Done]]`;

/** Create with deltas, a question, an approval and a file; then a turn that is stopped. */
async function tellByA2a(client: Client): Promise<string> {
  const { headers } = token;
  const asked: StreamResponse[] = [];
  for await (const item of client.sendMessageStream(sending(text(story)), withEvents(headers))) asked.push(item);
  const [first] = asked;
  if (first?.payload?.$case !== "task") throw new Error("a stream begins with the task");
  const { id: taskId, contextId } = first.payload.value;
  expect(stateIn(asked)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
  // Deltas are hints: a slow machine misses some of them (spec/api.md 8.72).
  expect(factsOf(asked).some(({ delta }) => delta !== undefined && words.includes(delta.text))).toBe(true);

  const options = withEvents(headers);
  const waiting = asTask(await client.sendMessage(sending(text("blue"), { taskId, contextId }), options));
  expect(waiting.status?.state).toBe(TaskState.TASK_STATE_AUTH_REQUIRED);
  const facts = waiting.status?.message?.parts.at(-1)?.content;
  // biome-ignore lint/suspicious/noExplicitAny: the part is JSON of the server
  const { event_id } = (facts?.$case === "data" ? facts.value : {}) as any;
  const done = asTask(await client.sendMessage(sending(data({ event_id, input: { accept: true } }), { taskId }), options));
  expect(done.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  expect(done.history.at(-1)?.parts[0]?.content).toEqual(done.status?.message?.parts[0]?.content);
  expect(done.artifacts.flatMap(({ parts }) => parts.map(({ filename }) => filename))).toContain("sums.csv");

  await client.sendMessage(sending(text("[[forever]]"), { contextId, returnImmediately: true }), options);
  await untilStatus(rig.service.store, taskId, "running");
  const canceled = await client.cancelTask({ tenant: "", id: taskId, metadata: undefined }, options);
  expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
  await checkReplay(client, taskId);
  return taskId;
}

/** A client that was cut off at any event gets exactly those that follow, as `task.watch` sends them. */
async function checkReplay(client: Client, id: string): Promise<void> {
  const watched = await rig.events(id);
  for (const lastSeq of [0, 5, watched.length]) {
    const items: StreamResponse[] = [];
    for await (const item of client.resubscribeTask({ tenant: "", id }, withEvents(token.headers, lastSeq))) items.push(item);
    const events = factsOf(items).flatMap(({ event }) => event ?? []);
    expect(events.map(({ id, seq }) => [id, seq])).toEqual(watched.slice(lastSeq).map(({ id, seq }) => [id, seq]));
    expect(plain(events)).toEqual(plain(watched.slice(lastSeq)));
    expect(stateIn(items)).toBe(TaskState.TASK_STATE_CANCELED);
  }
}

async function tellByV2(): Promise<string> {
  const { store } = rig.service;
  const id = await rig.create(story, { interactive_mode: true });
  await untilStatus(store, id, "waiting");
  await rig.send(id, "blue");
  const readWait = async () => (await rig.ann.v2("task.detail", { task_id: id })).body["task"].status_detail;
  await expect.poll(async () => (await readWait())?.waiting_for_event_type).toBe("terminalExecute");
  const { waiting_for_event_id: event_id } = await readWait();
  await rig.ann.v2("task.confirmAction", { task_id: id, event_id, input: { accept: true } });
  await untilStatus(store, id, "stopped");
  await rig.send(id, "[[forever]]");
  await rig.ann.v2("task.stop", { task_id: id });
  await untilStatus(store, id, "stopped");
  return id;
}

/** Events without what differs from task to task, and from one reading to the next. */
const plain = (events: readonly V2Body[]): unknown =>
  JSON.parse(
    JSON.stringify(
      events.map(({ timestamp: _, ...event }) => event),
      (name, value) => (/^(id|url|action_id|step_id|waiting_for_event_id|started_at|end_at)$/.test(name) ? `a ${name}` : value),
    ),
  );
const recorded = async (id: string): Promise<unknown> => plain(await rig.events(id));

test("one story has the same events by v2 and over each binding of A2A, and a subscription repeats them from any seq (spec/api.md 8.107)", async () => {
  const expected = await recorded(await tellByV2());
  const card = await readCard(rig.service.url);
  for (const binding of bindings)
    expect(await recorded(await tellByA2a(await a2aClient(rig.service.url, card, binding)))).toEqual(expected);
});

test("cards are public for the agents of A2A_PROFILES only, and signed with a published key (spec/api.md 8.107)", async () => {
  const { url } = rig.service;
  // biome-ignore lint/suspicious/noExplicitAny: answers are read as the client sees them
  const jsonOf = async (answer: Response): Promise<any> => answer.json();
  const { keys } = await jsonOf(await fetch(`${url}/oauth/jwks`));
  const verify = verifyAgentCardSignature(async (kid, jku) => {
    expect(jku).toMatch(/\/oauth\/jwks$/);
    return keys.find((key: { readonly kid: string }) => key.kid === kid);
  });
  const main = await readCard(url);
  expect(main.supportedInterfaces.map(({ protocolBinding, tenant }) => [protocolBinding, tenant])).toEqual(
    bindings.map((binding) => [binding, "manus-1.6"]),
  );
  const lite = await readCard(url, "manus-1.6-lite");
  expect(lite.name).toBe("Lite");
  const client = await a2aClient(url, lite, "HTTP+JSON");
  expect((await client.getAgentCard(withEvents(rig.ann.headers))).name).toBe("Lite");
  // The library verifies cards as they are sent, and not those that it has read.
  const sent = [
    await fetch(`${url}/.well-known/agent-card.json`),
    await fetch(`${url}/a2a/manus-1.6-lite/extendedAgentCard`, { headers: { ...rig.ann.headers, "a2a-version": "1.0" } }),
  ];
  for (const answer of sent) await verify(await jsonOf(answer));
  vi.spyOn(console, "debug").mockReturnValue();
  await expect(verify({ ...main, name: "Another" })).rejects.toThrow();
  for (const agent of ["manus-1.6-max", "unknown"])
    expect((await fetch(`${url}/a2a/${agent}/.well-known/agent-card.json`)).status).toBe(404);
});
