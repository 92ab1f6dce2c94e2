import { type Caller, lockActiveMember } from "../accounts/caller.ts";
import { type AddressRules, checkWebhookUrl } from "../addresses/address.ts";
import { type Change, deferFailure } from "../deferred.ts";
import { defined } from "../defined.ts";
import { Failure, invalidArgument, notFound } from "../failure.ts";
import { isKeyName, keyNameRule } from "../keys/api-key.ts";
import { mayEditAllApps } from "../oauth/app.ts";
import {
  byCreation,
  type CursorBinding,
  decodeCursor,
  type Page,
  type PageInput,
  pageOf,
} from "../pagination/page.ts";
import type { Tx } from "../store.ts";
import { type Metadata, mergeMetadata } from "../tasks/metadata.ts";
import type { AttemptResult } from "./delivery.ts";
import {
  newSealedSecret,
  newWebhook,
  readWebhookSecret,
  type WebhookCreationContext,
  type WebhookWithSecret,
} from "./new-webhook.ts";
import type { TestRequests } from "./test-request.ts";
import {
  defaultEventTypes,
  type HeldWebhook,
  type Webhook,
  type WebhookChanges,
  type WebhookEventType,
  type WebhookReach,
  webhooksMax,
} from "./webhook.ts";

const hourMs = 3_600_000;
/** A replaced secret stays valid for 24 hours after the new one was created (spec/decisions.md 42). */
const overlapMs = 24 * hourMs;

export interface WebhookParts extends WebhookCreationContext {
  /** For reads before a change. */
  readonly store: Tx;
  readonly tests: TestRequests;
  readonly rules: AddressRules;
}

export interface WebhookRequest {
  readonly url: string;
  /** Empty: the default types. */
  readonly eventTypes: readonly WebhookEventType[];
  /** Only events of tasks of this project, and with this pair: at most one. */
  readonly projectId?: string | undefined;
  readonly metadata?: Metadata;
  /** Empty: no name. */
  readonly name?: string | undefined;
  /** The caller's own secret, `whsec_` and base64; undefined: one is created. */
  readonly secret?: string | undefined;
}

/** A requested change; undefined fields stay as they are. */
export interface WebhookEdit {
  readonly status: Webhook["status"] | undefined;
  readonly eventTypes: readonly WebhookEventType[] | undefined;
  readonly doubleHash: boolean | undefined;
  /** Empty: of all tasks. */
  readonly projectId?: string | undefined;
  /** Merged into the present filter: an empty text removes the pair. */
  readonly metadata?: Metadata;
  /** Empty: no name. */
  readonly name?: string | undefined;
  readonly url?: string | undefined;
}

/**
 * Webhooks of the caller's account in the caller's space, and those of apps that the
 * caller may change (spec/webhooks.md 1). A method that returns a `Change` sends the outgoing
 * request first, outside of the transaction (spec/decisions.md 21).
 */
export interface Webhooks {
  /**
   * @throws Failure `invalid_argument` for an address that is not https and public, or fails the test, and
   * for a malformed secret, `already_exists`, or `resource_exhausted` at 20.
   */
  create(caller: Caller, request: WebhookRequest): Promise<Change<WebhookWithSecret>>;
  /**
   * Those of all members, without those of apps, newest first. @throws Failure `invalid_argument` for a
   * cursor of another list.
   */
  listOfSpace(tx: Tx, caller: Caller, input: Pick<PageInput, "limit" | "cursor">): Promise<Page<HeldWebhook>>;
  /** The account's own, newest first. */
  list(tx: Tx, caller: Caller): Promise<readonly Webhook[]>;
  /**
   * @throws Failure `not_found`, or `failed_precondition` for an app's webhook, which the app's setting
   * removes.
   */
  remove(tx: Tx, caller: Caller, id: string): Promise<void>;
  /**
   * A webhook must pass a test to resume and to move to a new address. Its secret and its pending deliveries
   * stay.
   *
   * @throws Failure `not_found`, `invalid_argument`, and for a new address `already_exists`, or
   * `failed_precondition` for an app's webhook.
   */
  update(caller: Caller, id: string, edit: WebhookEdit): Promise<Change<Webhook>>;
  /** @throws Failure `not_found` */
  rotate(tx: Tx, caller: Caller, id: string): Promise<WebhookWithSecret>;
  /** @param type of the sample that is sent; absent: `webhook_test`. @throws Failure `not_found` */
  ping(caller: Caller, id: string, type?: WebhookEventType): Promise<Change<AttemptResult>>;
}

