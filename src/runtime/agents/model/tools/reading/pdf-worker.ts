import { parentPort, workerData } from "node:worker_threads";
import { getDocumentProxy } from "unpdf";

/** Pages of a document as text. */
export interface PdfPart {
  /** The number of pages of the document. */
  readonly pages: number;
  /** The texts of the pages from the requested one on, as many as fit. */
  readonly texts: readonly string[];
}

const charactersMax = 20_000;

async function read(bytes: Uint8Array, from: number): Promise<PdfPart> {
  const document = await getDocumentProxy(bytes);
  const texts: string[] = [];
  let charactersLeft = charactersMax;
  for (let page = from + 1; page <= document.numPages && charactersLeft > 0; page += 1) {
    const { items } = await (await document.getPage(page)).getTextContent();
    const text = items.map((item) => ("str" in item ? item.str + (item.hasEOL ? "\n" : "") : "")).join("");
    if (texts.length > 0 && text.length > charactersLeft) break;
    texts.push(text.length > charactersMax ? `${text.slice(0, charactersMax)} … (the page continues)` : text);
    charactersLeft -= text.length;
  }
  return { pages: document.numPages, texts };
}

// The input of this thread, from `pdf.ts`.
const { bytes, from } = workerData as { readonly bytes: Uint8Array; readonly from: number };
parentPort?.postMessage(await read(Uint8Array.from(bytes), from).catch(() => null));
