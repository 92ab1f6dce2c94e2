import { createHash, createPublicKey, generateKeyPairSync, publicDecrypt, verify } from "node:crypto";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { Webhook as SvixWebhook } from "svix";
import { describe, expect, test } from "vitest";
import { systemRandom } from "../../src/core/ids.ts";
import {
  encodeWebhookSecret,
  newWebhookSecret,
  sealWebhookSecret,
} from "../../src/core/webhooks/new-webhook.ts";
import { secretOpener } from "../../src/webhooks/send.ts";
import { signedContent, signedHeaders } from "../../src/webhooks/sign.ts";
import { cipher } from "../support/cipher.ts";

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ed25519 = generateKeyPairSync("ed25519");
const keys = { rsa: rsa.privateKey, ed25519: [ed25519.privateKey] };
const secrets = [newWebhookSecret(systemRandom), newWebhookSecret(systemRandom)];
const signer = { keys, secrets, doubleHash: false };

const text = '{"event_id":"task_created_AbC_1700000000","event_type":"task_created"}';
/** The vector of spec/webhooks.md 5.1. */
const vector = {
  eventId: "task_created_AbC_1700000000",
  url: "https://hooks.example.com/in?tenant=7",
  body: Buffer.from(text),
  at: 1_700_000_000,
};
const bodyHash = "860d8f148b55f45b6f6f93d0b351136c0ecefaabc0bc14a9ae32f63047b44315";
const contentHash = "42a31e90e2c17222f41f82f9d59dcb5ee186c67921b82b22e2d48a5ad537a5de";

const contractSignature = async (doubleHash: boolean): Promise<Buffer> =>
  Buffer.from(
    (await signedHeaders(vector, { ...signer, doubleHash }))["x-webhook-signature"] ?? "",
    "base64",
  );

describe("the specification's signature (spec/webhooks.md 5.1)", () => {
  test("is over the content of the vector, hashed once", async () => {
    expect(signedContent(vector)).toBe(`1700000000.${vector.url}.${bodyHash}`);
    expect(createHash("sha256").update(signedContent(vector)).digest("hex")).toBe(contentHash);
    const digestInfo = publicDecrypt(rsa.publicKey, await contractSignature(false));
    expect(digestInfo.subarray(-32).toString("hex")).toBe(contentHash);
    expect(
      verify("RSA-SHA256", Buffer.from(signedContent(vector)), rsa.publicKey, await contractSignature(false)),
    ).toBe(true);
  });

  test("is 344 characters of base64, with a ten-digit timestamp", async () => {
    const headers = await signedHeaders(vector, signer);
    expect(headers["x-webhook-signature"]).toMatch(/^[A-Za-z0-9+/]{342}==$/);
    expect(headers["x-webhook-timestamp"]).toBe("1700000000");
    expect(headers["webhook-timestamp"]).toBe("1700000000");
    expect(headers["webhook-id"]).toBe(vector.eventId);
  });

  test("is hashed twice for receivers of the old samples, and then verifies in no other way (spec/webhooks.md 5.2)", async () => {
    const content = Buffer.from(signedContent(vector));
    const once = createHash("sha256").update(content).digest();
    expect(verify("RSA-SHA256", once, rsa.publicKey, await contractSignature(true))).toBe(true);
    expect(verify("RSA-SHA256", content, rsa.publicKey, await contractSignature(true))).toBe(false);
    expect(verify("RSA-SHA256", once, rsa.publicKey, await contractSignature(false))).toBe(false);
  });

  test.each([
    ["another body", { ...vector, body: Buffer.from(`${text} `) }],
    ["another url", { ...vector, url: `${vector.url}&x` }],
    ["another time", { ...vector, at: vector.at + 1 }],
  ])("does not fit %s", async (_what, other) => {
    expect(
      verify("RSA-SHA256", Buffer.from(signedContent(other)), rsa.publicKey, await contractSignature(false)),
    ).toBe(false);
  });
});

