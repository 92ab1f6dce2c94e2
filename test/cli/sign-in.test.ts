import { execFile } from "node:child_process";
import { readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withLock, withLockAsync } from "../../cli/file-lock.ts";
import { refreshDigest } from "../../src/core/oauth/family.ts";
import { authorizePath, createSignedInVisitor, type FormFields } from "../console/consent-rig.ts";
import { allowIn } from "../oauth/cli-rig.ts";
import { freePort } from "../support/free-port.ts";
import { issuer, userMe } from "../support/oauth.ts";
import { root } from "../support/server-process.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { runOnTerminal, runWith, testFolder } from "./rig.ts";

const home = testFolder();
const path = join(home, ".config/atp/profiles.json");
let service: Service;
let ann: Person;
/** Ann's personal space. */
let own: Person;
beforeAll(async () => {
  service = await openService();
  ann = await service.person();
  own = await service.person({ as: ann, personal: true });
});
afterAll(() => service[Symbol.asyncDispose]());

const stored = () => JSON.parse(readFileSync(path, "utf8")).profiles[0];

/** Allows the request of an opened address for a space; returns the address to which the browser is sent. */
async function allowAt(url: string, spaceId = ann.spaceId, at = service): Promise<string> {
  const browser = await createSignedInVisitor(at.url, ann);
  const { pathname, search } = new URL(url);
  return (await browser.send(await browser.get(pathname + search), authorizePath, allowIn(spaceId))).location;
}

describe("atp login", () => {
  test("opens the page of the installation, and acts in the space that the person chooses", async () => {
    const session = runOnTerminal(home, service, {}, ["login", issuer]);
    await expect.poll(() => session.opened).toHaveLength(1);
    const { searchParams } = new URL(session.opened[0] ?? "");
    expect(Object.fromEntries(searchParams)).toMatchObject({
      client_id: "atp-cli",
      code_challenge_method: "S256",
    });
    const page = await fetch(await allowAt(session.opened[0] ?? "", own.spaceId));
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("You are signed in")]);
    expect(await session.code).toBe(0);
    expect(stored()).toMatchObject({ origin: issuer, name: "platform.test", oauth: { clientId: "atp-cli" } });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const who = JSON.parse((await runWith(home, service, ["whoami", "--json"])).out);
    expect(who).toMatchObject({
      user_id: ann.accountId,
      space: { id: own.spaceId },
      credential_kind: "token",
    });
    expect((await runWith(home, service, ["task", "create", "[[say hi]]", "--watch"])).out).toContain(
      "agent: hi\n",
    );
  });

  test("with --no-browser shows the address, and takes that of the last page from another computer; the earlier tokens end", async () => {
    const before = stored().oauth.tokens.accessToken;
    const session = runOnTerminal(home, service, {}, ["login", issuer, "--no-browser"]);
    await session.screen.until("paste its address here");
    const [address = ""] =
      /https:\/\/platform\.test\/openapi\/oauth\S*/.exec(session.screen.raw().replaceAll(/\r?\n/g, "\n")) ??
      [];
    await session.type("paste its address here", await allowAt(address));
    expect(await session.code).toBe(0);
    expect(session.opened).toEqual([]);
    expect((await userMe(service.url, before)).status).toBe(401);
    expect((await userMe(service.url, stored().oauth.tokens.accessToken)).body.space.id).toBe(ann.spaceId);
  });

  test("with --device, and where no browser can be opened, shows a page and a code, and waits for the answer; logout ends the tokens", async () => {
    const pauses: number[] = [];
    /** Runs a login, and sends the answer of the page after the first poll. */
    async function connect(
      flags: readonly string[],
      answer: FormFields,
      openUrl = async (_url: string) => true,
    ) {
      const answered = Promise.withResolvers<void>();
      const sleep = async (ms: number) => {
        if (pauses.push(ms) % 2 === 0) await answered.promise;
      };
      const session = runOnTerminal(home, service, {}, ["login", issuer, ...flags], undefined, {
        sleep,
        openUrl,
      });
      await session.screen.until("enter the code");
      const [code = ""] = /[A-Z]{4}-[A-Z]{4}/.exec(session.screen.raw()) ?? [];
      const browser = await createSignedInVisitor(service.url, ann);
      const page = await browser.send(await browser.get("/device"), "/device", [["user_code", code]]);
      await browser.send(page, "/device/answer", answer);
      answered.resolve();
      return { code: await session.code, text: session.screen.text() };
    }
    expect((await connect([], allowIn(ann.spaceId), async () => false)).code).toBe(0);
    expect((await userMe(service.url, stored().oauth.tokens.accessToken)).body.space.id).toBe(ann.spaceId);
    const refused = await connect(["--device"], [["decision", "decline"]]);
    expect([refused.code, refused.text]).toEqual([4, expect.stringContaining("the user has declined")]);
    expect((await connect(["--device"], allowIn(ann.spaceId))).code).toBe(0);
    expect(pauses).toEqual([5_000, 5_000, 5_000, 5_000, 5_000, 5_000]);
    const { accessToken } = stored().oauth.tokens;
    expect((await runWith(home, service, ["logout"])).code).toBe(0);
    expect((await userMe(service.url, accessToken)).status).toBe(401);
    expect((await connect(["--device"], allowIn(ann.spaceId))).code).toBe(0);
  });

  test("with --no-browser refuses a pasted address of another login", async () => {
    const before = stored();
    const session = runOnTerminal(home, service, {}, ["login", issuer, "--no-browser"]);
    await session.type("paste its address here", "http://127.0.0.1:4711/callback?code=x&state=wrong");
    expect(await session.code).toBe(1);
    expect(session.screen.text()).toContain("the state differs");
    expect(stored()).toEqual(before);
  });

  test.each([
    { flags: [], says: "there is no terminal: use --key-stdin, --device, or --no-browser" },
    { flags: ["--key"], says: "there is no terminal to ask for the key" },
    { flags: ["--key", "--no-browser"], says: "give one of" },
    { flags: ["--device", "--no-browser"], says: "give one of" },
    { flags: ["--key-stdin", "--client-id", "client_x"], says: "give one of" },
  ])("without a terminal and with the flags $flags is refused", async ({ flags, says }) => {
    expect(await runWith(home, service, ["login", issuer, ...flags])).toMatchObject({
      code: 2,
      err: expect.stringContaining(says),
    });
  });

  test("sends nothing to an endpoint of another origin that the installation names", async () => {
    const asked: string[] = [];
    const metadata = {
      issuer,
      authorization_endpoint: `${issuer}/openapi/oauth`,
      token_endpoint: "https://evil.example/oauth/token",
    };
    const session = runOnTerminal(home, service, {}, ["login", issuer], async (input) => {
      asked.push(String(input));
      return Response.json(metadata);
    });
    await expect.poll(() => session.opened).toHaveLength(1);
    const { searchParams } = new URL(session.opened[0] ?? "");
    const query = new URLSearchParams({
      code: "code_x",
      state: searchParams.get("state") ?? "",
      iss: issuer,
    });
    expect((await fetch(`${searchParams.get("redirect_uri")}?${query}`)).status).toBe(400);
    expect(await session.code).toBe(1);
    expect(session.screen.text()).toContain("nothing is sent there");
    expect(asked).toEqual([`${issuer}/.well-known/oauth-authorization-server`]);
  });

  test("ends with logout, which revokes the tokens and removes the profile", async () => {
    const { accessToken } = stored().oauth.tokens;
    expect((await runWith(home, service, ["logout"])).code).toBe(0);
    expect((await userMe(service.url, accessToken)).status).toBe(401);
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ profiles: [] });
  });
});

