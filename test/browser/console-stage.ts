import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from "vitest";
import { type DatabaseKind, describeOnOne } from "../support/database.ts";
import { freePort } from "../support/free-port.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { hasChromium, openContext, sharedChromium } from "./chromium.ts";

/** A suite about pages of the console: in short runs on one of the databases, in full runs on both. */
export function describeWithChromium(name: string, suite: (database: DatabaseKind) => void): void {
  describe.skipIf(!hasChromium)("in Chromium", () => describeOnOne(name, suite));
}

/** A platform that runs tasks, the owner of a team, and a browser. */
export interface ConsoleStage extends AsyncDisposable {
  readonly service: Service;
  readonly url: string;
  readonly owner: Person;
  /**
   * A browser window in which a person, by default the owner, is signed in; null: a visitor without a
   * session.
   */
  open(options?: BrowserContextOptions, who?: Person | null): Promise<Visit>;
}

/** A window with a page, and what went wrong in it. */
export interface Visit {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Violations of the security policy and errors of scripts, of all pages of the window. */
  readonly faults: readonly string[];
}

export async function openConsoleStage(
  database: DatabaseKind = "sqlite",
  env: Readonly<Record<string, string>> = {},
): Promise<ConsoleStage> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const service = await openService({ database, env: { PORT: `${port}`, BASE_URL: url, ...env } });
  const owner = await service.person();
  return {
    ...{ service, url, owner },
    open: (options = {}, who = owner) => openWindow(url, who, options),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

/** A browser window at a server, in which a person is signed in; null: a visitor without a session. */
export async function openWindow(
  url: string,
  who: Person | null,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await openContext(await sharedChromium(), { baseURL: url, locale: "en-GB", ...options });
  if (who) await signInto(context, url, who);
  const faults = watchFaults(context);
  return { context, page: await context.newPage(), faults };
}

/** Signs a person in instead of the one before. */
export async function signInto(context: BrowserContext, url: string, who: Person): Promise<void> {
  const { headers } = await who.session();
  const [name = "", value = ""] = headers.cookie.split("=");
  await context.addCookies([{ name, value, url }]);
}

function watchFaults(context: BrowserContext): readonly string[] {
  const faults: string[] = [];
  context.on("page", (page) => page.on("pageerror", ({ message }) => faults.push(message)));
  context.on("console", (line) => {
    if (/Content Security Policy|Trusted(HTML|Script)/.test(line.text())) faults.push(line.text());
  });
  return faults;
}

/**
 * The stage of a test file: opened before its tests and closed after them. Each test has a new window of the
 * owner, which must end without faults.
 *
 * @param onOpen gets the window of each test.
 */
export function consoleStage(
  database: DatabaseKind,
  onOpen: (visit: Visit) => void,
  env: Readonly<Record<string, string>> = {},
): ConsoleStage {
  let stage: ConsoleStage;
  let visit: Visit;
  beforeAll(async () => {
    stage = await openConsoleStage(database, env);
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    visit = await stage.open();
    onOpen(visit);
  });
  afterEach(async () => {
    await visit.context.close();
    expect(visit.faults).toEqual([]);
  });
  return {
    get service() {
      return stage.service;
    },
    get url() {
      return stage.url;
    },
    get owner() {
      return stage.owner;
    },
    open: (options, who) => stage.open(options, who),
    [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose](),
  };
}
