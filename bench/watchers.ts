import { connect, type Socket } from "node:net";

/**
 * Open streams of server-sent events on bare sockets, so that reading costs little compared with the server.
 */
export interface Watchers extends Disposable {
  /** The number of received events. */
  events(): number;
  /** Returns and clears the times in milliseconds from `said` to each event after it. */
  takeDelays(): number[];
  /** Sets the start time for the next events of this task. */
  markStart(taskId: string): void;
  /** Stops reading all streams; arriving data stays in the buffers. */
  stall(): void;
}

/** The number of connections that are opened in parallel. */
const openingMax = 50;

/** Opens a stream for each of these tasks; resolves when all have responded. */
export async function openWatchers(
  port: number,
  taskIds: readonly string[],
  { path, key, query = "" }: { readonly path: string; readonly key: string; readonly query?: string },
): Promise<Watchers> {
  const sockets: Socket[] = [];
  const saidAt = new Map<string, number>();
  let events = 0;
  let delays: number[] = [];

  function collect(taskId: string, chunk: Buffer): void {
    const count = chunk.toString("latin1").split("\ndata: ").length - 1;
    events += count;
    const startedAt = saidAt.get(taskId);
    if (count > 0 && startedAt !== undefined) delays.push(performance.now() - startedAt);
  }

  async function open(taskId: string): Promise<void> {
    const socket = connect(port, "127.0.0.1");
    sockets.push(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once("error", reject).once("close", () => reject(new Error("the stream was closed")));
      socket.once("data", (head) => {
        const text = head.toString("latin1");
        if (text.startsWith("HTTP/1.1 200")) resolve();
        else reject(new Error(text));
      });
      socket.on("data", (chunk: Buffer) => collect(taskId, chunk));
      socket.write(
        `GET ${path}?task_id=${taskId}${query} HTTP/1.1\r\nhost: bench\r\naccept: text/event-stream\r\nx-service-api-key: ${key}\r\n\r\n`,
      );
    });
  }

  for (let rest = taskIds; rest.length > 0; rest = rest.slice(openingMax))
    await Promise.all(rest.slice(0, openingMax).map(open));
  return {
    events: () => events,
    takeDelays() {
      const result = delays;
      delays = [];
      return result;
    },
    markStart: (taskId) => void saidAt.set(taskId, performance.now()),
    stall() {
      for (const socket of sockets) socket.pause();
    },
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
    },
  };
}