export function webhooks(parts: WebhookParts): Webhooks {
  const { store, clock, tests, rules } = parts;

  /** Tests the address that the webhook would have, and returns it; null when the edit needs no test. */
  async function testEdit(
    caller: Caller,
    id: string,
    { status, doubleHash, url: newUrl }: WebhookEdit,
  ): Promise<string | null> {
    const webhook = requireWebhook(await store.webhooks.find(webhookReach(caller), id));
    const url = newUrl === undefined ? webhook.url : checkWebhookUrl("url", newUrl, rules);
    if (url !== webhook.url) checkMove(webhook, url, await store.webhooks.list(caller));
    else if (status !== "active" || webhook.status === "active") return null;
    await tests.pass(
      { ...webhook, url, doubleHash: doubleHash ?? webhook.doubleHash },
      url === webhook.url ? "status" : "url",
    );
    return url;
  }

  return {
    async create(caller, request) {
      const url = checkWebhookUrl("url", request.url, rules);
      const ownSecret =
        request.secret === undefined ? undefined : readWebhookSecret("signing_secret", request.secret);
      const eventTypes = request.eventTypes.length === 0 ? defaultEventTypes : request.eventTypes;
      const named = { name: nameIn(request.name), ...filterIn(request) };
      const { webhook, secret } = newWebhook(parts, {
        ...caller,
        clientId: null,
        url,
        eventTypes,
        ownSecret,
        ...named,
      });
      async function test() {
        await checkFilter(store, caller, webhook);
        checkCapacity(await store.webhooks.list(caller), url);
        await tests.pass(webhook, "url");
      }
      const rethrowTest = await deferFailure(test());
      return async (tx) => {
        rethrowTest();
        await tx.accounts.lock(caller.accountId);
        await lockActiveMember(tx, caller);
        checkCapacity(await tx.webhooks.list(caller), url);
        await checkFilter(tx, caller, webhook);
        await tx.webhooks.insert(webhook);
        tx.audit.note({ subject: webhook.id, after: toAuditFacts(webhook) });
        return { webhook, secret };
      };
    },

    list: (tx, caller) => tx.webhooks.list(caller),

    async listOfSpace(tx, { accountId, spaceId }, { limit, cursor }) {
      const binding: CursorBinding = { accountId, spaceId, operation: "webhook.teamList", filter: {} };
      const position = cursor ? decodeCursor(binding, cursor) : undefined;
      const after = position && { createdAt: position.value, id: position.id };
      const found = await tx.webhooks.listOfSpace(spaceId, { limit: limit + 1, after });
      return pageOf(found, limit, binding, byCreation);
    },

    async remove(tx, caller, id) {
      const webhook = requireWebhook(await tx.webhooks.lock(webhookReach(caller), id));
      if (webhook.clientId !== null)
        throw new Failure(
          "failed_precondition",
          "an app's webhook is removed by clearing the app's webhook_url",
        );
      await tx.webhooks.tombstone(id, clock.now());
      tx.audit.note({ subject: id, before: toAuditFacts(webhook) });
    },

    async update(caller, id, edit) {
      const getTested = await deferFailure(testEdit(caller, id, edit));
      return async (tx) => {
        const tested = getTested();
        // Lock order: the account, then the webhook. The lock makes the check of the address and the change
        // one step.
        if (edit.url !== undefined) await tx.accounts.lock(caller.accountId);
        const before = requireWebhook(await tx.webhooks.lock(webhookReach(caller), id));
        const changes = toChanges(before, edit);
        await checkFilter(tx, caller, { ...before, ...changes });
        if (changes.url !== undefined) checkMove(before, changes.url, await tx.webhooks.list(caller));
        if (
          (changes.status === "active" || changes.url !== undefined) &&
          tested !== (changes.url ?? before.url)
        )
          throw new Failure("failed_precondition", "the webhook was changed in the meantime: try again");
        await tx.webhooks.update(id, changes);
        // Deliveries that waited while it was inactive are due.
        if (changes.status === "active") await tx.jobs.put({ kind: "deliver", key: id, runAt: clock.now() });
        const after = { ...before, ...changes };
        tx.audit.note({ subject: id, before: toAuditFacts(before), after: toAuditFacts(after) });
        return after;
      };
    },

    async rotate(tx, caller, id) {
      const before = requireWebhook(await tx.webhooks.lock(webhookReach(caller), id));
      const { sealed, text } = newSealedSecret(parts, id);
      const changes = { secret: sealed, oldSecret: before.secret, oldSecretUntil: clock.now() + overlapMs };
      await tx.webhooks.update(id, changes);
      tx.audit.note({ subject: id, after: { oldSecretUntil: changes.oldSecretUntil } });
      return { webhook: { ...before, ...changes }, secret: text };
    },

    async ping(caller, id, type) {
      async function ping() {
        return tests.send(requireWebhook(await store.webhooks.find(webhookReach(caller), id)), type);
      }
      const getResult = await deferFailure(ping());
      return async (tx) => {
        const sent = getResult();
        tx.audit.note({ subject: id, after: { delivered: sent.delivered } });
        return sent;
      };
    },
  };
}

