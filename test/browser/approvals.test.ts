import { describe } from "vitest";
import { visible } from "../../src/core/actions/visible.ts";
import { testSurface } from "../actions/loop.ts";
import type { OpenSurface } from "../actions/surface.ts";
import { freePort } from "../support/free-port.ts";
import { hasChromium } from "./chromium.ts";
import { openWindow } from "./console-stage.ts";

/** The card of an approval on the task's page, in a browser. */
const consoleCard: OpenSurface = async ({ service, person }) => {
  const { context, page } = await openWindow(service.url, person);
  return {
    async show(taskId, wait) {
      await wait();
      await page.goto(`/app/${taskId}`);
      const card = page.locator("[data-act]");
      await card.waitFor();
      const found = await card
        .locator("[data-path]")
        .evaluateAll((rows) =>
          rows.map((row) => [row.getAttribute("data-path"), row.querySelector("dd")?.textContent]),
        );
      const values = new Map(found as [string, string][]);
      return {
        text: (await card.textContent()) ?? "",
        offersDecision: (await card.locator("button.primary").count()) === 1,
        shows: ({ path, value }) => values.get(path) === visible(value),
      };
    },
    close: () => context.close(),
  };
};

// The cookie of a session and its calls belong to the address of the server.
const port = await freePort();
const env = { PORT: `${port}`, BASE_URL: `http://127.0.0.1:${port}` };

describe.skipIf(!hasChromium)("in Chromium", () =>
  testSurface("the console", consoleCard, { hasRoomLimit: false, part: 0, parts: 5, env }),
);
