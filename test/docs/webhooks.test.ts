import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { finish } from "../../src/core/tasks/lifecycle.ts";
import { encodeWebhookSecret, newWebhookSecret } from "../../src/core/webhooks/new-webhook.ts";
import { encodeBody, notificationsOf } from "../../src/core/webhooks/notifications.ts";
import { webhookEventTypes } from "../../src/core/webhooks/webhook.ts";
import { operationTable } from "../../src/pipeline/operations.ts";
import { deliveryKeys } from "../../src/webhooks/keys.ts";
import { signedHeaders } from "../../src/webhooks/sign.ts";
import { openReceiver } from "../egress/receiver.ts";
import { eventually } from "../faults/server.ts";
import { cipher } from "../support/cipher.ts";
import { openTestStore } from "../support/database.ts";
import { share } from "../support/depth.ts";
import { startServer } from "../support/server-process.ts";
import { callV2 } from "../support/wires.ts";
import { blocksIn, readPage, shell } from "./page.ts";
import { languages, openReceiver as openLanguageReceiver, type Received } from "./receiving/receivers.ts";

const page = readPage("docs/guides/webhooks.md");
const url = "https://hooks.example.com/in?tenant=7";

/** A delivery of a finished task, signed like the sender does, this many seconds from now. */
async function signer(): Promise<(secondsFromNow?: number) => Promise<Received>> {
  await using database = await openTestStore("sqlite");
  const keys = deliveryKeys({ store: database.store, cipher, clock: systemClock, ids: systemIds });
  const signing = await keys.signing();
  const { rsa, ed25519 } = await keys.publicKeys();
  const [secret, oldSecret] = [newWebhookSecret(systemRandom), newWebhookSecret(systemRandom)];
  const [notification] = notificationsOf(finish("Schöne Grüße, 7 €").events, 3);
  if (notification === undefined) throw new Error("a finish notifies webhooks");
  const id = "task_stopped_Rt5kQ_1700000120";
  const parts = { appUrl: "https://app.example.net", link: () => "" };
  const body = Buffer.from(
    encodeBody(
      { id, notification, task: { id: "Rt5kQ", title: "Compare", metadata: {} }, attachments: [] },
      parts,
    ),
  );
  return async (secondsFromNow = 0) => {
    const signable = { eventId: id, url, body, at: Math.floor(Date.now() / 1000) + secondsFromNow };
    // While a secret is rotated there are two items with `v1,`.
    const headers = await signedHeaders(signable, {
      keys: signing,
      secrets: [oldSecret, secret],
      doubleHash: false,
    });
    return {
      url,
      headers,
      body,
      publicKey: rsa.text,
      secret: encodeWebhookSecret(secret),
      ed25519: ed25519.text,
    };
  };
}

const withHeaders = (received: Received, change: (value: string, name: string) => string): Received => ({
  ...received,
  headers: Object.fromEntries(
    Object.entries(received.headers).map(([name, value]) => [name, change(value, name)]),
  ),
});

const same = (received: Received): Received => received;

/** The byte at a position, or counted from the end, with one bit changed. */
function otherByte(received: Received, at: number): Received {
  const body = Buffer.from(received.body);
  const place = at < 0 ? body.length + at : at;
  body.writeUInt8(body.readUInt8(place) ^ 1, place);
  return { ...received, body };
}

/** Every item of every signature with its middle character changed. */
const otherSignatures = (received: Received): Received =>
  withHeaders(received, (value, name) =>
    name.endsWith("signature")
      ? value.replaceAll(
          /[A-Za-z0-9+/=]{40,}/g,
          (text) => `${text.slice(0, 30)}${text[30] === "A" ? "B" : "A"}${text.slice(31)}`,
        )
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
    change: (received) =>
      withHeaders(received, (value, name) =>
        name.endsWith("timestamp") ? String(Number(value) - 1) : value,
      ),
    says: "false false",
  },
  { why: "without headers", change: (received) => ({ ...received, headers: {} }), says: "false false" },
  { why: "for another address", change: (received) => ({ ...received, url: `${url}7` }), says: "false true" },
  {
    why: "with another id",
    change: (received) =>
      withHeaders(received, (value, name) => (name === "webhook-id" ? `${value}7` : value)),
    says: "true false",
  },
];

/** The page's commands, each with the comment after it. */
const steps = blocksIn(page, "sh").flatMap((block) =>
  block.split(/\n(?=curl)/).map((step) => {
    const lines = step.trim().split("\n");
    const isComment = (line: string) => line.startsWith("# ");
    return {
      command: lines.filter((line) => !isComment(line)).join("\n"),
      answer: lines.filter(isComment).map((line) => line.slice(2)),
    };
  }),
);