const verifiers = [
  ["standardwebhooks", (secret: string) => new StandardWebhook(secret)],
  ["svix", (secret: string) => new SvixWebhook(secret)],
] as const;

describe.each(verifiers)("the npm package %s (spec/webhooks.md 7)", (_name, verifierOf) => {
  const now = { ...vector, at: Math.floor(Date.now() / 1000) };

  test("accepts a header with both kinds of item, by the new secret and by the old one", async () => {
    const headers = await signedHeaders(now, signer);
    expect(headers["webhook-signature"]).toMatch(/^v1,\S{44} v1,\S{44} v1a,\S{88}$/);
    for (const secret of secrets)
      expect(() => verifierOf(encodeWebhookSecret(secret)).verify(text, { ...headers })).not.toThrow();
  });

  test("refuses another secret, a changed body, another id and a time 301 s off", async () => {
    const headers = { ...(await signedHeaders(now, signer)) };
    const late = { ...(await signedHeaders({ ...now, at: now.at - 301 }, signer)) };
    const [secret = new Uint8Array()] = secrets;
    const verifier = verifierOf(encodeWebhookSecret(secret));
    const otherSecret = verifierOf(encodeWebhookSecret(newWebhookSecret(systemRandom)));
    expect(() => otherSecret.verify(text, headers)).toThrow("No matching signature");
    expect(() => verifier.verify(text.replace("AbC", "AbD"), headers)).toThrow("No matching signature");
    expect(() => verifier.verify(text, { ...headers, "webhook-id": "other" })).toThrow(
      "No matching signature",
    );
    expect(() => verifier.verify(text, late)).toThrow("too old");
  });
});

test("the ed25519 item is verified only with the published key (spec/webhooks.md 7)", async () => {
  const headers = await signedHeaders(vector, signer);
  const [item = ""] =
    headers["webhook-signature"]?.split(" ").filter((part) => part.startsWith("v1a,")) ?? [];
  const content = Buffer.from(`${vector.eventId}.${vector.at}.${text}`);
  const signature = Buffer.from(item.slice("v1a,".length), "base64");
  const publicKey = createPublicKey(ed25519.publicKey.export({ format: "pem", type: "spki" }));
  expect(verify(null, content, publicKey, signature)).toBe(true);
  expect(verify(null, Buffer.from(`${content} `), publicKey, signature)).toBe(false);
});

describe("the secrets of a webhook", () => {
  const countingOpener = () => {
    let opened = 0;
    const open = secretOpener({
      open(sealed, context) {
        opened += 1;
        return cipher.open(sealed, context);
      },
    });
    return { open, opened: () => opened };
  };
  const sealed = (webhookId: string, secret = newWebhookSecret(systemRandom)) =>
    sealWebhookSecret(cipher, webhookId, secret);

  test("are opened once for the same stored bytes; a replaced one is used at once", () => {
    const { open, opened } = countingOpener();
    const [first = new Uint8Array(), second = new Uint8Array()] = secrets;
    const [old, replaced] = [sealed("a", first), sealed("a", second)];
    for (const _ of [1, 2]) expect(Buffer.from(open("a", old))).toEqual(Buffer.from(first));
    expect(opened()).toBe(1);
    expect(Buffer.from(open("a", replaced))).toEqual(Buffer.from(second));
  });

  test("are opened for their own webhook only", () => {
    const { open } = countingOpener();
    const ofA = sealed("a");
    open("a", ofA);
    expect(() => open("b", ofA)).toThrow();
  });

  test("are kept in a bounded number", () => {
    const { open, opened } = countingOpener();
    const ofA = sealed("a");
    open("a", ofA);
    for (let number = 0; number < 1_000; number += 1) open(`w${number}`, sealed(`w${number}`));
    open("a", ofA);
    expect(opened()).toBe(1_002);
  });
});
