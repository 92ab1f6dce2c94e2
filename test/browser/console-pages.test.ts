import axe from "axe-core";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { share } from "../support/depth.ts";
import { hasChromium } from "./chromium.ts";
import { type ConsoleStage, openConsoleStage } from "./console-stage.ts";

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

/**
 * The findings of axe on the present page, one line each. axe is injected past the page's policy, which is
 * still observed.
 */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{ violations: readonly Violation[] }>("axe.run()");
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}

/** By how many pixels the page is wider than the window. */
const overflow = (page: Page): Promise<number> =>
  page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");

/** Pages whose data takes longer than the page, each with a heading that comes with the data. */
const slow: Readonly<Record<string, string>> = { "/settings/installation": "Queue by profile" };

const story = `Compare the offers. [[plan Read | Count | Write]][[step]][[tool read_file]][[think Hm]][[step]][[say | A | B |
|---|---|
| 1 | 2 |

\`\`\`js
const a = 1;
\`\`\`
]][[file cost.csv | a,b]][[confirm terminalExecute]]`;

describe.skipIf(!hasChromium)("every page of the console", () => {
  let stage: ConsoleStage;
  let paths: string[];
  beforeAll(async () => {
    stage = await openConsoleStage();
    await stage.service.store.change((tx) => tx.accounts.setOperator(stage.owner.accountId, true));
    const { body } = await stage.owner.v2("task.create", {
      message: { content: story },
      share_visibility: "public",
    });
    const taskId = String(body["task_id"]);
    await stage.owner.v2("task.create", {
      message: { content: "[[fail internal | It broke]]" },
      title: "A failed task",
    });
    const { context, page } = await stage.open();
    await page.goto("/settings/profile");
    await page.getByRole("button", { name: "Save" }).waitFor();
    const links = await page
      .locator("nav a")
      .evaluateAll((all) => all.map((link) => link.getAttribute("href") ?? ""));
    paths = [...new Set([...links, "/new", "/welcome", `/app/${taskId}`, `/share/${taskId}`])].filter(
      (path) => path !== "/settings",
    );
    await context.close();
  });
  afterAll(() => stage?.[Symbol.asyncDispose]());

  // In a short run each page in one variant.
  test.each([
    { colorScheme: "light", width: 1600, part: 0 },
    { colorScheme: "dark", width: 1024, part: 1 },
    { colorScheme: "light", width: 390, part: 2 },
    { colorScheme: "dark", width: 320, part: 3 },
  ] as const)("has no finding of axe, no violation of its policy and no sideways scroll, also from right to left ($colorScheme, $width px)", async ({
    colorScheme,
    width,
    part,
  }) => {
    const chosen = share(paths, part, 4);
    const { context, page, faults } = await stage.open({
      colorScheme,
      viewport: { width, height: 900 },
      reducedMotion: "reduce",
    });
    const found: string[] = [];
    for (const path of chosen) {
      await page.goto(path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      if (path in slow) await page.getByRole("heading", { name: slow[path] ?? "" }).waitFor();
      // The first answers have come once the browser has nothing to do.
      await page.evaluate("new Promise((idle) => requestIdleCallback(idle))");
      found.push(...(await findings(page)).map((line) => `${path} ${line}`));
      const wider = await overflow(page);
      if (wider > 0) found.push(`${path} scrolls sideways by ${wider} px`);
      if (width === 1600) {
        // A window of 1280 by 900 pixels whose page is zoomed to 200 %.
        await page.setViewportSize({ width: 640, height: 450 });
        const wide = await overflow(page);
        if (wide > 0) found.push(`${path} scrolls sideways by ${wide} px when it is zoomed to 200 %`);
        await page.setViewportSize({ width, height: 900 });
      }
      await page.evaluate("document.documentElement.dir = 'rtl'");
      const widerRight = await overflow(page);
      if (widerRight > 0) found.push(`${path} scrolls sideways by ${widerRight} px from right to left`);
    }
    await context.close();
    expect(found).toEqual([]);
    expect(faults).toEqual([]);
    expect(paths.length).toBeGreaterThan(4);
  });
});
