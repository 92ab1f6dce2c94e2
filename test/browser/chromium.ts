import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from "playwright-core";
import { lacks } from "../support/needs.ts";
import { hangMs, pageMs } from "../support/patience.ts";
import { allOnPath } from "../support/tools.ts";

/** False where Chromium is missing; tests of pages are then skipped. */
export const hasChromium: boolean = !lacks("chromium");

/** The path of the program, where it is installed. */
export const executablePath: string = allOnPath("chromium")[0] ?? "chromium";

let launched: Promise<Browser> | undefined;

/**
 * The browser of this test process, for tests that open separate contexts: headless and without traffic to
 * others. It ends with the process.
 */
export const sharedChromium = (): Promise<Browser> =>
  (launched ??= chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
    timeout: hangMs,
  }));

/** A context whose timeouts only guard against hangs. */
export async function openContext(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(pageMs);
  return context;
}
