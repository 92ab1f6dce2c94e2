import { parentPort, workerData } from "node:worker_threads";
import { getDocumentProxy } from "unpdf";

/** Pages of a document as text. */
export interface PdfPart {
  /** How many there are. */
  readonly pages: number;
  /** Of the pages from the first one that was asked for, as many as fit. */
  readonly texts: readonly string[];
}

const charactersMax = 20_000;

async function read(bytes: Uint8Array, from: number): Promise<PdfPart> {
  const document = await getDocumentProxy(bytes);
  const texts: string[] = [];
  let room = charactersMax;
  for (let page = from + 1; page <= document.numPages && room > 0; page += 1) {
    const { items } = await (await document.getPage(page)).getTextContent();
    const text = items.map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : "")).join("");
    if (texts.length > 0 && text.length > room) break;
    texts.push(text.length > charactersMax ? `${text.slice(0, charactersMax)} … (the page goes on)` : text);
    room -= text.length;
  }
  return { pages: document.numPages, texts };
}

// What `pdf.ts` gives to this thread.
const { bytes, from } = workerData as { readonly bytes: Uint8Array; readonly from: number };
parentPort?.postMessage(await read(Uint8Array.from(bytes), from).catch(() => null));
