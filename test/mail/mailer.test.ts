import { describe, expect, test } from "vitest";
import { invitationMail } from "../../src/mail/invitation.ts";
import { mailer } from "../../src/mail/mailer.ts";
import { openMailServer } from "../support/mail-server.ts";

const url = "https://accounts.example.com/link/abc-_123";
const invitation = invitationMail({ email: "bo@example.com", team: "North", url });
const from = "Platform <platform@example.com>";

describe("mail", () => {
  test("brings an invitation to the one it is for, with the link as it is", async () => {
    await using server = await openMailServer();
    await mailer({ url: server.url, from, demandTls: false })(invitation);
    expect(server.received).toHaveLength(1);
    expect(server.received[0]?.to).toEqual(["bo@example.com"]);
    expect(server.received[0]?.text).toContain(url);
    expect(server.received[0]?.text).toContain("Subject: You are invited to North");
  });

  test("rejects when the server refuses the recipient, or is not there", async () => {
    await using server = await openMailServer({ onRcptTo: (_address, _session, done) => done(new Error("no such person")) });
    await expect(mailer({ url: server.url, from, demandTls: false })(invitation)).rejects.toThrow();
    await expect(mailer({ url: "smtp://127.0.0.1:9", from, demandTls: false })(invitation)).rejects.toThrow();
  });

  test("sends nothing in the clear where TLS is demanded and the server has none", async () => {
    await using server = await openMailServer();
    await expect(mailer({ url: server.url, from, demandTls: true })(invitation)).rejects.toThrow();
    expect(server.received).toEqual([]);
  });

  test("cannot be led to other recipients or headers by a team's name or an address", async () => {
    await using server = await openMailServer();
    const crooked = invitationMail({ email: "bo@example.com", team: "North\r\nBcc: eve@example.com", url });
    await mailer({ url: server.url, from, demandTls: false })(crooked);
    expect(server.received[0]?.to).toEqual(["bo@example.com"]);
    const [head = ""] = (server.received[0]?.text ?? "").split("\r\n\r\n");
    expect(head).toContain("Subject: You are invited to North");
    expect(head).not.toMatch(/^Bcc:/m);
  });
});
