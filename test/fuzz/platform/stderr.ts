import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

/** pino's number for errors. */
const errorLevel = 50;

/** Connect's plugin for Fastify prints this by itself when a client goes away in the middle of an answer: nobody's fault. */
const ofLibrary = /^handler for rpc \w+ of [\w.]+ failed ConnectError: \[(internal|canceled|aborted)\] write (ECANCELED|EPIPE|ECONNRESET)/;

/**
 * What a process says of faults on standard error, and how often: errors of its log,
 * which is JSON, a line each, and whatever is no line of it. The map grows as it speaks.
 */
export function faultsIn(stderr: Readable): ReadonlyMap<string, number> {
  const faults = new Map<string, number>();
  createInterface({ input: stderr }).on("line", (line) => {
    // What is not the log's begins at the margin and goes on behind it.
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

/** Without what is different each time. */
const likeOthers = (line: string): string => line.replace(/^\(node:\d+\) /, "").replace(/"(?:time|requestId)":(?:"[^"]*"|\d+),?/g, "");
