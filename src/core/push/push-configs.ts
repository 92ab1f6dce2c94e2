import { appOf, type Caller, keyOf, requireKeyScope } from "../accounts/caller.ts";
import { type AddressRules, checkWebhookUrl } from "../addresses/address.ts";
import type { Cipher } from "../cipher.ts";
import type { Clock } from "../clock.ts";
import { Failure, invalidArgument, notFound } from "../failure.ts";
import type { Ids } from "../ids.ts";
import { type CursorBinding, decodeCursor, encodeCursor, type Page } from "../pagination/page.ts";
import type { Tx } from "../store.ts";
import {
  openPushSecrets,
  type PushConfig,
  type PushSecrets,
  pushScopes,
  sealPushSecrets,
} from "./push-config.ts";

/** Configurations of one task. */
export const pushConfigsMax = 10;
const urlMax = 2048;
const idMax = 128;
const schemeMax = 64;
const tokenMax = 1024;
const credentialsMax = 4096;
const pageMax = 100;

/** A configuration as its owner reads it: secrets are never answered (spec/decisions.md 148). */
export interface PushView extends Pick<PushConfig, "taskId" | "configId" | "url"> {
  /** The scheme of `Authorization`; absent without authentication. */
  readonly scheme?: string | undefined;
}

export interface PushInput extends Pick<PushConfig, "taskId" | "url" | "hasEvents"> {
  /** Empty: one is made. */
  readonly configId: string;
  readonly secrets: PushSecrets;
  /** Events after this one are sent; absent: those after the newest. */
  readonly afterSeq?: number | undefined;
}

export interface PushPage {
  /** 0: the largest page. */
  readonly size: number;
  /** Empty: the first page. */
  readonly token: string;
}

/**
 * Configurations of push notifications. A caller reaches those of its app, or without one those that no app
 * made, for tasks that it may see.
 */
export interface PushConfigs {
  /**
   * Checks that `create` would accept the request now. @param input an empty task id is that of a task to
   * come. @throws Failure as `create`
   */
  check(tx: Tx, caller: Caller, input: PushInput): Promise<void>;
  /**
   * Creates a configuration, or replaces the one with this id. @throws Failure `invalid_argument`,
   * `not_found`, `permission_denied`, `resource_exhausted`
   */
  create(tx: Tx, caller: Caller, input: PushInput): Promise<PushView>;
  /** @throws Failure `not_found` */
  get(tx: Tx, caller: Caller, taskId: string, configId: string): Promise<PushView>;
  /** Oldest first. @throws Failure `not_found` for the task, `invalid_argument` */
  list(tx: Tx, caller: Caller, taskId: string, page: PushPage): Promise<Page<PushView>>;
  /**
   * Deletes a configuration, if it exists (A2A 1.0, 3.1.10). @throws Failure `not_found` for the task,
   * `permission_denied`
   */
  remove(tx: Tx, caller: Caller, taskId: string, configId: string): Promise<void>;
}

export interface PushParts {
  readonly clock: Pick<Clock, "now">;
  readonly ids: Pick<Ids, "short">;
  readonly cipher: Pick<Cipher, "seal" | "open">;
  readonly rules: AddressRules;
  /** Notifies the sender of this process of a new configuration, after the commit. */
  readonly created: (taskId: string) => void;
}

