import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import { type ServerProcess, startServer } from "../support/server-process.ts";

/** A server that other pages use as well. */
export type SharedServer = Omit<ServerProcess, keyof AsyncDisposable>;

let shared: Promise<SharedServer> | undefined;

/** The server of this worker, for tests that only add data; it ends with the run (`run.ts`). */
export function sharedServer(): Promise<SharedServer> {
  const folder = inject("sharedFolder");
  shared ??= startServer({ DATA_DIR: mkdtempSync(join(folder, "data-")) }).then((server) => {
    writeFileSync(join(folder, `process-${server.child.pid}`), "");
    return server;
  });
  return shared;
}
