import type { JsonObject } from "@bufbuild/protobuf";
import type { Person } from "../support/service.ts";

/** Makes what a successful call needs, and answers its v2 body. */
type Prepare = (person: Person) => Promise<JsonObject>;

const nothing: Prepare = async () => ({});
const message = { content: "Say hello." };

const taskId = async (person: Person): Promise<JsonObject> => {
  const { body } = await person.v2("task.create", { message });
  return { task_id: body["task_id"] };
};

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
  "project.create": async () => ({ name: "Garden" }),
  "project.list": nothing,
  "skill.list": nothing,
  "connector.list": nothing,
  "browser.onlineList": nothing,
  "user.me": nothing,
};
