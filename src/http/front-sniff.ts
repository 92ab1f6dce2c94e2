import type { Socket } from "node:net";

/** The first bytes of every HTTP/2 connection with prior knowledge; no HTTP/1.1 method begins so. */
const preface = Buffer.from("PRI");

/**
 * Reads just enough of a new connection to know what it speaks, puts it back, and
 * hands it on. A connection that has not said so in time is closed.
 */
export function sniff(socket: Socket, silentMs: number, accept: (isHttp2: boolean) => void): void {
  let head: Buffer = Buffer.alloc(0);
  const drop = (): void => void socket.destroy();
  const silent = setTimeout(drop, silentMs);

  function look(): void {
    for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) head = Buffer.concat([head, chunk]);
    const isHttp2 = startsWith(head, preface);
    if (isHttp2 === undefined) return;
    stop();
    socket.unshift(head);
    accept(isHttp2);
  }

  function stop(): void {
    clearTimeout(silent);
    socket.off("readable", look).off("end", drop).off("error", drop).off("close", stop);
  }

  socket.on("readable", look).on("end", drop).on("error", drop).on("close", stop);
}

/** Undefined while there are too few bytes to tell. */
function startsWith(head: Buffer, wanted: Buffer): boolean | undefined {
  const length = Math.min(head.length, wanted.length);
  if (!head.subarray(0, length).equals(wanted.subarray(0, length))) return false;
  return length === wanted.length ? true : undefined;
}
