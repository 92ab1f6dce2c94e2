import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page, Request } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../support/free-port.ts";
import { type LocalServer, openLocal, openMcpServer } from "../../support/mcp-server.ts";
import { openService, type Person, type Service } from "../../support/service.ts";
import { openWindow } from "../console-stage.ts";
import { movableDays } from "./days.ts";
import { type Scene, scenesOf } from "./scenes.ts";
import { type Seeded, seed } from "./seed.ts";

/** A list in an environment variable. */
const listOf = (name: string, fallback: string): readonly string[] =>
  (process.env[name] || fallback).split(",");

const folder = process.env["PICTURES"] || "data/pictures";
const widths = listOf("WIDTHS", "390,1024,1600").map(Number);
const themes = listOf("THEMES", "light,dark").filter((theme) => theme === "light" || theme === "dark");
const isWanted = ({ name }: Scene): boolean => new RegExp(`^(${process.env["SCENES"] || ".*"})$`).test(name);

const heights = new Map([[390, 844]]);

describe("pictures of the console", () => {
  const opened = new AsyncDisposableStack();
  let service: Service;
  let seeded: Seeded;
  let newcomer: Person;
  let url: string;
  beforeAll(async () => {
    mkdirSync(folder, { recursive: true });
    const [receiver, failing, mcp] = [
      opened.use(await openLocal((_, response) => void response.end("thanks"))),
      opened.use(await openFailing()),
      opened.use(await openMcpServer()),
    ];
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const days = movableDays();
    const env = { PORT: String(port), BASE_URL: url, WEBHOOK_ALLOW: "loopback", CONNECTOR_ALLOW: "loopback" };
    service = opened.use(await openService({ env, clock: days.clock }));
    seeded = await seed(service, days, { receiver: receiver.url, failing: failing.url, mcp: mcp.url });
    newcomer = await service.person();
    for (const { accountId } of [seeded.owner, newcomer])
      await service.store.change((tx) => tx.accounts.setOperator(accountId, true));
  });
  afterAll(() => opened.disposeAsync());

  const shots = themes.flatMap((colorScheme) => widths.map((width) => ({ colorScheme, width })));
  test.each(shots)("$colorScheme, $width px", async ({ colorScheme, width }) => {
    const missed: string[] = [];
    for (const scene of scenesOf(seeded).filter(isWanted)) {
      const who = { new: newcomer, visitor: null, owner: seeded.owner }[scene.who ?? "owner"];
      const viewport = { width, height: heights.get(width) ?? 900 };
      const options = {
        colorScheme,
        viewport,
        reducedMotion: "reduce",
        locale: scene.locale ?? "en-GB",
      } as const;
      const { context, page } = await openWindow(url, who, options);
      await take(page, scene, join(folder, `${scene.name}-${width}-${colorScheme}.png`)).catch(
        (error: unknown) => missed.push(`${scene.name}: ${String(error).split("\n")[0]}`),
      );
      await context.close();
    }
    expect(missed).toEqual([]);
  });
});

/** A receiver that accepts the test request of its creation, and fails from then on. */
function openFailing(): Promise<LocalServer> {
  let isTested = false;
  return openLocal((_, response) => {
    response.writeHead(isTested ? 503 : 200).end("maintenance");
    isTested = true;
  });
}

/** Opens a page, waits until it has its data, and takes the picture. */
async function take(page: Page, { path, act }: Scene, file: string): Promise<void> {
  page.setDefaultTimeout(10_000);
  const calls = callsOf(page);
  await page.goto(path);
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await calls.settled();
  await act?.(page);
  if (act) await calls.settled();
  const isWhole = act === undefined && path !== "/" && !path.startsWith("/app/");
  await page.screenshot({ path: file, fullPage: isWhole });
}

/** Opens a page's record of its calls. Streams stay open, so they do not count. */
function callsOf(page: Page): { readonly settled: () => Promise<void> } {
  const open = new Set<Request>();
  let last = performance.now();
  const end = (request: Request): void => {
    open.delete(request);
    last = performance.now();
  };
  page.on("request", (request) => {
    if (!/\/Watch\w+$/.test(request.url())) open.add(request);
  });
  page.on("requestfinished", end);
  page.on("requestfailed", end);
  return {
    /** The calls of a page begin soon after one another. */
    async settled() {
      last = performance.now();
      while (open.size > 0 || performance.now() - last < 600) await page.waitForTimeout(50);
    },
  };
}
