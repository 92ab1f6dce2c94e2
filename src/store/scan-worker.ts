// The thread of `scanThread`: it answers statements one at a time, in the order of their arrival.
import { parentPort, workerData } from "node:worker_threads";
import type { Numbered } from "../async/thread.ts";
import type { ScanAnswer, ScanRequest } from "./scan-thread.ts";
import { connectSqlite, driverOf, sqliteStatements } from "./sqlite-adapter.ts";
import { StatementFailure } from "./statements.ts";

const connection = await connectSqlite(String(workerData), "PRAGMA query_only = ON;");
const { query } = sqliteStatements(driverOf(connection));

/**
 * The driver's error in a form that can be sent: its text is for the log, its code decides the caller's
 * failure.
 */
function failureOf(thrown: unknown): { readonly text: string; readonly code: string | undefined } {
  const cause = thrown instanceof StatementFailure ? thrown.cause : thrown;
  const code =
    thrown instanceof StatementFailure && thrown.code !== undefined ? String(thrown.code) : undefined;
  return { text: cause instanceof Error ? cause.message : String(cause), code };
}

async function answer({ sql, values }: ScanRequest): Promise<ScanAnswer> {
  try {
    return { rows: await query({ sql, text: "", values }) };
  } catch (thrown) {
    return { failure: failureOf(thrown) };
  }
}

parentPort?.on("message", (request: Numbered<ScanRequest> | null) => {
  if (request !== null)
    return void answer(request.value).then((value) =>
      parentPort?.postMessage({ id: request.id, value } satisfies Numbered<ScanAnswer>),
    );
  // The statements before this message have been answered.
  void connection.dispose().then(() => parentPort?.close());
});
