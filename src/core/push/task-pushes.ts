import { createHash } from "node:crypto";
import { type Caller, requireKeyScope } from "../accounts/caller.ts";
import { notFound } from "../failure.ts";
import type { Tx } from "../store.ts";
import type { PushConfig, PushKey } from "./push-config.ts";

/** The configurations that a list has at most. */
const listMax = 1_000;

/** A configuration as lists of webhooks show it. */
export interface TaskPush extends PushConfig {
  /** Names it outside of A2A. */
  readonly id: string;
}

/**
 * Ids of clients have up to 128 characters and are unique for a task only, so an id has the task and a digest
 * of the rest.
 */
const idOf = ({ taskId, clientId, configId }: PushKey): string =>
  `push_${taskId}_${createHash("sha256")
    .update(JSON.stringify([clientId, configId]))
    .digest("hex")
    .slice(0, 32)}`;
const idForm = /^push_(.+)_[0-9a-f]{32}$/;

/**
 * The configurations of the caller's account in the space, also those of apps, newest first: at most 1,000.
 * @throws Failure `permission_denied`
 */
export async function listTaskPushes(tx: Tx, caller: Caller): Promise<readonly TaskPush[]> {
  requireKeyScope(caller, "task:read");
  return (await tx.pushConfigs.ofAccount(caller, listMax)).map((config) => ({ ...config, id: idOf(config) }));
}

/** Whether a text has the form of the id of a configuration. Ids of webhooks do not. */
export const isTaskPushId = (id: string): boolean => idForm.test(id);

/**
 * Deletes a configuration of the caller's account. No request begins after it. @throws Failure `not_found`
 */
export async function removeTaskPush(tx: Tx, caller: Caller, id: string): Promise<void> {
  const configs = await tx.pushConfigs.ofTask(idForm.exec(id)?.[1] ?? "");
  const own = configs.find(
    (config) =>
      config.accountId === caller.accountId && config.spaceId === caller.spaceId && idOf(config) === id,
  );
  if (!own || !(await tx.pushConfigs.remove(own))) throw notFound("webhook");
  tx.audit.note({
    subject: id,
    before: { task: own.taskId, push: own.configId, host: new URL(own.url).host },
  });
}
