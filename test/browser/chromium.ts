import { type Browser, chromium } from "playwright-core";
import { lacks } from "../support/needs.ts";
import { allOnPath } from "../support/tools.ts";

/** False where there is no Chromium: then tests of pages are skipped. */
export const hasChromium: boolean = !lacks("chromium");

/** The program, where there is one. */
export const executablePath: string = allOnPath("chromium")[0] ?? "chromium";

/** A real browser, without a window and without a word to anybody but us. */
export const launchChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"] });