test("processes that need new tokens at once refresh once, and all of them succeed", async () => {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  await using local = await openService({ env: { PORT: String(port), BASE_URL: origin } });
  const bo = await local.person();
  const folder = testFolder();
  const session = runOnTerminal(folder, local, {}, ["login", origin]);
  await expect.poll(() => session.opened).toHaveLength(1);
  const browser = await createSignedInVisitor(origin, bo);
  const request = (session.opened[0] ?? "").replace(origin, "");
  await fetch((await browser.send(await browser.get(request), authorizePath, allowIn(bo.spaceId))).location);
  expect(await session.code).toBe(0);
  const file = join(folder, ".config/atp/profiles.json");
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace(/"expiresAt": \d+/, '"expiresAt": 0'));
  const whoami = () =>
    promisify(execFile)(join(root, "atp"), ["whoami", "--json"], {
      env: { PATH: process.env["PATH"], HOME: folder },
    });
  const all = await Promise.all(Array.from({ length: 4 }, whoami));
  expect(all.map(({ stdout }) => JSON.parse(stdout).user_id)).toEqual(Array(4).fill(bo.accountId));
  const { accessToken, refreshToken } = JSON.parse(readFileSync(file, "utf8")).profiles[0].oauth.tokens;
  expect(text).not.toContain(refreshToken);
  expect((await userMe(origin, accessToken)).status).toBe(200);
  const state = await local.store.families.findState(refreshToken.split("_")[1]);
  // The current pair replaced the first one: nothing was refreshed in between.
  const { refreshToken: first } = JSON.parse(text).profiles[0].oauth.tokens;
  expect(state).toMatchObject({ revoked: false, rotation: { digest: refreshDigest(first) } });
});

describe("the lock of a file", () => {
  const lock = join(testFolder(), "lock");

  test("is held by one at a time, and released after a failure", async () => {
    const order: string[] = [];
    const first = withLockAsync(lock, async () => {
      order.push("first");
      await new Promise((resolve) => void setImmediate(resolve));
      order.push("end of first");
      throw new Error("failed");
    });
    const second = withLockAsync(lock, async () => order.push("second"));
    await expect(first).rejects.toThrow("failed");
    await second;
    expect(order).toEqual(["first", "end of first", "second"]);
    expect(withLock(lock, () => "free")).toBe("free");
  });

  test.each([
    { of: "a process that is gone", write: () => writeFileSync(lock, "4194999") },
    {
      of: "a minute ago",
      write: () => {
        writeFileSync(lock, String(process.pid));
        utimesSync(lock, new Date(0), new Date(0));
      },
    },
  ])("$of is removed", ({ write }) => {
    write();
    expect(withLock(lock, () => "free")).toBe("free");
  });
});
