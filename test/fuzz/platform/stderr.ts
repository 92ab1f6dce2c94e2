import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

/** pino's number for errors. */
const errorLevel = 50;

/**
 * Connect's plugin for Fastify prints this itself when a client disconnects in the middle of an answer: not a
 * fault.
 */
const ofLibrary =
  /^handler for rpc \w+ of [\w.]+ failed ConnectError: \[(internal|canceled|aborted)\] write (ECANCELED|EPIPE|ECONNRESET)/;

/**
 * Faults that a process writes to standard error, with their count: errors of its log,
 * which is one JSON object per line, and all other lines. The map grows while the process writes.
 */
export function faultsIn(stderr: Readable): ReadonlyMap<string, number> {
  const faults = new Map<string, number>();
  createInterface({ input: stderr }).on("line", (line) => {
    // Output outside the log begins at the margin and continues with indented lines.
    if (levelOf(line) < errorLevel || line === "" || /^[\s})]/.test(line) || ofLibrary.test(line)) return;
    const text = likeOthers(line);
    faults.set(text, (faults.get(text) ?? 0) + 1);
  });
  return faults;
}

function levelOf(line: string): number {
  try {
    return Number(JSON.parse(line).level);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Without the parts that differ each time. */
const likeOthers = (line: string): string =>
  line.replace(/^\(node:\d+\) /, "").replace(/"(?:time|requestId)":(?:"[^"]*"|\d+),?/g, "");
