import { vi } from "vitest";
import type { DatabaseKind } from "../support/database.ts";
import { openService, type Person, type Service } from "../support/service.ts";

/** The page that a saved site has. */
export const page = (text: string): string => `<!doctype html><title>${text}</title><p>${text}</p>`;

/** A platform that serves sites below `sites.test`. */
export const openSites = (database: DatabaseKind = "sqlite", idle = false): Promise<Service> =>
  openService({ database, idle, env: { SITES_DOMAIN: "sites.test" } });

/** What a person orders the offline agent to do, once it is done; the task's id. */
export async function order(person: Person, content: string, taskId?: string): Promise<string> {
  const message = { content };
  const { body } =
    taskId === undefined ? await person.v2("task.create", { message }) : await person.v2("task.sendMessage", { task_id: taskId, message });
  const id: string = taskId ?? body["task_id"];
  await person.v2("task.detail", { task_id: id, wait_seconds: 30 });
  return id;
}

/** A task with a site of one checkpoint. */
export const saveSite = (person: Person, text = "one"): Promise<string> => order(person, `[[site My site | ${page(text)}]]`);

/** Publishes a task's site and waits for the outcome; the status then. */
export async function publish(person: Person, taskId: string, visibility = "public") {
  const { status, body } = await person.v2("website.publish", { task_id: taskId, visibility });
  if (status !== 200) throw new Error(`refused: ${JSON.stringify(body)}`);
  let last = await person.v2("website.status", { task_id: taskId });
  await vi.waitUntil(
    async () => {
      last = await person.v2("website.status", { task_id: taskId });
      return last.body["publish_status"] !== "publishing";
    },
    { timeout: 20_000, interval: 5 },
  );
  return last.body;
}
