import type { IncomingHttpHeaders } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { constructEvent, type HeadersLike } from "../../packages/client/src/index.ts";
import { openReceiver } from "../egress/receiver.ts";
import { describeOnPostgres, nodesOf, openTestStore, rowsIn } from "../support/database.ts";
import { openService } from "../support/service.ts";
import { createTask, listenAs } from "./listen-rig.ts";

/** A receiver that keeps the bytes and the headers of its requests, and answers 500 after the first. */
async function openFailingHook() {
  const received: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
  const server = await openReceiver(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) });
    response.writeHead(received.length === 1 ? 204 : 500).end();
  });
  return { received, url: server.url, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const typesOfTask = { message: { content: "[[say Done]]" } };

describeOnPostgres("a listener of a platform", (kind) => {
  test("gets the bytes, the id and the signatures of a webhook's delivery, and affects no webhook", async () => {
    await using hook = await openFailingHook();
    await using service = await openService({
      database: kind,
      nodes: nodesOf(kind),
      env: { WEBHOOK_ALLOW: "loopback" },
    });
    const ann = await service.person();
    const { body: made } = await ann.v2("webhook.create", { url: hook.url });
    const listening = listenAs(ann, service.url);
    const { signing_secret: secret, signed_url: url } = await listening.ready;
    await createTask(ann, typesOfTask);
    await listening.until(2);
    await expect.poll(() => hook.received.length).toBeGreaterThanOrEqual(3);
    const real = hook.received.slice(1, 3).toSorted((a, b) => (a.body < b.body ? -1 : 1));
    const heard = listening.deliveries.toSorted((a, b) => (a.body < b.body ? -1 : 1));
    expect(heard.map(({ body }) => body)).toEqual(real.map(({ body }) => body));
    const { body: published } = await ann.v2("webhook.publicKey");
    const keys = [
      { ed25519PublicKey: String(published["ed25519_public_key"]) },
      { publicKey: String(published["public_key"]), url },
    ];
    for (const [index, { body, headers, event_id }] of heard.entries()) {
      const ofTransport = new Set(["host", "connection", "content-length", "transfer-encoding"]);
      const names = Object.keys(real[index]?.headers ?? {}).filter((name) => !ofTransport.has(name));
      expect(Object.keys(headers).toSorted()).toEqual(names.toSorted());
      expect(headers["webhook-id"]).toBe(event_id);
      expect(real[index]?.headers["webhook-id"]).toBe(event_id);
      for (const key of [{ secret }, ...keys])
        expect(await constructEvent(body, headers as HeadersLike, key)).toMatchObject({ event_id });
      await expect(
        constructEvent(body, headers as HeadersLike, { secret: made["signing_secret"] }),
      ).rejects.toThrow("signature");
    }
    const { body: health } = await ann.v2("webhook.health", { webhook_id: made["webhook"].id });
    expect(health).toMatchObject({ delivered: 0, failed: 0, pending: 2 });
    await listening.leave();
    // The receiver refuses the deliveries of the webhook, and each process that sends one logs it once.
    expect(new Set(service.problems.map(({ text }) => text))).toEqual(
      new Set(["deliveries to a webhook fail"]),
    );
  });

  test("is deleted when another process revokes its key", async () => {
    await using db = await openTestStore(kind);
    await using service = await openService({ over: db, nodes: nodesOf(kind), idle: true });
    const ann = await service.person();
    const listening = listenAs(ann, service.nodes[0]?.url ?? "");
    await listening.ready;
    await service.nodes.at(-1)?.store.change((tx) => tx.keys.revoke(ann.keyId, Date.now()));
    expect(await listening.end).toBe("Invalid or missing API key");
    await expect.poll(() => rowsIn(db.url, "SELECT * FROM webhook_listener")).toEqual([]);
  });
});
