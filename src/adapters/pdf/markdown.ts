import { once } from "node:events";
import { Worker } from "node:worker_threads";

/** Converts Markdown to HTML in a thread with limits: its time can grow faster than the text. */
export async function markdownToHtml(markdown: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
  const worker = new Worker(new URL("./markdown-worker.ts", import.meta.url), {
    workerData: { text: new TextDecoder().decode(markdown) },
    resourceLimits: { maxOldGenerationSizeMb: 256 },
    env: {},
  });
  try {
    const [html] = await once(worker, "message", { signal });
    return Buffer.from(String(html));
  } finally {
    await worker.terminate();
  }
}
