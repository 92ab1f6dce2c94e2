import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What a long pause of the machine takes when nobody says otherwise. */
const usualMs = 20_000;

/** The file in the data folder that says otherwise. */
const said = join(process.env["DATA_DIR"] ?? ".", "freeze-ms");

// Loaded before a server, to stop its event loop for as long as a signal asks: what a long pause of the machine looks like.
process.on("SIGUSR2", () => {
  process.stderr.write("frozen\n");
  const ms = existsSync(said) ? Number(readFileSync(said, "utf8")) : usualMs;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  process.stderr.write("thawed\n");
});
