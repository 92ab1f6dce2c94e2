// A worker for the Agent Task Platform, in TypeScript without packages: everything between the platform and
// agent.ts. ATP_URL=http://localhost:8080 WORKER_KEY=wk-… node worker.ts (Node 24;
// docs/guides/worker-rules.md has the rules)
import { setTimeout as sleep } from "node:timers/promises";
import { type Run, type Turn, work } from "./agent.ts";

const { ATP_URL = "", WORKER_KEY = "", PROFILES = "" } = process.env;
const profiles = PROFILES.split(",").filter(Boolean);

/** Another worker has the run now, or the user stopped it. */
class Lost extends Error {}

/** Repeats the same request until it is answered. The server applies events and endings once. */
async function call(
  method: string,
  body: object,
  signal?: AbortSignal,
): Promise<{ run?: Turn; stop?: string; uploadId?: string; nextOffset?: number }> {
  const headers = { "content-type": "application/json", "x-api-key": WORKER_KEY };
  const sent = { method: "POST", headers, body: JSON.stringify(body), ...(signal && { signal }) };
  for (;;) {
    const reply = await fetch(`${ATP_URL}/worker.v1.WorkerService/${method}`, sent).catch(() => undefined);
    const text = await reply?.text().catch(() => "");
    signal?.throwIfAborted();
    if (reply?.ok && text) return JSON.parse(text);
    if (text?.includes("failed_precondition")) throw new Lost();
    if (reply && reply.status >= 400 && reply.status < 500 && reply.status !== 429)
      throw new Error(`${method}: ${text}`);
    await sleep(1000); // no answer, or an incomplete one
  }
}

/** Renews the lease while no other call does, and notices a stop. */
async function sendHeartbeats(name: object, everyMs: number, over: AbortController): Promise<void> {
  while (await sleep(everyMs, true, { signal: over.signal }).catch(() => false))
    if ((await call("Heartbeat", name)).stop) over.abort(new Lost());
}

const leaving = new AbortController();
process.once("SIGTERM", () => leaving.abort(new Error("SIGTERM")));

/** Works on one turn. Returns the next one if the platform has it already. */
async function serve(turn: Turn): Promise<Turn | undefined> {
  const name = { taskId: turn.taskId, fence: turn.fence };
  const lost = new AbortController();
  const over = AbortSignal.any([lost.signal, leaving.signal]);
  let shown = 0;
  let shownAt = 0;
  const run: Run = {
    append: async (...events) => void (await call("Append", { ...name, events })),
    show: async (answer) => {
      if (Date.now() < shownAt + 100) return; // the platform takes at most 20 calls a second
      shownAt = Date.now();
      const text = answer.slice(shown, shown + 16_000).replace(/[\ud800-\udbff]$/, ""); // not half a character
      shown = (await call("WriteText", { ...name, attempt: 1, offset: shown, text })).nextOffset ?? 0;
    },
    upload: async (filename, text) =>
      (await call("Upload", { ...name, filename, content: Buffer.from(text).toString("base64") })).uploadId ??
      "",
    pause: (ms) => sleep(ms, undefined, { signal: over }).catch(() => over.throwIfAborted()),
  };
  const heartbeats = sendHeartbeats(name, (turn.leaseSeconds * 1000) / 3, lost).catch(() => undefined);
  try {
    const outcome = await work(turn, run).catch((error: Error) => {
      if (error instanceof Lost || leaving.signal.aborted) throw error;
      return { fail: { errorType: "internal", content: error.message || "unknown" } };
    });
    return (await call("Finish", { ...name, ...outcome })).run;
  } catch (error) {
    if (error instanceof Lost) return undefined;
    await call("Release", name).catch(() => undefined); // SIGTERM: another worker continues at once
    return undefined;
  } finally {
    lost.abort();
    await heartbeats;
  }
}

let turn: Turn | undefined;
while (turn || !leaving.signal.aborted) {
  turn ??= await call("Poll", { waitSeconds: 30, profiles }, leaving.signal).then(
    ({ run }) => run,
    (error) => (leaving.signal.aborted ? undefined : Promise.reject(error)),
  );
  turn &&= await serve(turn);
}
