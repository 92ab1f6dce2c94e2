import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.env["DATA_DIR"] ?? ".";
/** The file with the length of the pause; without it the pause lasts until the other file exists. */
const lasting = join(folder, "freeze-ms");
const over = join(folder, "thaw");

const pause = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

// Loaded before a server, to block its event loop on a signal: it simulates a long pause of the machine.
process.on("SIGUSR2", () => {
  process.stderr.write("frozen\n");
  if (existsSync(lasting)) pause(Number(readFileSync(lasting, "utf8")));
  else while (!existsSync(over)) pause(50);
  process.stderr.write("thawed\n");
});
