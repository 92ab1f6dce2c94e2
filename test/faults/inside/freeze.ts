import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.env["DATA_DIR"] ?? ".";
/** The file that says for how long; without it the pause lasts until there is the other one. */
const lasting = join(folder, "freeze-ms");
const over = join(folder, "thaw");

const pause = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

// Loaded before a server, to stop its event loop when a signal asks for it: what a long pause of the machine looks like.
process.on("SIGUSR2", () => {
  process.stderr.write("frozen\n");
  if (existsSync(lasting)) pause(Number(readFileSync(lasting, "utf8")));
  else while (!existsSync(over)) pause(50);
  process.stderr.write("thawed\n");
});
