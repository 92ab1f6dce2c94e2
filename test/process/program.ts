// Ends by the code of the server, in a way that a test chooses.
import { Worker } from "node:worker_threads";
import { awaitEnd } from "../../src/process/ending.ts";

const [way = "", limitMs = "0"] = process.argv.slice(2);
const { asked, step } = awaitEnd(Number(limitMs), console.error, process.exit);

/** A call that no thread can be taken out of before it returns. */
const longStatement = `
  const Database = require("better-sqlite3");
  const count = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 1000000000) SELECT sum(x) FROM c";
  require("node:worker_threads").parentPort.postMessage("begun");
  new Database(":memory:").prepare(count).get();
`;

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
  if (way === "thread") await new Promise((resolve) => new Worker(longStatement, { eval: true }).once("message", resolve));
  const idle = setInterval(() => undefined, 60_000);
  process.stdout.write("ready\n");
  await asked;
  process.stdout.write("asked\n");
  await step("calls", (ways[way] ?? ways["waits"])?.() ?? Promise.resolve());
  clearInterval(idle);
}

await main();