/** A receiver of all requests at the page's address; `status` is its answer. */
async function openHook() {
  const hook = { status: 204, types: [] as string[] };
  const server = await openReceiver(async (request, response) => {
    hook.types.push(JSON.parse(await text(request)).event_type);
    response.writeHead(hook.status).end();
  });
  return Object.assign(hook, { url: server.url, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() });
}

/** The answer to a command; of a stream the data of its first event. */
function answerIn(output: string) {
  const [, data] = /^data: (.*)$/m.exec(output) ?? [];
  return data === undefined ? JSON.parse(output) : { ok: true, ...JSON.parse(data) };
}

/** Whether an answer has the values in a comment; `…` matches any text. */
function expectShown(answer: unknown, line: string): void {
  const squeezed = line.replaceAll(/\s/g, "");
  for (const piece of squeezed.split("…"))
    expect(JSON.stringify(answer).replaceAll(/\s/g, "")).toContain(piece);
}

describe("docs/guides/webhooks.md", () => {
  test("runs from a webhook to its log and its end by its commands, and each answers as its comment says", async () => {
    await using hook = await openHook();
    await using server = await startServer({ WEBHOOK_ALLOW: "loopback" });
    const known: Record<string, string> = { ATP_URL: server.url, ATP_KEY: server.key, SINCE: "1" };
    const call = async (name: string, body: object) =>
      (await callV2(server.url, name, body, { headers: { "x-service-api-key": server.key } })).body;
    const statusNow = async () =>
      (await call("webhook.list", {}))["data"].find(({ id }: { id: string }) => id === known["WEBHOOK"])
        .status;

    /** Events that must happen between the page's commands. */
    const before: Readonly<Record<string, () => Promise<unknown>>> = {
      async active() {
        hook.status = 410;
        await call("task.create", { message: { content: "[[fail no_luck | Sorry]]" } });
        await eventually("410 switches the webhook off", async () => (await statusNow()) === "inactive");
        hook.status = 204;
      },
      async "webhook.resend"() {
        await eventually(
          "what was recovered arrives",
          async () => hook.types.filter((type) => type === "task_failed").length > 1,
        );
      },
    };
    const played: string[] = [];
    for (const { command, answer } of steps) {
      for (const [word, happens] of Object.entries(before)) if (command.includes(word)) await happens();
      const said = answerIn(
        (await shell(command.replace("https://hooks.example.com", hook.url), known)) || "{}",
      );
      const { webhook, webhook_id: v1, data } = said;
      known["WEBHOOK"] ??= webhook?.id;
      known["WEBHOOK_V1"] ??= v1;
      known["DELIVERY"] ??= command.includes("webhook.deliveries") ? data[0].id : undefined;
      if (command.includes("/v2/")) expect(said, command).toMatchObject({ ok: true });
      for (const line of answer) expectShown(said, line.replace("https://hooks.example.com", hook.url));
      played.push(/\/(v2\/[\w.]+|v1\/\w+)/.exec(command)?.[1] ?? "");
    }
    expect(new Set(played).size).toBe(14);
    expect(hook.types.filter((type) => type === "webhook_test")).toHaveLength(5);
  });

  test.each(
    languages,
  )("its code in $name takes a delivery, and none with a byte changed or 301 s off", async (language) => {
    using receiver = await openLanguageReceiver(page, language);
    const deliver = await signer();
    const [asSent, ...changed] = cases;
    const some = [
      ...(asSent ? [asSent] : []),
      ...share(changed, languages.indexOf(language), languages.length),
    ];
    for (const { why, seconds, change = same, says } of some) {
      expect(`${why}: ${await receiver.verify(change(await deliver(seconds)))}`).toBe(`${why}: ${says}`);
    }
  });

  test("names every operation on webhooks, and only existing ones", () => {
    const named = new Set([...page.matchAll(/\bwebhook\.[a-z][A-Za-z]+/g)].map(([name]) => name));
    const all = operationTable().all.flatMap(({ name }) => (name?.startsWith("webhook.") ? [name] : []));
    expect([...named].toSorted()).toEqual(all.toSorted());
  });

  test("lists every type of event", () => {
    expect([...page.matchAll(/^\| `(task_\w+)`/gm)].map(([, type]) => type)).toEqual([...webhookEventTypes]);
  });
});
