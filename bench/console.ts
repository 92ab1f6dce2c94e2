import { measureMemory, measurePages } from "./console/pages.ts";
import { measureScript } from "./console/script.ts";
import { openChromium } from "./console/visitor.ts";
import type { Finding } from "./endurance/finding.ts";
import type { Stage } from "./figure.ts";

/**
 * Measures the web application in Chromium: its size, the time to the list, a long conversation, and memory.
 */
export async function runConsole(stage: Stage, report: (finding: Finding) => void): Promise<void> {
  report(measureScript());
  const browser = await openChromium();
  try {
    for (const measure of [measurePages, measureMemory]) {
      await using stack = new AsyncDisposableStack();
      for (const finding of await measure(browser, { ...stage, stack })) report(finding);
    }
  } finally {
    await browser.close();
  }
}
