import { constants, fstatSync, openSync, writeSync } from "node:fs";

/** Where text goes, without an answer. */
export interface Output {
  write(text: string): void;
}

/** Bytes that may wait for a reader. Further text is dropped. */
const waitingMax = 1024 * 1024;
/** After this many milliseconds a write that the reader had no room for is tried again. */
const retryMs = 50;

const outputs = new Map<number, Output>();

/** Standard output (1) or standard error (2), which neither throws nor blocks. Made once for a process. */
export function outputOf(fd: 1 | 2): Output {
  const made = outputs.get(fd) ?? patientOutput(openUnblocked(fd));
  outputs.set(fd, made);
  return made;
}

/**
 * Writes to a file descriptor that does not block. What a slow reader has no room for waits in memory, up to
 * 1 MiB, and keeps its order. Text that can no longer be read (EPIPE, or EIO of a closed terminal) is
 * dropped.
 */
export function patientOutput(fd: number): Output {
  let waiting: Buffer[] = [];
  let bytes = 0;
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    const all = Buffer.concat(waiting);
    const rest = all.subarray(writeSome(fd, all));
    waiting = rest.length > 0 ? [rest] : [];
    bytes = rest.length;
    if (waiting.length === 0 && dropped > 0) noteDropped();
    if (waiting.length > 0) timer ??= setInterval(flush, retryMs).unref();
    else timer = void clearInterval(timer);
  }

  function noteDropped(): void {
    const line = JSON.stringify({
      level: 40,
      time: Date.now(),
      dropped,
      msg: "texts were not written: the reader of this output was too slow",
    });
    dropped = 0;
    add(`${line}\n`);
  }

  function add(text: string): void {
    const data = Buffer.from(text);
    waiting.push(data);
    bytes += data.length;
  }

  process.once("exit", flush);
  return {
    write(text) {
      if (bytes + text.length > waitingMax) dropped += 1;
      else add(text);
      // The timer empties what waits: a write for each line would only fail again.
      if (timer === undefined) flush();
    },
  };
}

/** The number of bytes that were written or need not be; 0 when the reader has no room. */
function writeSome(fd: number, data: Buffer): number {
  try {
    return writeSync(fd, data);
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "EAGAIN" ? 0 : data.length;
  }
}

/**
 * A terminal or a pipe is opened again: O_NONBLOCK belongs to the open file, which other processes share. A
 * socket cannot be opened again, nor a pipe of another user: there Node sets O_NONBLOCK itself when it makes
 * its stream.
 */
function openUnblocked(fd: 1 | 2): number {
  if (fstatSync(fd).isFile()) return fd;
  const { O_WRONLY, O_APPEND, O_NONBLOCK, O_NOCTTY } = constants;
  try {
    return openSync(`/proc/self/fd/${fd}`, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY);
  } catch {
    void (fd === 1 ? process.stdout : process.stderr);
    return fd;
  }
}
