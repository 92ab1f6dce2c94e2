import { limitConcurrency } from "../../async/limit.ts";
import type { Clock } from "../../core/clock.ts";
import { causeText } from "../../core/failure.ts";
import type { PdfOf, PdfSource } from "../../core/files/pdf.ts";
import type { Log } from "../../core/log.ts";
import { limitTime } from "../egress/time-limit.ts";
import { type ChromiumSettings, withChromium } from "./chromium.ts";
import { markdownToHtml } from "./markdown.ts";
import { NotPrintable, print } from "./print.ts";

/** PDFs that a process makes at the same time, and calls that wait for one. */
const [atOnce, waitingMax] = [2, 8];
const timeMs = 30_000;
/** The largest source, in bytes. The time of Markdown can grow faster than its length. */
const htmlMax = 20 * 1024 * 1024;
const markdownMax = 1024 * 1024;

export interface PdfParts {
  /** Null: no PDFs are made. */
  readonly chromium: ChromiumSettings | null;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Creates the conversion of HTML and Markdown to PDF (spec/decisions.md 70). As root without another user it
 * is off.
 */
export function createPdfOf({ chromium, clock, log }: PdfParts): PdfOf {
  const limited = limitConcurrency(atOnce);
  let calls = 0;
  const isRoot = chromium !== null && process.getuid?.() === 0 && (chromium.uid ?? 0) === 0;
  if (isRoot)
    log(
      "error",
      "PDFs are not made: Chromium must not run as root; set PDF_RENDERER_UID to another user's id",
    );
  if (chromium === null || isRoot) return async () => ({ reason: "this server makes no PDFs" });

  async function render(settings: ChromiumSettings, source: PdfSource, gone: AbortSignal): ReturnType<PdfOf> {
    const { signal, stop } = limitTime(clock, timeMs, gone);
    try {
      signal.throwIfAborted();
      const bytes = await source.read();
      const html = source.isMarkdown ? await markdownToHtml(bytes, signal) : bytes;
      return { pdf: await withChromium(settings, signal, (tools) => print(tools, html)) };
    } catch (thrown) {
      if (signal.aborted) return { reason: `it took more than ${timeMs / 1000} s` };
      if (thrown instanceof NotPrintable) return { reason: thrown.message };
      log("warn", `a PDF was not made: ${causeText(thrown)}`, { cause: thrown });
      return { reason: "the conversion failed" };
    } finally {
      stop();
    }
  }

  return async (source, gone) => {
    const max = source.isMarkdown ? markdownMax : htmlMax;
    if (source.bytes > max) return { reason: `it is over ${max / 1024 / 1024} MiB` };
    if (calls >= atOnce + waitingMax) return { reason: "too many conversions are waiting" };
    calls += 1;
    try {
      return await limited(() => render(chromium, source, gone));
    } finally {
      calls -= 1;
    }
  };
}
