/** A server-sent event. */
export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
  readonly id?: string;
}

/**
 * The most characters of one event: more than the largest event of a task, so that a faulty server cannot
 * fill the memory.
 */
const longestEvent = 64 * 1024 * 1024;

/**
 * Reads server-sent events. Comments and incomplete last events are left out.
 *
 * @param onBytes called with everything that arrives, comments too.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void = () => undefined,
): AsyncGenerator<ServerSentEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes();
      rest += decoder.decode(value, { stream: true });
      if (rest.length > longestEvent) throw new RangeError("an event of the stream is too long");
      const blocks = rest.split(/\r?\n\r?\n/);
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = parseEvent(block);
        if (event) yield event;
      }
    }
  } finally {
    // The reader may leave early: the connection is closed.
    await reader.cancel().catch(() => undefined);
  }
}

function parseEvent(block: string): ServerSentEvent | undefined {
  const fields = new Map<string, string[]>();
  for (const line of block.split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (colon === 0) continue;
    const [name, value] =
      colon < 0 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
    fields.set(name, [...(fields.get(name) ?? []), value]);
  }
  const data = fields.get("data");
  if (data === undefined) return undefined;
  const id = fields.get("id")?.at(-1);
  return {
    event: fields.get("event")?.at(-1) ?? "message",
    data: data.join("\n"),
    ...(id === undefined ? {} : { id }),
  };
}
