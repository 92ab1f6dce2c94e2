import type { JsonObject } from "../../core/json.ts";
import { type DevTools, type DevToolsEvent, textOf } from "./devtools.ts";

const bytesMax = 20 * 1024 * 1024;
const pagesMax = 200;
/** The address of the page: it exists only here. */
const address = "http://file.invalid/";

/** Why a page is not converted; the text is public. */
export class NotPrintable extends Error {
  override readonly name = "NotPrintable";
}

/**
 * No scripts, no frames, no forms, no refresh to another page, and nothing that is not in the file. `sandbox`
 * gives the page its own origin.
 */
const policy = "default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'; sandbox";

/**
 * Prints HTML as a PDF in a new tab. Every request except that for the page itself is refused. @throws
 * NotPrintable
 */
export async function print(tools: DevTools, html: Uint8Array): Promise<Buffer> {
  const { targetId = "" } = await tools.send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await tools.send("Target.attachToTarget", { targetId, flatten: true });
  const tab = (method: string, params: JsonObject = {}) => tools.send(method, params, textOf(sessionId));
  const loaded = Promise.withResolvers<void>();
  // A failure that nothing waits for yet must not end the process.
  loaded.promise.catch(() => undefined);
  let served = false;

  async function decide({ params }: DevToolsEvent): Promise<void> {
    const requestId = textOf(params["requestId"]);
    const { url } = params["request"] as { url: string }; // By the protocol.
    if (served || url !== address)
      return void (await tab("Fetch.failRequest", { requestId, errorReason: "BlockedByClient" }));
    served = true;
    const responseHeaders = Object.entries({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy,
    }).map(([name, value]) => ({ name, value }));
    await tab("Fetch.fulfillRequest", {
      requestId,
      responseCode: 200,
      responseHeaders,
      body: Buffer.from(html).toString("base64"),
    });
  }

  tools.onEvent((event) => {
    if (event.method === "Fetch.requestPaused") decide(event).catch(loaded.reject);
    if (event.method === "Page.loadEventFired") loaded.resolve();
  });
  await tab("Emulation.setScriptExecutionDisabled", { value: true });
  await tab("Page.enable");
  await tab("Fetch.enable", { patterns: [{ urlPattern: "*" }] });
  await tab("Page.navigate", { url: address });
  await loaded.promise;
  // One page more than allowed shows that there are too many.
  const { data } = await tab("Page.printToPDF", { printBackground: true, pageRanges: `1-${pagesMax + 1}` });
  return checkPdf(Buffer.from(textOf(data), "base64"));
}

/** Chromium writes each page as a plain object. */
function checkPdf(pdf: Buffer): Buffer {
  if (pdf.length > bytesMax) throw new NotPrintable("the PDF is over 20 MiB");
  const pages = pdf.toString("latin1").match(/\/Type \/Page\b/g)?.length ?? 0;
  if (pages > pagesMax) throw new NotPrintable(`it has more than ${pagesMax} pages`);
  if (pages === 0) throw new Error("Chromium made no PDF");
  return pdf;
}
