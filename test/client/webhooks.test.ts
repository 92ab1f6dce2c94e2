import { createHash, createHmac, generateKeyPairSync, randomBytes } from "node:crypto";
import { afterAll, describe, expect, test } from "vitest";
import { constructEvent, type WebhookEvent, type WebhookKeys } from "../../packages/client/src/index.ts";
import { signedHeaders } from "../../src/webhooks/sign.ts";
import { lacks } from "../support/needs.ts";
import { openPython, type Python } from "./python.ts";

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ed25519 = generateKeyPairSync("ed25519");
const [secret, oldSecret] = [randomBytes(32), randomBytes(24)];
const otherPem = generateKeyPairSync("rsa", { modulusLength: 2048 })
  .publicKey.export({ type: "spki", format: "pem" })
  .toString();
const otherWhpk = `whpk_${generateKeyPairSync("ed25519").publicKey.export({ type: "spki", format: "der" }).subarray(12).toString("base64")}`;
const url = "https://hooks.example.com/in?tenant=7";
const at = 1_700_000_120;
const event = {
  event_id: "task_stopped_T_1",
  event_type: "task_stopped",
  task_detail: {
    task_id: "T",
    task_title: "Tea – 茶",
    task_url: "https://app.example/T",
    message: "Done.",
    stop_reason: "finish",
    attachments: [],
    task_event_id: "ev_T_9",
  },
} as const;
const body = new TextEncoder().encode(JSON.stringify(event));

const headersOf = (more: { readonly doubleHash?: boolean; readonly secrets?: readonly Uint8Array[] } = {}) =>
  signedHeaders(
    { eventId: event.event_id, url, body, at },
    {
      keys: { rsa: rsa.privateKey, ed25519: [ed25519.privateKey] },
      secrets: more.secrets ?? [secret],
      doubleHash: more.doubleHash ?? false,
    },
  );

const pem = rsa.publicKey.export({ type: "spki", format: "pem" }).toString();
const whpk = `whpk_${ed25519.publicKey.export({ type: "spki", format: "der" }).subarray(12).toString("base64")}`;
const whsec = (bytes: Uint8Array) => `whsec_${Buffer.from(bytes).toString("base64")}`;
const keys: readonly (readonly [string, WebhookKeys, WebhookKeys])[] = [
  ["the shared secret", { secret: whsec(secret) }, { secret: whsec(oldSecret) }],
  ["one of several secrets", { secret: [whsec(oldSecret), whsec(secret)] }, { secret: [] }],
  [
    "the ed25519 key",
    { ed25519PublicKey: whpk },
    { ed25519PublicKey: `whpk_${randomBytes(32).toString("base64")}` },
  ],
  ["one of several ed25519 keys", { ed25519PublicKey: [otherWhpk, whpk] }, { ed25519PublicKey: [otherWhpk] }],
  ["one of several RSA keys", { publicKey: [otherPem, pem], url }, { publicKey: [otherPem], url }],
  ["the RSA key", { publicKey: pem, url }, { publicKey: pem, url: "https://hooks.example.com/in" }],
];

type Verify = (
  body: Uint8Array,
  headers: Readonly<Record<string, string>>,
  keys: WebhookKeys,
  options: { readonly now: number },
) => Promise<WebhookEvent>;
let opened: Promise<Python> | undefined;
afterAll(async () => (await opened)?.[Symbol.asyncDispose]());
const inPython: Verify = async (bytes, headers, webhookKeys, { now }) => {
  opened ??= openPython();
  const names = {
    ed25519PublicKey: "ed25519_public_key",
    publicKey: "public_key",
    doubleHash: "double_hash",
  };
  const kwargs = Object.fromEntries(
    Object.entries(webhookKeys).map(([name, key]) => [names[name as keyof typeof names] ?? name, key]),
  );
  const args = [{ $bytes: Buffer.from(bytes).toString("hex") }, headers];
  return (await (
    await opened
  ).do(undefined, "construct_event", { args, kwargs: { ...kwargs, now: now / 1000 } })) as WebhookEvent;
};
const languages: readonly (readonly [string, Verify])[] = [
  ["TypeScript", constructEvent],
  ...(lacks("python-httpx") ? [] : [["Python", inPython] as const]),
];

describe.each(languages)("%s: a delivery", (_, verify) => {
  const options = { now: at * 1000 };

  test.each(
    keys,
  )("is accepted by %s, and refused with another key, body or time, and without its headers", async (_name, good, wrong) => {
    const headers = await headersOf();
    const refused = async (call: Promise<unknown>) =>
      await expect(call).rejects.toMatchObject({ name: "SignatureError" });
    expect(await verify(body, headers, good, options)).toEqual(event);
    const upper = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
    );
    expect(await verify(body, upper, good, options)).toEqual(event);
    await refused(verify(body, headers, wrong, options));
    await refused(verify(body.slice(0, -1), headers, good, options));
    const later = { ...headers, "webhook-timestamp": String(at + 1), "x-webhook-timestamp": String(at + 1) };
    await refused(verify(body, later, good, options));
    await refused(verify(body, {}, good, options));
    await refused(
      verify(
        body,
        { ...headers, "webhook-signature": "v1,@@ v1a,", "x-webhook-signature": "@@" },
        good,
        options,
      ),
    );
    for (const seconds of [-301, 301])
      await refused(verify(body, headers, good, { now: (at + seconds) * 1000 }));
    for (const seconds of [-299, 299])
      expect(await verify(body, headers, good, { now: (at + seconds) * 1000 })).toEqual(event);
  });

  test("with a double hash needs a receiver that says so", async () => {
    const headers = await headersOf({ doubleHash: true });
    expect(await verify(body, headers, { publicKey: pem, url, doubleHash: true }, options)).toEqual(event);
    await expect(verify(body, headers, { publicKey: pem, url }, options)).rejects.toMatchObject({
      name: "SignatureError",
    });
  });
});

describe.each(keys)("a delivery that is verified by %s", (_, good) => {
  const options = { now: at * 1000 };

  test("is returned as a typed event, from bytes and from text, with headers of either form", async () => {
    const headers = await headersOf();
    const read = await constructEvent(body, headers, good, options);
    expect(read).toEqual(event);
    expect(read.event_type === "task_stopped" && read.task_detail.stop_reason).toBe("finish");
    expect(await constructEvent(new TextDecoder().decode(body), new Headers(headers), good, options)).toEqual(
      event,
    );
    const upper = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
    );
    expect(await constructEvent(body, upper, good, options)).toEqual(event);
  });
});

test("a signature of the right bytes by Standard Webhooks' own rule is accepted", async () => {
  const mac = createHmac("sha256", secret).update(`id.${at}.`).update(body).digest("base64");
  const headers = {
    "webhook-id": "id",
    "webhook-timestamp": String(at),
    "webhook-signature": `v1,${createHash("sha256").digest("base64")} v1,${mac}`,
  };
  expect(await constructEvent(body, headers, { secret: whsec(secret) }, { now: at * 1000 })).toEqual(event);
});
