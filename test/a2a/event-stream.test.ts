import fc from "fast-check";
import { expect, test } from "vitest";
import { readEvents } from "../../src/runtime/agents/a2a/event-stream.ts";

const soon = <T>(work: Promise<T>): Promise<T> => work;

/** The data of the events of a text that arrives in pieces of these sizes. */
function eventsOf(text: string, sizes: readonly number[], max = 1_000): Promise<string[]> {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  let piece = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(to) {
      if (at >= bytes.length) return to.close();
      const end = at + (sizes[piece++ % sizes.length] ?? 1);
      to.enqueue(bytes.slice(at, end));
      at = end;
    },
  });
  return Array.fromAsync(readEvents(body, soon, max));
}

test("server-sent events are read in any pieces, with each line end", async () => {
  const line = fc.stringMatching(/^[a-zäß€ :]{0,8}$/);
  const lineEnd = fc.constantFrom("\n", "\r\n", "\r");
  const events = fc.array(fc.array(line, { minLength: 1, maxLength: 3 }), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(
      events,
      lineEnd,
      fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
      async (sent, end, sizes) => {
        const text = sent
          .map((lines) => [":comment", "event: a", ...lines.map((each) => `data: ${each}`), "", ""].join(end))
          .join("");
        expect(await eventsOf(text, sizes)).toEqual(
          sent.map((lines) => lines.join("\n")).filter((data) => data !== ""),
        );
      },
    ),
  );
});

test("an event without its end is not read, and one that is too long is a fault", async () => {
  expect(await eventsOf("data: a\n\ndata: b", [3])).toEqual(["a"]);
  expect(await eventsOf(`data: ${"a".repeat(94)}\n\n`.repeat(3), [7], 100)).toHaveLength(3);
  await expect(eventsOf(`data: ${"a".repeat(95)}\n\n`, [7], 100)).rejects.toThrow("too long");
});