/**
 * The webhooks that a caller may read and change: an app's webhook is included if the caller may change the
 * app (spec/oauth.md 13).
 */
export const webhookReach = (caller: Caller): WebhookReach => ({
  accountId: caller.accountId,
  spaceId: caller.spaceId,
  ofApps: mayEditAllApps(caller),
});

/** A webhook that the caller may not access is reported as not found. @throws Failure `not_found` */
export function requireWebhook(webhook: Webhook | null): Webhook {
  if (webhook === null) throw notFound("webhook");
  return webhook;
}

/** @throws Failure `already_exists` or `resource_exhausted`. */
function checkCapacity(existing: readonly Webhook[], url: string): void {
  if (existing.some((webhook) => webhook.url === url))
    throw new Failure("already_exists", "url: a webhook with this address already exists", { path: "url" });
  if (existing.length >= webhooksMax)
    throw new Failure("resource_exhausted", `an account has at most ${webhooksMax} webhooks`);
}

/**
 * Checks that a webhook may have a new address. @throws Failure `failed_precondition` or `already_exists`.
 */
function checkMove({ id, clientId }: Webhook, url: string, existing: readonly Webhook[]): void {
  if (clientId !== null)
    throw new Failure(
      "failed_precondition",
      "the address of an app's webhook is changed by the app's webhook_url",
    );
  if (existing.some((webhook) => webhook.url === url && webhook.id !== id))
    throw new Failure("already_exists", "url: a webhook with this address already exists", { path: "url" });
}

/** @throws Failure `invalid_argument` */
function nameIn(text: string | undefined): string | null {
  if (text !== undefined && text !== "" && !isKeyName(text)) throw invalidArgument("name", keyNameRule);
  return text || null;
}

function toChanges(before: Webhook, edit: WebhookEdit): WebhookChanges {
  const { status, eventTypes, doubleHash, projectId, metadata = {}, name, url } = edit;
  const noFailures = { failingSince: null, failures: 0 } as const;
  const resumed = { status: "active", inactiveReason: null, ...noFailures } as const;
  const paused = { status: "inactive", inactiveReason: "paused" } as const;
  return {
    ...(url === undefined || url === before.url ? {} : { url, ...noFailures }),
    ...(name === undefined ? {} : { name: nameIn(name) }),
    ...(status === undefined || status === before.status ? {} : status === "active" ? resumed : paused),
    ...defined({ eventTypes, doubleHash }),
    ...(projectId === undefined ? {} : { projectId: projectId || null }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata: mergeMetadata(before.metadata, metadata) }),
  };
}

const filterIn = ({ projectId, metadata = {} }: WebhookRequest): Pick<Webhook, "projectId" | "metadata"> => ({
  projectId: projectId || null,
  metadata: mergeMetadata({}, metadata),
});

/**
 * @throws Failure `not_found` for a project that is not the caller's, `invalid_argument` for a filter that is
 * not allowed.
 */
async function checkFilter(
  tx: Pick<Tx, "projects">,
  caller: Caller,
  { clientId, projectId, metadata }: Webhook,
): Promise<void> {
  if (Object.keys(metadata).length > 1)
    throw invalidArgument("metadata", "must have at most one pair; remove the other one with an empty text");
  if (clientId !== null && projectId !== null)
    throw invalidArgument("project_id", "cannot be set for an app's webhook: apps have no projects");
  if (projectId !== null && !(await tx.projects.find(caller, projectId)))
    throw notFound("project", "project_id");
}

/**
 * Contains no secret, and only the host of the URL: its path and query may be secret (spec/decisions.md 44).
 */
const toAuditFacts = ({ url, name, status, eventTypes, doubleHash, projectId, metadata }: Webhook) => ({
  host: new URL(url).host,
  ...(name === null ? {} : { name }),
  status,
  eventTypes,
  doubleHash,
  ...(projectId === null ? {} : { projectId }),
  ...(Object.keys(metadata).length === 0 ? {} : { metadataKeys: Object.keys(metadata) }),
});
