import { existsSync, writeFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { createFirstLink } from "../../src/core/use-cases/first-sign-in.ts";
import { initializeInstallation } from "../../src/core/use-cases/initialize-installation.ts";
import { invitePerson } from "../../src/core/use-cases/invite-person.ts";
import {
  type DatabaseKind,
  describeOnPostgres,
  nodesOf,
  openTestStore,
  rowsIn,
  runOn,
} from "../support/database.ts";
import { openService, type Service } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { openBrowser } from "./browser.ts";

/** An installation that no user has signed in to, with the file of its first key. */
async function openNewInstallation(kind: DatabaseKind, env: Readonly<Record<string, string>> = {}) {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await mkdtempDisposable(join(tmpdir(), "first-link-")));
  const clock = stillClock();
  const database = opening.use(await openTestStore(kind, { clock }));
  const { store } = database;
  const context = () => ({ now: clock.now(), ids: systemIds, random: systemRandom });
  await store.change((tx) => initializeInstallation(tx, context(), "owner@example.com"));
  const keyPath = join(folder.path, "first-key");
  writeFileSync(keyPath, "the first key");
  let service: Service | undefined;
  const start = async () => {
    service = await openService({
      over: database,
      nodes: nodesOf(kind),
      clock,
      idle: true,
      env: { DATA_DIR: folder.path, ...env },
    });
    return service;
  };
  opening.defer(() => service?.[Symbol.asyncDispose]());
  await start();
  const opened = opening.move();
  return {
    clock,
    store,
    database,
    logged: () => service?.logged,
    hasKeyFile: () => existsSync(keyPath),
    /** A browser that talks to the next process. */
    browser: () => openBrowser(service?.url ?? ""),
    link: async () => `/link/${(await store.change((tx) => createFirstLink(tx, context()))) ?? "none"}`,
    invite: async (email: string) =>
      `/link/${(await store.change((tx) => invitePerson(tx, context(), { email }))).link}`,
    async restart() {
      await service?.[Symbol.asyncDispose]();
      await start();
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

type Installation = Awaited<ReturnType<typeof openNewInstallation>>;

/** Opens the link and presses its button. */
async function press({ browser }: Installation, link: string) {
  const visitor = browser();
  return visitor.submit(await visitor.get(link), link);
}

describeOnPostgres("the first link of an installation", (kind) => {
  test("signs the owner in once, leads to the first page, deletes the file of the first key, and is in no log", async () => {
    await using installation = await openNewInstallation(kind);
    const link = await installation.link();
    const browser = installation.browser();
    const page = await browser.get(link);
    expect(page.headers.get("referrer-policy")).toBe("no-referrer");
    expect(installation.hasKeyFile()).toBe(true);
    const signedIn = await browser.submit(page, link);
    expect(signedIn).toMatchObject({ status: 303, location: "/welcome" });
    expect(signedIn.headers.get("referrer-policy")).toBe("no-referrer");
    expect(installation.hasKeyFile()).toBe(false);
    expect((await browser.get("/sign-out")).text).toContain("owner@example.com");
    expect((await browser.get("/welcome")).headers.get("referrer-policy")).toBe("no-referrer");
    expect((await browser.submit(page, link)).status).toBe(410);
    expect((await browser.get(link)).text).toContain("You are signed in as owner@example.com.");
    expect((await installation.browser().get(link)).text).not.toContain("owner@example.com");
    const { url } = installation.database;
    const rows = [
      await rowsIn(url, "SELECT * FROM sign_in_link"),
      await rowsIn(url, "SELECT * FROM audit_event"),
    ];
    const written = JSON.stringify([rows, installation.logged()]);
    for (const operation of ["console/Invite", "console/SignIn"]) expect(written).toContain(operation);
    expect(written).not.toContain(link.slice("/link/".length));
  });

  test("gives one session to twenty presses at once", async () => {
    await using installation = await openNewInstallation(kind);
    const link = await installation.link();
    const browsers = Array.from({ length: 20 }, () => installation.browser());
    const pages = await Promise.all(browsers.map((browser) => browser.get(link)));
    const answers = await Promise.all(
      browsers.map((browser, i) => browser.submit(pages[i] ?? never(), link)),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, ...Array(19).fill(410)]);
    expect(await rowsIn(installation.database.url, "SELECT id FROM session")).toHaveLength(1);
  });

  test("expires after 15 minutes", async () => {
    await using installation = await openNewInstallation(kind);
    const link = await installation.link();
    const browser = installation.browser();
    installation.clock.step(15 * 60_000 - 1);
    const page = await browser.get(link);
    expect(page.status).toBe(200);
    installation.clock.step(1);
    expect((await browser.submit(page, link)).status).toBe(410);
    expect((await installation.browser().get(link)).status).toBe(410);
  });

  test("outlives the process that printed it, and stays used when that process is replaced", async () => {
    await using installation = await openNewInstallation(kind);
    const [link, other] = [await installation.link(), await installation.link()];
    await installation.restart();
    expect((await press(installation, link)).status).toBe(303);
    await installation.restart();
    for (const used of [link, other]) expect((await installation.browser().get(used)).status).toBe(410);
  });

  test("of two links, two presses at once use one", async () => {
    await using installation = await openNewInstallation(kind);
    const links = [await installation.link(), await installation.link()];
    const answers = await Promise.all(links.map((link) => press(installation, link)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 410]);
  });

  test("stops working when a user has signed in, also after their session has ended", async () => {
    await using installation = await openNewInstallation(kind);
    const link = await installation.link();
    const browser = installation.browser();
    const page = await browser.get(link);
    expect((await press(installation, await installation.invite("ann@example.com"))).status).toBe(303);
    await runOn(installation.database.url, "DELETE FROM session");
    expect((await browser.submit(page, link)).status).toBe(410);
    expect(await installation.link()).toBe("/link/none");
    expect(installation.hasKeyFile()).toBe(true);
  });

  test.each([
    ["a password", "password = 'x'"],
    ["an identity", "issuer = 'https://id.example', subject = 's'"],
  ])("cannot be made for an installation in which an account has %s", async (_, set) => {
    await using database = await openTestStore(kind);
    const context = { now: 1, ids: systemIds, random: systemRandom };
    await database.store.change((tx) => initializeInstallation(tx, context, "owner@example.com"));
    await runOn(database.url, `UPDATE account SET ${set}`);
    expect(await database.store.change((tx) => createFirstLink(tx, context))).toBeNull();
  });

  test("leads to a password where the console is off", async () => {
    await using installation = await openNewInstallation(kind, { CONSOLE: "off" });
    expect(await press(installation, await installation.link())).toMatchObject({
      status: 303,
      location: "/account/password",
    });
  });
});

function never(): never {
  throw new Error("there is none");
}
