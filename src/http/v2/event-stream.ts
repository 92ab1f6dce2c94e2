import { Readable } from "node:stream";
import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { Clock } from "../../core/clock.ts";
import { invalid } from "../../core/failure.ts";
import { mapped } from "../../core/mapped.ts";
import type { Members } from "./message-reader.ts";
import { wordsOf } from "./wire.ts";
import { compileBareWriter } from "./writer.ts";

/**
 * Writes one answer of a stream as a server-sent event: `id` is its seq, `event` its type, `data` itself. Undefined
 * for an answer without an event, which only keeps a stream open: here comments do.
 */
export type FrameWriter = (answer: Message) => string | undefined;

/** Milliseconds of silence after which a comment keeps the stream open in proxies (contract/decisions.md 54). */
const silenceMs = 10_000;

/** Says nothing; at the start it sends the head on its way. */
const comment = ":\n\n";

const int32Max = 2 ** 31 - 1;

/**
 * The seq that a client saw last, as EventSource says it when it connects again;
 * undefined when it says nothing.
 *
 * @throws Failure `invalid` for anything but a whole number that a seq can be.
 */
export function lastEventId(header: string | string[] | undefined): number | undefined {
  if (header === undefined || header === "") return undefined;
  const seq = Number(header);
  if (!/^\d+$/.test(String(header)) || seq > int32Max) throw invalid("Last-Event-ID", `must be a whole number from 0 to ${int32Max}`);
  return seq;
}

/**
 * Compiles the frames of a stream: each of its answers holds one event, in its only field.
 *
 * @throws Error when its answers are of another form: a mistake in `proto/`.
 */
export function compileFrameWriter(desc: DescMessage): FrameWriter {
  const [{ message: event, localName } = {}] = desc.fields;
  const types = event?.field["type"]?.enum;
  if (!event || !localName || !types || !event.field["seq"]) throw new Error(`${desc.typeName} holds no event`);
  const { words } = wordsOf(types);
  const write = compileBareWriter(event);
  const written = new WeakMap<Message, string>();
  return (answer) => {
    // An answer has the members that its descriptor names.
    const held = (answer as unknown as Members)[localName] as EventMessage | undefined;
    if (held === undefined) return undefined;
    const text = written.get(answer) ?? frame(words.get(held.type) ?? "", write(held), held.seq);
    written.set(answer, text);
    return text;
  };
}

type EventMessage = Message & { readonly seq: number; readonly type: number };

/** The last frame. It has no id, so that a client that connects again does so after the last event. */
export const endFrame = (envelope: string): string => frame("end", envelope);

/** One server-sent event, whatever lines its data has. */
export function frame(event: string, data: string, id?: number): string {
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\n${lines.join("")}\n`;
}

/**
 * A body of server-sent events: these frames, and comments in between where they are
 * long in coming. Nothing is read ahead of the client but one frame.
 */
export function eventStream(frames: AsyncIterable<string>, clock: Clock): Readable {
  const over = new AbortController();
  let spoken = clock.monotonic();
  function spokenNow(frame: string): string {
    spoken = clock.monotonic();
    return frame;
  }
  const stream = Readable.from(mapped(frames, spokenNow));
  stream.push(comment);
  stream.once("close", () => over.abort());
  async function keepAlive(): Promise<void> {
    for (;;) {
      await clock.sleep(spoken + silenceMs - clock.monotonic(), over.signal);
      if (clock.monotonic() - spoken < silenceMs) continue;
      // A client that is behind hears enough.
      if (stream.readableLength === 0) stream.push(comment);
      spoken = clock.monotonic();
    }
  }
  // Rejected only because it is over.
  keepAlive().catch(() => undefined);
  return stream;
}
