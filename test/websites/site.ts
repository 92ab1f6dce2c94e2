import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { connect } from "node:http2";
import { buffer } from "node:stream/consumers";
import { vi } from "vitest";
import type { Clock } from "../../src/core/clock.ts";
import type { Checkpoint } from "../../src/core/websites/checkpoint.ts";
import type { ProveDomain } from "../../src/core/websites/domain.ts";
import { type FilePlatform, openFilePlatform } from "../files/files-rig.ts";
import type { DatabaseKind } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import { hangMs } from "../support/patience.ts";
import type { Person } from "../support/service.ts";
import { type SiteTree, saveTree } from "./tree.ts";

/** The page of a saved site. */
export const page = (text: string): string => `<!doctype html><title>${text}</title><p>${text}</p>`;

/** A platform that serves sites below `sites.test`. */
export interface SiteRig extends FilePlatform {
  /** Saves a checkpoint of a task's site, as an agent's event does. */
  save(taskId: string, files: SiteTree, message?: string): Promise<Checkpoint>;
  /** Sends a request to a website's host. */
  visit(host: string, path?: string, options?: VisitOptions): Promise<VisitResponse>;
}

export interface SiteRigOptions {
  readonly idle?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly prove?: ProveDomain;
  readonly clock?: Clock;
}

export async function openSiteRig(
  kind: DatabaseKind = "sqlite",
  { idle = false, env = {}, ...more }: SiteRigOptions = {},
): Promise<SiteRig> {
  const rig = await openFilePlatform(kind, { idle, env: { SITES_DOMAIN: "sites.test", ...env }, ...more });
  const { store } = rig.service;
  return {
    ...rig,
    save: (taskId, files, message = "Saved") => saveTree(store, rig.folder, taskId, files, message),
    visit: (host, path, options) => visit(rig.service.nodes[0]?.url ?? "", host, path, options),
  };
}

/** The parts of a visitor's request other than host and path. */
export interface VisitOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A visitor's response. */
export interface VisitResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Visits over HTTP/1.1, with any host and target. */
export function visit(
  url: string,
  host: string,
  path = "/",
  { method = "GET", headers = {} }: VisitOptions = {},
): Promise<VisitResponse> {
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<VisitResponse>();
  const request = httpRequest(
    { host: hostname, port, path, method, agent: false, headers: { host, ...headers } },
    (response) => {
      buffer(response).then(
        (bytes) =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text: bytes.toString() }),
        reject,
      );
    },
  );
  request.once("error", reject).end();
  return promise;
}

/** Visits over cleartext HTTP/2. */
export async function visitHttp2(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<VisitResponse> {
  const session = connect(url);
  try {
    const stream = session.request({ ":method": "GET", ":path": "/", ...headers });
    const { promise, resolve, reject } = Promise.withResolvers<IncomingHttpHeaders>();
    stream.once("response", resolve).once("error", reject);
    const { ":status": status, ...fields } = (await promise) as IncomingHttpHeaders & {
      readonly ":status"?: number;
    };
    return { status: Number(status), headers: fields, text: (await buffer(stream)).toString() };
  } finally {
    session.close();
  }
}

/** Runs a task of the offline agent to its end; returns the task's id. */
export async function runOfflineTask(person: Person, content: string, taskId?: string): Promise<string> {
  const message = { content };
  const call =
    taskId === undefined
      ? person.v2("task.create", { message })
      : person.v2("task.sendMessage", { task_id: taskId, message });
  const id: string = taskId ?? (await call).body["task_id"];
  await call;
  await person.v2("task.detail", { task_id: id, wait_seconds: 30 });
  return id;
}

/** Creates a task with a site of one checkpoint. */
export const saveSite = (person: Person, text = "one"): Promise<string> =>
  runOfflineTask(person, `[[site My site | ${page(text)}]]`);

/** Publishes a task's site and waits for the outcome; returns the status then. */
export async function publish(person: Person, taskId: string, visibility = "public") {
  const { status, body } = await person.v2("website.publish", { task_id: taskId, visibility });
  if (status !== 200) throw new Error(`refused: ${JSON.stringify(body)}`);
  return settledStatus(person, taskId);
}

/** The status of a task's site once no publication is pending. */
export async function settledStatus(person: Person, taskId: string) {
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

/** Removes a colleague from the team of its owner. */
export async function removeMember(rig: SiteRig, owner: Person, { accountId }: Person): Promise<void> {
  const manager = await rig.service.person({ as: owner, with: owner, kind: "team_user_mgmt" });
  const [member] = await runDirectly(
    rig.database,
    `SELECT id FROM membership WHERE account_id = '${accountId}'`,
  );
  const { status, body } = await manager.v2("team.user.remove", { team_user_id: member?.["id"] });
  if (status !== 200) throw new Error(`refused: ${JSON.stringify(body)}`);
}

/** The host of a published site. */
export const hostOf = (status: { readonly [member: string]: string[] | unknown }): string =>
  new URL(String((status["site_urls"] as string[])[0])).host; // as the specification defines it
