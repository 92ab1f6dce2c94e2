import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, type CDPSession, chromium, type Page } from "playwright-core";
import { systemClock } from "../../src/core/clock.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { newSessionText, sessionDigest, sessionMs } from "../../src/core/sign-in/sign-in.ts";
import { sessionCookieName } from "../../src/http/request.ts";
import { openStore } from "../../src/store/open.ts";
import { MissingDependency } from "../databases.ts";
import type { Installed } from "../installed.ts";

/** Opens headless Chromium. @throws MissingDependency if it is not installed. */
export async function openChromium(): Promise<Browser> {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const executablePath = folders.map((folder) => join(folder, "chromium")).find((path) => existsSync(path));
  if (executablePath === undefined) throw new MissingDependency("Chromium is not installed");
  return chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
  });
}

/** Signs the owner in. Call it before a server opens the database, which can be limited to one process. */
export async function signInOwner({ databaseUrl, owner }: Installed): Promise<string> {
  const store = await openStore({ databaseUrl, clock: systemClock, random: systemRandom });
  try {
    const text = newSessionText(systemRandom);
    const now = systemClock.now();
    const { accountId, spaceId } = owner;
    const times = { createdAt: now, provedAt: now, expiresAt: now + sessionMs };
    await store.change((tx) =>
      tx.sessions.insert({
        id: systemIds.short(),
        digest: sessionDigest(text),
        accountId,
        spaceId,
        ...times,
      }),
    );
    return text;
  } finally {
    await store.close();
  }
}

/** Runs in each page before its scripts: records long tasks, in milliseconds. */
const recorder = `
  window.longTasks = [];
  new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: "longtask", buffered: true });`;

/** A page of a new browser profile, signed in. */
export async function openPage(browser: Browser, url: string, session: string): Promise<Page> {
  const context = await browser.newContext({
    baseURL: url,
    viewport: { width: 1280, height: 800 },
    locale: "en-GB",
  });
  context.setDefaultTimeout(120_000);
  await context.addCookies([{ name: sessionCookieName(url), value: session, url }]);
  await context.addInitScript(recorder);
  return context.newPage();
}

/**
 * The milliseconds since the navigation at which a selector is there and the main thread has nothing to do.
 */
export const interactiveAt = (page: Page, selector: string): Promise<number> =>
  page.evaluate<number>(`new Promise((resolve) => {
    const look = () => document.querySelector(${JSON.stringify(selector)})
      ? requestIdleCallback(() => resolve(performance.now()))
      : requestAnimationFrame(look);
    look();
  })`);

/** The long tasks since the last call. */
export const takeLongTasks = (page: Page): Promise<readonly number[]> =>
  page.evaluate<number[]>("window.longTasks.splice(0)");

/** The bytes of the JavaScript heap in use, after a collection. */
export async function heapBytes(session: CDPSession): Promise<number> {
  await session.send("HeapProfiler.collectGarbage");
  return (await session.send("Runtime.getHeapUsage")).usedSize;
}
