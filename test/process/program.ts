// Ends by the code of the server, in a way that a test chooses.
import { Worker } from "node:worker_threads";
import { awaitEnd } from "../../src/start/process/ending.ts";

const [way = "", limitMs = "0", pipe] = process.argv.slice(2);
const { asked, step } = awaitEnd(Number(limitMs), console.error, process.exit);

/** Reads a named pipe in one native call, which no thread can be taken out of before the pipe is closed. */
const longRead = 'require("node:fs").readFileSync(require("node:worker_threads").workerData, "utf8")';

const ways: Readonly<Record<string, () => Promise<unknown>>> = {
  prompt: async () => undefined,
  waits: () => new Promise((resolve) => void setTimeout(resolve, 60_000)),
  // The thread that watches has not begun by then.
  async blocks() {
    await null;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  },
};

async function main(): Promise<void> {
  if (pipe !== undefined) new Worker(longRead, { eval: true, workerData: pipe });
  const idle = setInterval(() => undefined, 60_000);
  process.stdout.write("ready\n");
  await asked;
  process.stdout.write("asked\n");
  await step("calls", (ways[way] ?? ways["waits"])?.() ?? Promise.resolve());
  clearInterval(idle);
}

await main();
