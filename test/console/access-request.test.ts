import { expect, test } from "vitest";
import { accessPath } from "../../src/sign-in-pages/access-request.ts";
import { openBrowser } from "../sign-in/browser.ts";
import { openMailServer } from "../support/mail-server.ts";
import { putApp } from "../support/oauth.ts";
import { openService } from "../support/service.ts";
import { requestOf } from "./consent-rig.ts";

// spec/decisions.md 111.
test("a person without an account asks the owner of the app's team, with the same answer for every address, at most 20 times a day", async () => {
  await using mails = await openMailServer();
  const service = await openService({
    env: { SMTP_URL: mails.url, MAIL_FROM: "platform@example.com", RATE_LIMITS: "off" },
    idle: true,
  });
  const owner = await service.person();
  const member = await service.person({ with: owner });
  const ask = `${accessPath}?next=${encodeURIComponent(requestOf(await putApp(service, owner, { name: "Post office" })))}`;
  const send = async (email: string) => {
    const browser = openBrowser(service.url);
    return browser.submit(await browser.get(ask), accessPath, { email });
  };
  expect(await send("not an address")).toMatchObject({
    status: 400,
    text: expect.stringContaining("This is not an e-mail address."),
  });
  const email = (await member.v2("user.me")).body["email"];
  const [unknown, known] = [await send("bo@example.com"), await send(email)];
  expect([unknown.status, known.status]).toEqual([200, 200]);
  expect(unknown.text.replaceAll("bo@example.com", "ADDRESS")).toBe(known.text.replaceAll(email, "ADDRESS"));
  for (let nth = 0; nth < 25; nth += 1) await send(`bo${nth}@example.com`);
  await service[Symbol.asyncDispose]();
  expect(mails.received).toHaveLength(20);
  expect(new Set(mails.received.flatMap(({ to }) => to)).size).toBe(1);
  expect(
    mails.received.some(({ text }) => /bo@example\.com wants to use the app Post office/.test(text)),
  ).toBe(true);
  expect(JSON.stringify(service.logged)).not.toContain("bo@");
});

test("only a request of a known app has the page", async () => {
  await using service = await openService({ idle: true });
  const browser = openBrowser(service.url);
  for (const next of ["/account", "https://evil.example", "/openapi/oauth?client_id=client_unknown"])
    expect(await browser.get(`${accessPath}?next=${encodeURIComponent(next)}`)).toMatchObject({
      status: 303,
      location: "/sign-in",
    });
});
