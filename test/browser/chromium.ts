import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from "playwright-core";
import { lacks } from "../support/needs.ts";
import { hangMs } from "../support/patience.ts";
import { allOnPath } from "../support/tools.ts";

/** False where there is no Chromium: then tests of pages are skipped. */
export const hasChromium: boolean = !lacks("chromium");

/** The program, where there is one. */
export const executablePath: string = allOnPath("chromium")[0] ?? "chromium";

/** A real browser, without a window and without a word to anybody but us. */
export const launchChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"], timeout: hangMs });

/** A context whose waits guard against hangs only. */
export async function openContext(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(hangMs);
  return context;
}
