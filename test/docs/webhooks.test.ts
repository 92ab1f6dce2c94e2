import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { finish } from "../../src/core/tasks/lifecycle.ts";
import { bodyOf } from "../../src/core/webhooks/bodies.ts";
import { tellingsOf } from "../../src/core/webhooks/events.ts";
import { newWebhookSecret, shownWebhookSecret } from "../../src/core/webhooks/secret.ts";
import { webhookEventTypes } from "../../src/core/webhooks/webhook.ts";
import { deliveryKeys } from "../../src/delivery/keys.ts";
import { signedHeaders } from "../../src/delivery/sign.ts";
import { operationTable } from "../../src/operations.ts";
import { cipher } from "../support/cipher.ts";
import { openTestStore } from "../support/database.ts";
import { readPage } from "./page.ts";
import { languages, openReceiver, type Received } from "./receiving/receivers.ts";

const page = readPage("docs/webhooks.md");
const url = "https://hooks.example.com/in?tenant=7";

/** A delivery of a task that has finished, signed as the sender signs, so many seconds from now. */
async function signer(): Promise<(secondsFromNow?: number) => Promise<Received>> {
  await using database = await openTestStore("sqlite");
  const keys = deliveryKeys({ store: database.store, cipher, clock: systemClock, ids: systemIds });
  const signing = await keys.signing();
  const { rsaPem: publicKey, ed25519 } = await keys.publicKeys();
  const [secret, oldSecret] = [newWebhookSecret(systemRandom), newWebhookSecret(systemRandom)];
  const [telling] = tellingsOf(finish("Schöne Grüße, 7 €").events, 3);
  if (telling === undefined) throw new Error("a finish tells something");
  const id = "task_stopped_Rt5kQ_1700000120";
  const parts = { appUrl: "https://app.example.net", link: () => "" };
  const body = Buffer.from(bodyOf({ id, telling, task: { id: "Rt5kQ", title: "Compare" }, attachments: [] }, parts));
  return async (secondsFromNow = 0) => {
    const signable = { eventId: id, url, body, at: Math.floor(Date.now() / 1000) + secondsFromNow };
    // While a secret is being replaced there are two items with `v1,`.
    const headers = await signedHeaders(signable, { keys: signing, secrets: [oldSecret, secret], doubleHash: false });
    return { url, headers, body, publicKey, secret: shownWebhookSecret(secret), ed25519 };
  };
}

const withHeaders = (received: Received, change: (value: string, name: string) => string): Received => ({
  ...received,
  headers: Object.fromEntries(Object.entries(received.headers).map(([name, value]) => [name, change(value, name)])),
});

const same = (received: Received): Received => received;

/** The byte at a place, or counted from the end, changed by one bit. */
function otherByte(received: Received, at: number): Received {
  const body = Buffer.from(received.body);
  const place = at < 0 ? body.length + at : at;
  body.writeUInt8(body.readUInt8(place) ^ 1, place);
  return { ...received, body };
}

/** Every item of every signature with its middle symbol changed. */
const otherSignatures = (received: Received): Received =>
  withHeaders(received, (value, name) =>
    name.endsWith("signature")
      ? value.replaceAll(/[A-Za-z0-9+/=]{40,}/g, (text) => `${text.slice(0, 30)}${text[30] === "A" ? "B" : "A"}${text.slice(31)}`)
      : value,
  );

const cases: readonly {
  readonly why: string;
  readonly seconds?: number;
  readonly change?: (received: Received) => Received;
  readonly says: string;
}[] = [
  { why: "as it was sent", says: "true true" },
  { why: "on its way for less than 300 s", seconds: -280, says: "true true" },
  { why: "301 s old", seconds: -301, says: "false false" },
  { why: "from the future", seconds: 330, says: "false false" },
  { why: "with another first byte", change: (received) => otherByte(received, 0), says: "false false" },
  { why: "with another last byte", change: (received) => otherByte(received, -1), says: "false false" },
  { why: "with another byte within", change: (received) => otherByte(received, 99), says: "false false" },
  {
    why: "with a byte more",
    change: (received) => ({ ...received, body: Buffer.concat([received.body, Buffer.from("\n")]) }),
    says: "false false",
  },
  { why: "with other signatures", change: otherSignatures, says: "false false" },
  {
    why: "at another time, which is near enough",
    change: (received) => withHeaders(received, (value, name) => (name.endsWith("timestamp") ? String(Number(value) - 1) : value)),
    says: "false false",
  },
  { why: "without headers", change: (received) => ({ ...received, headers: {} }), says: "false false" },
  { why: "for another address", change: (received) => ({ ...received, url: `${url}7` }), says: "false true" },
  {
    why: "with another id",
    change: (received) => withHeaders(received, (value, name) => (name === "webhook-id" ? `${value}7` : value)),
    says: "true false",
  },
];

describe("docs/webhooks.md", () => {
  test.each(languages)("its code in $name takes a delivery, and none with a byte changed or 301 s off", async (language) => {
    using receiver = await openReceiver(page, language);
    const deliver = await signer();
    for (const { why, seconds, change = same, says } of cases) {
      expect(`${why}: ${await receiver.verify(change(await deliver(seconds)))}`).toBe(`${why}: ${says}`);
    }
  });

  test("names every operation on webhooks, and none that there is not", () => {
    const named = new Set([...page.matchAll(/\bwebhook\.[a-z][A-Za-z]+/g)].map(([name]) => name));
    const all = operationTable().all.flatMap(({ name }) => (name?.startsWith("webhook.") ? [name] : []));
    expect([...named].toSorted()).toEqual(all.toSorted());
  });

  test("lists every type of event", () => {
    expect([...page.matchAll(/^\| `(task_\w+)`/gm)].map(([, type]) => type)).toEqual([...webhookEventTypes]);
  });
});
