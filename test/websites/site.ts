import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { connect } from "node:http2";
import { buffer } from "node:stream/consumers";
import { vi } from "vitest";
import type { Checkpoint } from "../../src/core/websites/checkpoint.ts";
import { type FileTown, fileTown } from "../files/files-rig.ts";
import type { DatabaseKind } from "../support/database.ts";
import { hangMs } from "../support/patience.ts";
import type { Person } from "../support/service.ts";
import { type SiteTree, saveTree } from "./tree.ts";

/** The page that a saved site has. */
export const page = (text: string): string => `<!doctype html><title>${text}</title><p>${text}</p>`;

/** A platform that serves sites below `sites.test`. */
export interface SiteTown extends FileTown {
  /** Saves a checkpoint of a task's site, as an agent's event does. */
  save(taskId: string, files: SiteTree, message?: string): Promise<Checkpoint>;
  /** Asks for something on a website's host. */
  visit(host: string, path?: string, ask?: Ask): Promise<Visited>;
}

export interface SiteTownOptions {
  readonly idle?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

export async function siteTown(kind: DatabaseKind = "sqlite", { idle = false, env = {} }: SiteTownOptions = {}): Promise<SiteTown> {
  const town = await fileTown(kind, { idle, env: { SITES_DOMAIN: "sites.test", ...env } });
  const { store } = town.service;
  return {
    ...town,
    save: (taskId, files, message = "Saved") => saveTree(store, town.folder, taskId, files, message),
    visit: (host, path, ask) => visit(town.service.nodes[0]?.url ?? "", host, path, ask),
  };
}

/** What a visitor says beside host and path. */
export interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a visitor got. */
export interface Visited {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Over HTTP/1.1, with whatever host and target. */
export function visit(url: string, host: string, path = "/", { method = "GET", headers = {} }: Ask = {}): Promise<Visited> {
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<Visited>();
  const asked = httpRequest({ host: hostname, port, path, method, agent: false, headers: { host, ...headers } }, (response) => {
    buffer(response).then(
      (bytes) => resolve({ status: response.statusCode ?? 0, headers: response.headers, text: bytes.toString() }),
      reject,
    );
  });
  asked.once("error", reject).end();
  return promise;
}

/** Over cleartext HTTP/2. */
export async function visitHttp2(url: string, headers: Readonly<Record<string, string>>): Promise<Visited> {
  const session = connect(url);
  try {
    const stream = session.request({ ":method": "GET", ":path": "/", ...headers });
    const { promise, resolve, reject } = Promise.withResolvers<IncomingHttpHeaders>();
    stream.once("response", resolve).once("error", reject);
    const { ":status": status, ...fields } = (await promise) as IncomingHttpHeaders & { readonly ":status"?: number };
    return { status: Number(status), headers: fields, text: (await buffer(stream)).toString() };
  } finally {
    session.close();
  }
}

/** What a person orders the offline agent to do, once it is done; the task's id. */
export async function order(person: Person, content: string, taskId?: string): Promise<string> {
  const message = { content };
  const call = taskId === undefined ? person.v2("task.create", { message }) : person.v2("task.sendMessage", { task_id: taskId, message });
  const id: string = taskId ?? (await call).body["task_id"];
  await call;
  await person.v2("task.detail", { task_id: id, wait_seconds: 30 });
  return id;
}

/** A task with a site of one checkpoint. */
export const saveSite = (person: Person, text = "one"): Promise<string> => order(person, `[[site My site | ${page(text)}]]`);

/** Publishes a task's site and waits for the outcome; the status then. */
export async function publish(person: Person, taskId: string, visibility = "public") {
  const { status, body } = await person.v2("website.publish", { task_id: taskId, visibility });
  if (status !== 200) throw new Error(`refused: ${JSON.stringify(body)}`);
  return settled(person, taskId);
}

/** The status of a task's site as soon as nothing of it is being published. */
export async function settled(person: Person, taskId: string) {
  let last = await person.v2("website.status", { task_id: taskId });
  await vi.waitUntil(
    async () => {
      last = await person.v2("website.status", { task_id: taskId });
      return last.body["publish_status"] !== "publishing";
    },
    { timeout: hangMs, interval: 5 },
  );
  return last.body;
}

/** The host of a published site. */
export const hostOf = (status: { readonly [member: string]: string[] | unknown }): string =>
  new URL(String((status["site_urls"] as string[])[0])).host; // as the contract has it
