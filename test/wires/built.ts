import type { JsonObject } from "@bufbuild/protobuf";
import type { Store } from "../../src/core/store.ts";
import { eventId } from "../../src/core/tasks/event.ts";
import { confirm } from "../../src/core/tasks/lifecycle.ts";
import type { Person } from "../support/service.ts";

/** Makes what a successful call needs, and answers its v2 body; the store is for what only a running agent could do. */
type Prepare = (person: Person, store: Store) => Promise<JsonObject>;

const nothing: Prepare = async () => ({});
const message = { content: "Say hello." };

const taskId = async (person: Person): Promise<JsonObject> => {
  const { body } = await person.v2("task.create", { message });
  return { task_id: body["task_id"] };
};

/** Lets a task that nobody runs ask for an approval, and answers the event that asks. */
async function approvalOf(store: Store, id: string): Promise<string> {
  const waits = { kind: "terminalExecute", variant: "", actionId: "a" } as const;
  const { set, events } = confirm(waits);
  return store.change(async (tx) => {
    const task = await tx.tasks.advance(id, { now: 1, set, events });
    if (!task) throw new Error("no such task");
    const seq = task.lastSeq - 1;
    const { spaceId } = task;
    await tx.actions.insert({ taskId: id, seq, spaceId, ...waits, state: "pending", input: null });
    return eventId(id, seq);
  });
}

/** Every operation that is built, with a call that succeeds; whatever is not here answers `unimplemented`. */
export const built: Readonly<Record<string, Prepare>> = {
  "task.create": async () => ({ message }),
  "task.detail": taskId,
  "task.list": nothing,
  "task.update": async (person) => ({ ...(await taskId(person)), title: "Hello" }),
  "task.stop": taskId,
  async "task.delete"(person) {
    const task = await taskId(person);
    await person.v2("task.stop", task);
    return task;
  },
  "task.sendMessage": async (person) => ({ ...(await taskId(person)), message }),
  "task.listMessages": taskId,
  async "task.watch"(person) {
    const task = await taskId(person);
    await person.v2("task.stop", task);
    return { ...task, until_settled: true };
  },
  async "task.confirmAction"(person, store) {
    const { task_id } = await taskId(person);
    return { task_id: String(task_id), event_id: await approvalOf(store, String(task_id)), input: { accept: true } };
  },
  "project.create": async () => ({ name: "Garden" }),
  "project.list": nothing,
  "skill.list": nothing,
  "connector.list": nothing,
  "browser.onlineList": nothing,
  "user.me": nothing,
};
