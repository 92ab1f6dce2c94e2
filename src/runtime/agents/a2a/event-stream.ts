import { AgentFault } from "./fault.ts";

/**
 * Reads the data of server-sent events (WHATWG HTML, 9.2.6). Other fields and comments are ignored. The time
 * grows with the bytes, not with the number of pieces in which an event arrives.
 *
 * @param inTime waits for a step.
 * @param max characters of one event. @throws AgentFault for a longer one
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  inTime: <T>(work: Promise<T>) => Promise<T>,
  max: number,
): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  const takeLine = eventReader(max);
  let [line, endsWithReturn]: [string[], boolean] = [[], false];
  try {
    for (;;) {
      const { done, value } = await inTime(reader.read());
      if (done) return;
      // A line end of two characters can come in two pieces.
      const parts = (endsWithReturn && value.startsWith("\n") ? value.slice(1) : value).split(/\r\n|\n|\r/);
      endsWithReturn = value.endsWith("\r");
      for (const [at, part] of parts.entries()) {
        line.push(part);
        const isWhole = at < parts.length - 1;
        const data = takeLine(isWhole ? line.join("") : null, part.length);
        if (isWhole) line = [];
        if (data !== undefined) yield data;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/**
 * Collects the lines of an event. The reader takes a line, or null for a part of one, and returns the data at
 * the end of an event that has any.
 */
function eventReader(max: number): (line: string | null, added: number) => string | undefined {
  let [data, length]: [string[], number] = [[], 0];
  return (line, added) => {
    length += added;
    if (length > max) throw new AgentFault("it sent an event that is too long", { isLost: false });
    if (line?.startsWith("data:")) data.push(line.slice(5).replace(/^ /, ""));
    if (line !== "") return undefined;
    const whole = data.join("\n");
    [data, length] = [[], 0];
    return whole === "" ? undefined : whole;
  };
}
