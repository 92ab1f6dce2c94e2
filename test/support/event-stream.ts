/** An event as the specification of server-sent events dispatches it; or a comment. */
export type Frame =
  | {
      readonly event: string;
      readonly data: string /** As a client would send it back, its own or an earlier one's. */;
      readonly lastEventId: string;
    }
  | { readonly comment: string };

/**
 * Reads server-sent events exactly as in the HTML standard (9.2.6): lines end with
 * CR LF, LF or CR; a blank line dispatches; events without data are dropped.
 */
export async function* framesIn(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  let [event, data, lastEventId]: [string, string[], string] = ["", [], ""];
  for await (const line of linesIn(chunks)) {
    if (line === "") {
      if (data.length > 0) yield { event: event || "message", data: data.join("\n"), lastEventId };
      [event, data] = ["", []];
      continue;
    }
    const [, field = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/su.exec(line) ?? [];
    if (line.startsWith(":")) yield { comment: line.slice(1) };
    else if (field === "event") event = value;
    else if (field === "data") data.push(value);
    else if (field === "id" && !value.includes("\0")) lastEventId = value;
  }
}

/** Complete lines; text after the last line's end is dropped, as in the standard. */
async function* linesIn(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    // A CR at the very end may be half of a line's end.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