export function pushConfigs({ clock, ids, cipher, rules, created }: PushParts): PushConfigs {
  const viewOf = (config: PushConfig): PushView => {
    const { taskId, configId, url } = config;
    return { taskId, configId, url, scheme: openPushSecrets(cipher, config).scheme };
  };

  return {
    async check(tx, caller, input) {
      checkScopes(caller);
      checkInput(input, rules);
      if (input.taskId === "") return;
      const configs = await tx.pushConfigs.ofTask(input.taskId);
      if (!configs.some(hasKey({ clientId: clientOf(caller), configId: input.configId }))) findOver(configs);
    },

    async create(tx, caller, input) {
      checkScopes(caller);
      const url = checkInput(input, rules);
      const task = await tx.tasks.lock(caller, input.taskId);
      if (!task) throw notFound("task");
      const key = { taskId: task.id, clientId: clientOf(caller), configId: input.configId || ids.short() };
      const before = await tx.pushConfigs.ofTask(task.id);
      if (!before.some(hasKey(key))) await makeRoom(tx, before);
      const config: PushConfig = {
        ...key,
        accountId: task.accountId,
        spaceId: task.spaceId,
        url,
        hasEvents: input.hasEvents,
        state: "active",
        secrets: sealPushSecrets(cipher, key, input.secrets),
        sentSeq: input.afterSeq ?? task.lastSeq,
        attempts: 0,
        nextAt: clock.now(),
        claim: null,
        lastError: null,
        createdAt: clock.now(),
        apiKeyId: keyOf(caller),
      };
      await tx.pushConfigs.put(config);
      tx.audit.note({ subject: task.id, after: { push: key.configId, host: new URL(url).host } });
      tx.afterCommit(() => created(task.id));
      return viewOf(config);
    },

    async get(tx, caller, taskId, configId) {
      const config = (await ownConfigs(tx, caller, taskId)).find((each) => each.configId === configId);
      if (!config) throw notFound("push notification configuration");
      return viewOf(config);
    },

    async list(tx, caller, taskId, { size, token }) {
      if (size < 0 || size > pageMax)
        throw invalidArgument("page_size", `must be from 1 to ${pageMax}, or 0 for the largest page`);
      const { accountId, spaceId } = caller;
      const binding: CursorBinding = {
        accountId,
        spaceId,
        clientId: clientOf(caller),
        operation: "push.list",
        filter: { taskId },
      };
      const after = token === "" ? undefined : decodeCursor(binding, token, "page_token");
      const rest = (await ownConfigs(tx, caller, taskId)).filter(
        (config) => after === undefined || isAfter(config, after),
      );
      const items = rest.slice(0, size || pageMax);
      const last = items.at(-1);
      const next =
        last && items.length < rest.length
          ? encodeCursor(binding, { value: last.createdAt, id: last.configId })
          : undefined;
      return { items: items.map(viewOf), next };
    },

    async remove(tx, caller, taskId, configId) {
      checkScopes(caller);
      const task = await tx.tasks.lock(caller, taskId);
      if (!task) throw notFound("task");
      await tx.pushConfigs.remove({ taskId: task.id, clientId: clientOf(caller), configId });
      tx.audit.note({ subject: task.id, before: { push: configId } });
    },
  };
}

function checkScopes(caller: Caller): void {
  for (const scope of pushScopes) requireKeyScope(caller, scope);
}

const clientOf = (caller: Caller): string => appOf(caller) ?? "";

const hasKey =
  (key: Pick<PushConfig, "clientId" | "configId">) =>
  ({ clientId, configId }: PushConfig): boolean =>
    clientId === key.clientId && configId === key.configId;

const isAfter = (
  { createdAt, configId }: PushConfig,
  { value, id }: { value: number; id: string },
): boolean => createdAt > value || (createdAt === value && configId > id);

/** The caller's configurations of a task. @throws Failure `not_found` for the task */
async function ownConfigs(tx: Tx, caller: Caller, taskId: string): Promise<readonly PushConfig[]> {
  const task = await tx.tasks.find(caller, taskId);
  if (!task) throw notFound("task");
  return (await tx.pushConfigs.ofTask(task.id)).filter(({ clientId }) => clientId === clientOf(caller));
}

/** Removes the oldest configuration that no longer sends when the task has all that it can have. */
async function makeRoom(tx: Tx, configs: readonly PushConfig[]): Promise<void> {
  const over = findOver(configs);
  if (over) await tx.pushConfigs.remove(over);
}

/**
 * The configuration that gives way to a new one; undefined when there is room. @throws Failure
 * `resource_exhausted`
 */
function findOver(configs: readonly PushConfig[]): PushConfig | undefined {
  if (configs.length < pushConfigsMax) return undefined;
  const over = configs.find(({ state }) => state !== "active");
  if (over) return over;
  throw new Failure(
    "resource_exhausted",
    `a task has at most ${pushConfigsMax} push notification configurations: delete one`,
  );
}

/** Returns the URL in the form that is stored. @throws Failure `invalid_argument` */
function checkInput(
  { url, configId, secrets }: Omit<PushInput, "taskId" | "hasEvents">,
  rules: AddressRules,
): string {
  const { token, scheme, credentials } = secrets;
  if (url === "") throw invalidArgument("url", "is required");
  if (url.length > urlMax) throw invalidArgument("url", `must have at most ${urlMax} characters`);
  if (configId !== "") checkText("id", configId, /^[\x21-\x7e]+$/, idMax);
  if (token !== undefined) checkText("token", token, /^[\x21-\x7e]+$/, tokenMax);
  if (scheme !== undefined) checkText("authentication.scheme", scheme, /^[\w!#$%&'*+.^`|~-]+$/, schemeMax);
  if (credentials !== undefined)
    checkText(
      "authentication.credentials",
      credentials,
      /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/,
      credentialsMax,
    );
  return checkWebhookUrl("url", url, rules);
}

/** The texts are parts of headers. The error never has the text. */
function checkText(path: string, text: string, form: RegExp, most: number): void {
  if (text.length > most) throw invalidArgument(path, `must have at most ${most} characters`);
  if (!form.test(text))
    throw invalidArgument(path, "must be visible ASCII characters that a header can have");
}
