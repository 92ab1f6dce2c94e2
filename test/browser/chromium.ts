import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const executablePath = "/usr/bin/chromium";

/** False where there is no Chromium: then tests of pages are skipped, and it is said aloud. */
export const hasChromium: boolean = existsSync(executablePath);
if (!hasChromium) console.error(`\n\n  *** No ${executablePath}: EVERY TEST OF PAGES IN A BROWSER IS SKIPPED ***\n\n`);

/** A real browser, without a window and without a word to anybody but us. */
export const launchChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"] });
