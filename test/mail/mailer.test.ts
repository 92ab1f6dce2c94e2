import { describe, expect, test } from "vitest";
import { createMailer, invitationMail } from "../../src/adapters/mail/mail.ts";
import { openMailServer } from "../support/mail-server.ts";

const url = "https://accounts.example.com/link/abc-_123";
const invitation = invitationMail({ email: "bo@example.com", team: "North", url });
const from = "Platform <platform@example.com>";

describe("mail", () => {
  test("delivers an invitation to its recipient, with the link unchanged", async () => {
    await using server = await openMailServer();
    await createMailer({ url: server.url, from, demandTls: false })(invitation);
    expect(server.received).toHaveLength(1);
    expect(server.received[0]?.to).toEqual(["bo@example.com"]);
    expect(server.received[0]?.text).toContain(url);
    expect(server.received[0]?.text).toContain("Subject: You are invited to North");
  });

  test("rejects when the server refuses the recipient, or is not reachable", async () => {
    await using server = await openMailServer({
      onRcptTo: (_address, _session, done) => done(new Error("no such person")),
    });
    await expect(createMailer({ url: server.url, from, demandTls: false })(invitation)).rejects.toThrow();
    await expect(
      createMailer({ url: "smtp://127.0.0.1:9", from, demandTls: false })(invitation),
    ).rejects.toThrow();
  });

  test("sends nothing unencrypted when TLS is required and the server has none", async () => {
    await using server = await openMailServer();
    await expect(createMailer({ url: server.url, from, demandTls: true })(invitation)).rejects.toThrow();
    expect(server.received).toEqual([]);
  });

  test("a team's name or an address cannot add recipients or headers", async () => {
    await using server = await openMailServer();
    const injected = invitationMail({ email: "bo@example.com", team: "North\r\nBcc: eve@example.com", url });
    await createMailer({ url: server.url, from, demandTls: false })(injected);
    expect(server.received[0]?.to).toEqual(["bo@example.com"]);
    const [head = ""] = (server.received[0]?.text ?? "").split("\r\n\r\n");
    expect(head).toContain("Subject: You are invited to North");
    expect(head).not.toMatch(/^Bcc:/m);
  });
});
