import { verify } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { signedContent } from "../../src/webhooks/sign.ts";
import { openReceiver } from "../egress/receiver.ts";
import { describeOnPostgres, nodesOf } from "../support/database.ts";
import { openMailServer } from "../support/mail-server.ts";
import { openService } from "../support/service.ts";

interface ReceivedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A receiver that stores its requests, and answers `status`. */
async function openRecordingReceiver(status = () => 200) {
  const requests: ReceivedRequest[] = [];
  const server = await openReceiver(async (request, response) => {
    requests.push({ headers: request.headers, body: await text(request) });
    response.writeHead(status()).end();
  });
  const types = () => requests.map(({ body }) => JSON.parse(body).event_type);
  return {
    got: requests,
    types,
    url: `${server.url}/in?tenant=7`,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

describeOnPostgres("a platform", (kind) => {
  test("delivers the events of a task, in order, and each delivery verifies with the published keys", async () => {
    await using hook = await openRecordingReceiver();
    await using service = await openService({
      database: kind,
      nodes: nodesOf(kind),
      env: { WEBHOOK_ALLOW: "loopback" },
    });
    const ann = await service.person();
    const { body: made } = await ann.v2("webhook.create", { url: hook.url });
    await ann.v2("task.create", { message: { content: "[[plan Look | Tell]] [[step]] [[say Done]]" } });
    await expect.poll(() => hook.types().at(-1)).toBe("task_stopped");
    expect(hook.types()[0]).toBe("webhook_test");
    expect(hook.types()[1]).toBe("task_created");
    const { body: published } = await ann.v2("webhook.publicKey");
    const verifier = new StandardWebhook(String(made["signing_secret"]));
    for (const { headers, body } of hook.got) {
      const content = signedContent({
        at: Number(headers["x-webhook-timestamp"]),
        url: hook.url,
        body: Buffer.from(body),
      });
      const signature = Buffer.from(String(headers["x-webhook-signature"]), "base64");
      expect(verify("RSA-SHA256", Buffer.from(content), String(published["public_key"]), signature)).toBe(
        true,
      );
      expect(() => verifier.verify(body, headers as Record<string, string>)).not.toThrow(); // each header occurs once
      expect(headers["webhook-id"]).toBe(JSON.parse(body).event_id);
    }
  });

  test("sends mail to the owner of a webhook that was switched off, with only the host of its address", async () => {
    await using mails = await openMailServer();
    let status = 200;
    await using hook = await openRecordingReceiver(() => status);
    const env = { WEBHOOK_ALLOW: "loopback", SMTP_URL: mails.url, MAIL_FROM: "platform@example.com" };
    await using service = await openService({ database: kind, env });
    const ann = await service.person();
    await ann.v2("webhook.create", { url: hook.url });
    status = 410;
    await ann.v2("task.create", { message: { content: "[[say Done]]" } });
    await expect.poll(() => mails.received.length).toBe(1);
    const { body } = await ann.v2("webhook.list");
    expect(body["data"]).toMatchObject([
      { status: "inactive", inactive_reason: "the receiver answered 410 Gone" },
    ]);
    const [mail] = mails.received;
    expect(mail?.text).toContain("the receiver answered 410 Gone");
    expect(mail?.text).toContain(new URL(hook.url).host);
    expect(mail?.text).not.toContain("tenant");
    const [{ id: webhookId } = { id: "" }] = body["data"];
    expect(service.problems).toEqual([
      {
        level: "warn",
        text: "deliveries to a webhook fail",
        fields: { webhookId, status: 410, failure: null },
      },
      { level: "warn", text: "a webhook was switched off: its deliveries failed", fields: { webhookId } },
    ]);
  });
});
