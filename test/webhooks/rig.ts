import { EventEmitter, once } from "node:events";
import { text } from "node:stream/consumers";
import { afterAll, expect } from "vitest";
import { OAuth2AppService } from "../../src/gen/proto/oauth/v2/oauth2_app_service_pb.ts";
import { WebhookService } from "../../src/gen/proto/webhook/v2/webhook_service_pb.ts";
import { openReceiver } from "../egress/receiver.ts";
import type { SettingsRig } from "../settings/settings-rig.ts";
import { settingsRig } from "../settings/settings-rig.ts";
import type { DatabaseKind } from "../support/database.ts";
import { deliveryDifference } from "../support/deliveries.ts";
import type { Person, ServiceOptions } from "../support/service.ts";

/** A request that an endpoint received. */
export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  // biome-ignore lint/suspicious/noExplicitAny: a body is read as a receiver sees it, member by member
  readonly body: any;
}

/** A receiver of webhooks on this machine. */
export interface Hook {
  /** Without a path. */
  readonly url: string;
  readonly received: readonly Received[];
  /** The status of the next answers; 204 by default. A promise delays them. */
  answers: number | Promise<number>;
  /** Resolves after this many requests. */
  waitForRequests(count: number): Promise<void>;
}

/** A platform whose webhooks may go to this machine; no process runs tasks or makes deliveries. */
export interface WebhookRig extends SettingsRig {
  hook(): Promise<Hook>;
}

export function webhookRig(database: DatabaseKind, options: ServiceOptions = {}): WebhookRig {
  const opened: AsyncDisposable[] = [];
  afterAll(async () => {
    for (const hook of opened) await hook[Symbol.asyncDispose]();
  });
  const rig = settingsRig(database, { ...options, env: { WEBHOOK_ALLOW: "loopback", ...options.env } });
  return Object.assign(rig, {
    async hook() {
      const received: Received[] = [];
      const news = new EventEmitter();
      const asked = async (count: number) => {
        while (received.length < count) await once(news, "request");
      };
      const hook: Hook = { url: "", received, answers: 204, waitForRequests: asked };
      const server = await openReceiver(async (request, response) => {
        const body = JSON.parse(await text(request));
        expect(deliveryDifference(request.headers, body)).toBe(undefined);
        received.push({ path: request.url ?? "", headers: request.headers, body });
        news.emit("request");
        response.writeHead(await hook.answers).end();
      });
      opened.push(server);
      return Object.assign(hook, { url: server.url });
    },
  });
}

export const webhooksOf = (person: Person) => person.client(WebhookService);

/** Creates a webhook. */
export async function createTestWebhook(
  person: Person,
  url: string,
  more: object = {},
): Promise<{ id: string; secret: string }> {
  const { webhook, signingSecret } = await webhooksOf(person).createWebhook({ url, ...more });
  return { id: webhook?.id ?? "", secret: signingSecret };
}

/** Creates an app with a webhook. */
export async function createTestApp(
  person: Person,
  webhookUrl: string,
): Promise<{ clientId: string; webhookId: string }> {
  const client = person.client(OAuth2AppService);
  const { app } = await client.createOAuth2App({
    name: "Garden",
    redirectUris: ["https://a.example/cb"],
    webhookUrl,
  });
  return { clientId: app?.clientId ?? "", webhookId: app?.webhookId ?? "" };
}
