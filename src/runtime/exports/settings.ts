import type { PackedMember } from "../../core/exports/archive-rows.ts";
import type { DataExport } from "../../core/exports/export.ts";
import type { JsonObject } from "../../core/json.ts";
import { listAuthorizedApps } from "../../core/oauth/grant.ts";
import { schedulesMax } from "../../core/schedules/schedule.ts";
import type { Tx } from "../../core/store.ts";
import type { Delivery } from "../../core/webhooks/delivery.ts";
import type { Webhook } from "../../core/webhooks/webhook.ts";
import { onePart, type Writers } from "./json.ts";

/** The number of deliveries per page. */
const deliveriesMax = 100;

/** The rows that archives of a person's settings are made from. */
export type SettingStore = Pick<
  Tx,
  "archives" | "agents" | "apps" | "connectors" | "grants" | "schedules" | "webhooks"
>;

/** The person and the time of the request: later rows are not packed. */
type Requested = Pick<DataExport, "spaceId" | "accountId" | "createdAt">;

const before =
  ({ createdAt }: Requested) =>
  (row: { createdAt: number }): boolean =>
    row.createdAt <= createdAt;

/** `user_client_config.json`: the settings of the account. */
export const configRow = ({ accountId, locale }: PackedMember): JsonObject[] =>
  locale === null ? [] : [{ user_id: accountId, locale }];

/** The address of a server without its path and query, which often grant access. */
const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : "");

/** The rows of `user_personalization.json`: the person's agents. */
export async function* agentRows({ agents }: SettingStore, requested: Requested, writers: Writers) {
  for (const agent of (await agents.list(requested)).filter(before(requested)))
    yield onePart(writers.agent(agent));
}

/** The rows of `connector.json`: the person's connectors and those of the space, oldest first. */
export async function* connectorRows({ connectors }: SettingStore, requested: Requested, writers: Writers) {
  for (const connector of (await connectors.list(requested)).toReversed().filter(before(requested))) {
    const { server } = connector;
    const shown = server.transport === "http" ? { ...server, url: originOf(server.url) } : server;
    yield onePart(writers.connector({ ...connector, server: shown }));
  }
}

/** The rows of `oauth_grant.json`: the apps that the person authorized, oldest first. */
export async function* grantRows(store: SettingStore, requested: Requested, writers: Writers) {
  const authorized = await listAuthorizedApps(store, requested);
  for (const each of authorized.toReversed().filter(({ grant }) => before(requested)(grant)))
    yield onePart(writers.grant(each));
}

/** The rows of `schedule.json`: the person's schedules, oldest first. */
export async function* scheduleRows({ schedules }: SettingStore, requested: Requested, writers: Writers) {
  const { accountId, spaceId } = requested;
  const all = await schedules.list({ accountId, spaceId }, schedulesMax);
  for (const schedule of all.toReversed().filter(before(requested)))
    yield onePart(writers.schedule(schedule));
}

/** The times between which deliveries are packed, both inclusive. */
type Window = Parameters<Tx["archives"]["deliveries"]>[1];

/**
 * The rows of `notifications.json`: the person's webhooks, oldest first, each with its deliveries and their
 * attempts.
 */
export async function* webhookRows(
  store: SettingStore,
  requested: Requested,
  window: Window,
  writers: Writers,
) {
  for (const webhook of (await store.webhooks.list(requested)).toReversed().filter(before(requested)))
    yield webhookRow(store, webhook, window, writers);
}

async function* webhookRow(
  { archives }: SettingStore,
  webhook: Webhook,
  window: Window,
  writers: Writers,
): AsyncGenerator<string> {
  yield `${writers.webhook({ ...webhook, url: originOf(webhook.url) }).slice(0, -1)},"deliveries":[`;
  let comma = "";
  for await (const page of deliveryPages(archives, webhook.id, window)) {
    const attempts = Map.groupBy(
      await archives.attempts(page.map(({ id }) => id)),
      ({ deliveryId }) => deliveryId,
    );
    for (const delivery of page) {
      const made = attempts.get(delivery.id) ?? [];
      const lastStatus = made.find(({ number }) => number === delivery.attempts)?.status ?? null;
      const log = made.map(writers.attempt).join(",");
      // A body has links that grant access, and a response is text of the receiver: neither is packed.
      yield `${comma}${writers.delivery({ ...delivery, lastStatus }).slice(0, -1)},"attempt_log":[${log}]}`;
      comma = ",";
    }
  }
  yield "]}";
}

async function* deliveryPages(
  { deliveries }: Tx["archives"],
  webhookId: string,
  window: Window,
): AsyncGenerator<readonly Delivery[]> {
  for (let after: Delivery | null = null; ; ) {
    const page: readonly Delivery[] = await deliveries(webhookId, window, after, deliveriesMax);
    yield page;
    if (page.length < deliveriesMax) return;
    after = page.at(-1) ?? null;
  }
}
