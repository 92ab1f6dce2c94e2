import type { Server } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep, setImmediate as turnOver } from "node:timers/promises";

/** The signals that end connections. The second also aborts the first. */
export interface Ending {
  /** Aborted when this process should receive no more calls: before the drain, or with it. */
  readonly leaving: AbortSignal;
  /** Aborted when the drain begins: ends watches and held calls. */
  readonly draining: AbortSignal;
}

/**
 * Calls a function after a time unless the connection is closed before. Reads first what has arrived by then,
 * even after a long turn of the event loop.
 */
export function afterTime(socket: Socket, ms: number, end: () => void): void {
  const endIfOpen = (): void => {
    if (!socket.destroyed) end();
  };
  const timer = setTimeout(() => setImmediate(endIfOpen), ms);
  socket.once("close", () => clearTimeout(timer));
}

/** Turns of the event loop in which waiting connections are accepted, at most. */
const turnsMax = 100;
/** A connection that arrives after a turn has accepted is lost, so the last turn is short. */
const lastTurnMs = 0.2;
/** A process that has just slept is rarely interrupted in its next turn, also on a busy machine. */
const sleepMs = 1;

/**
 * Accepts the connections that wait in the kernel, which would reset them when the server closes. Close it at
 * once afterwards.
 */
export async function acceptWaiting(server: Server): Promise<void> {
  let hasAccepted = false;
  const note = (): void => {
    hasAccepted = true;
  };
  server.on("connection", note);
  for (let turn = 0; turn < turnsMax; turn += 1) {
    await sleep(sleepMs);
    hasAccepted = false;
    const beganAt = performance.now();
    await turnOver();
    if (!hasAccepted && performance.now() - beganAt < lastTurnMs) break;
  }
  server.off("connection", note);
}
