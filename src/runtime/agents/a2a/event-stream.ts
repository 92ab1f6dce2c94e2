import { AgentFault } from "./fault.ts";

/**
 * Reads the data of server-sent events (WHATWG HTML, 9.2.6). Other fields and comments are ignored.
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
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await inTime(reader.read());
      if (done) return;
      rest += value;
      if (rest.length > max) throw new AgentFault("it sent an event that is too long", { isLost: false });
      const events = rest.split(/\r\n\r\n|\n\n|\r\r/);
      rest = events.pop() ?? "";
      for (const event of events) {
        const data = dataIn(event);
        if (data !== "") yield data;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

const dataIn = (event: string): string =>
  event
    .split(/\r\n|\n|\r/)
    .flatMap((line) => (line.startsWith("data:") ? [line.slice(5).replace(/^ /, "")] : []))
    .join("\n");
