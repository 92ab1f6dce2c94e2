// Requests a server and the control server simultaneously, repeatedly, and sends each pair of times to the
// process that started it. Arguments: the two ports, and the id of the server's process.
import { readFileSync } from "node:fs";
import { get } from "node:http";
import type { Sample } from "./liveness.ts";

const [serverPort = 0, controlPort = 0, pid = 0] = process.argv.slice(2).map(Number);
const pauseMs = 10;

/** Milliseconds until the complete answer; infinite without an answer. Each request has a new connection. */
function timeOf(port: number, path: string): Promise<number> {
  const begun = performance.now();
  return new Promise((resolve) => {
    const request = get({ port, path, host: "127.0.0.1", agent: false }, (response) => {
      response
        .resume()
        .on("end", () =>
          resolve(response.statusCode === 200 ? performance.now() - begun : Number.POSITIVE_INFINITY),
        );
    });
    request.on("error", () => resolve(Number.POSITIVE_INFINITY));
  });
}

/**
 * Milliseconds in which the server's main thread was ready to run and had no processor; 0 if the system does
 * not report it.
 */
function waitedForProcessor(): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[1]) / 1e6;
  } catch {
    return 0;
  }
}

async function probe(): Promise<void> {
  const before = waitedForProcessor();
  const begun = performance.timeOrigin + performance.now();
  const [server, control] = await Promise.all([timeOf(serverPort, "/livez"), timeOf(controlPort, "/")]);
  const sample: Sample = { begun, server, control, waited: waitedForProcessor() - before };
  process.send?.(sample);
  setTimeout(probe, pauseMs);
}

process.on("disconnect", () => process.exit());
await probe();
