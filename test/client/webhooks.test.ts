import { createHash, createHmac, generateKeyPairSync, randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { constructEvent, SignatureError, type WebhookKeys } from "../../packages/client/src/index.ts";
import { signedHeaders } from "../../src/webhooks/sign.ts";

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ed25519 = generateKeyPairSync("ed25519");
const [secret, oldSecret] = [randomBytes(32), randomBytes(24)];
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
    { keys: { rsa: rsa.privateKey, ed25519: ed25519.privateKey }, secrets: more.secrets ?? [secret], doubleHash: more.doubleHash ?? false },
  );

const pem = rsa.publicKey.export({ type: "spki", format: "pem" }).toString();
const whpk = `whpk_${ed25519.publicKey.export({ type: "spki", format: "der" }).subarray(12).toString("base64")}`;
const whsec = (bytes: Uint8Array) => `whsec_${Buffer.from(bytes).toString("base64")}`;
const keys: readonly (readonly [string, WebhookKeys, WebhookKeys])[] = [
  ["the shared secret", { secret: whsec(secret) }, { secret: whsec(oldSecret) }],
  ["one of several secrets", { secret: [whsec(oldSecret), whsec(secret)] }, { secret: [] }],
  ["the ed25519 key", { ed25519PublicKey: whpk }, { ed25519PublicKey: `whpk_${randomBytes(32).toString("base64")}` }],
  ["the RSA key", { publicKey: pem, url }, { publicKey: pem, url: "https://hooks.example.com/in" }],
];

describe.each(keys)("a delivery that is verified by %s", (_, good, wrong) => {
  const options = { now: at * 1000 };

  test("is returned as a typed event, from bytes and from text, with headers of either form", async () => {
    const headers = await headersOf();
    const read = await constructEvent(body, headers, good, options);
    expect(read).toEqual(event);
    expect(read.event_type === "task_stopped" && read.task_detail.stop_reason).toBe("finish");
    expect(await constructEvent(new TextDecoder().decode(body), new Headers(headers), good, options)).toEqual(event);
    const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
    expect(await constructEvent(body, upper, good, options)).toEqual(event);
  });

  test("is refused with another key, another body, another time, and without its headers", async () => {
    const headers = await headersOf();
    const refused = async (call: Promise<unknown>) => await expect(call).rejects.toBeInstanceOf(SignatureError);
    await refused(constructEvent(body, headers, wrong, options));
    await refused(constructEvent(body.slice(0, -1), headers, good, options));
    await refused(
      constructEvent(body, { ...headers, "webhook-timestamp": String(at + 1), "x-webhook-timestamp": String(at + 1) }, good, options),
    );
    await refused(constructEvent(body, {}, good, options));
    await refused(constructEvent(body, { ...headers, "webhook-signature": "v1,@@ v1a,", "x-webhook-signature": "@@" }, good, options));
    for (const seconds of [-301, 301]) await refused(constructEvent(body, headers, good, { now: (at + seconds) * 1000 }));
    for (const seconds of [-299, 299]) expect(await constructEvent(body, headers, good, { now: (at + seconds) * 1000 })).toEqual(event);
  });
});

test("a receiver of double hashes says so", async () => {
  const headers = await headersOf({ doubleHash: true });
  const options = { now: at * 1000 };
  expect(await constructEvent(body, headers, { publicKey: pem, url, doubleHash: true }, options)).toEqual(event);
  await expect(constructEvent(body, headers, { publicKey: pem, url }, options)).rejects.toBeInstanceOf(SignatureError);
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
