import { readFileSync } from "node:fs";
import { join } from "node:path";

/** How soon a step of the clock is noticed. */
const lookMs = 20;

const file = join(process.env["DATA_DIR"] ?? ".", "clock-offset-ms");
const machine = Date.now;
let offsetMs = 0;

/**
 * Loaded before a server: offsets its time of day by the file's value, also at the start. The file is renamed
 * into place.
 */
function look(): void {
  try {
    offsetMs = Number(readFileSync(file, "utf8"));
  } catch {
    offsetMs = 0;
  }
}

look();
setInterval(look, lookMs).unref();
Date.now = () => machine() + offsetMs;
