import { connect, type Socket } from "node:net";

/** Open streams of server-sent events on bare sockets, so that reading them costs little beside the server. */
export interface Watchers extends Disposable {
  /** How many events have come. */
  events(): number;
  /** Milliseconds from `said` to each event that came after it, and forgets them. */
  takeDelays(): number[];
  /** The next events of this task tell of this moment. */
  said(taskId: string): void;
  /** Reads no more, of any stream; what comes stays where it is. */
  stall(): void;
}

/** So many connections are opened at a time. */
const openingMax = 50;

/** Opens a stream for each of these tasks; resolves when all of them are answered. */
export async function openWatchers(
  port: number,
  taskIds: readonly string[],
  { path, key }: { readonly path: string; readonly key: string },
): Promise<Watchers> {
  const sockets: Socket[] = [];
  const saidAt = new Map<string, number>();
  let events = 0;
  let delays: number[] = [];

  function hear(taskId: string, chunk: Buffer): void {
    const count = chunk.toString("latin1").split("\ndata: ").length - 1;
    events += count;
    const said = saidAt.get(taskId);
    if (count > 0 && said !== undefined) delays.push(performance.now() - said);
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
      socket.on("data", (chunk: Buffer) => hear(taskId, chunk));
      socket.write(
        `GET ${path}?task_id=${taskId} HTTP/1.1\r\nhost: bench\r\naccept: text/event-stream\r\nx-service-api-key: ${key}\r\n\r\n`,
      );
    });
  }

  for (let rest = taskIds; rest.length > 0; rest = rest.slice(openingMax)) await Promise.all(rest.slice(0, openingMax).map(open));
  return {
    events: () => events,
    takeDelays() {
      const taken = delays;
      delays = [];
      return taken;
    },
    said: (taskId) => void saidAt.set(taskId, performance.now()),
    stall() {
      for (const socket of sockets) socket.pause();
    },
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
    },
  };
}
