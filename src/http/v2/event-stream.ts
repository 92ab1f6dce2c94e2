import { Readable } from "node:stream";
import { type DescMessage, isMessage, type Message } from "@bufbuild/protobuf";
import { mapIterable } from "../../async/map-iterable.ts";
import type { Clock } from "../../core/clock.ts";
import { invalidArgument } from "../../core/failure.ts";
import type { Members } from "./message-reader.ts";
import { enumNames } from "./wire.ts";
import { compileBareWriter } from "./writer.ts";

/**
 * Writes one answer of a stream as a server-sent event: for a task event `id` is its seq, `event` its type,
 * `data` the event. Undefined for an answer without content, which only keeps a stream open; comments do that
 * on this wire.
 */
export type FrameWriter = (answer: Message) => string | undefined;

/** Milliseconds of silence after which a comment keeps the stream open in proxies (spec/decisions.md 54). */
const silenceMs = 10_000;

/** An empty comment; at the start it flushes the head. */
const comment = ":\n\n";

const int32Max = 2 ** 31 - 1;

/**
 * The seq of the last event that the client received, which EventSource sends when it
 * reconnects; undefined when absent.
 *
 * @throws Failure `invalid_argument` for any value except a valid seq.
 */
export function lastEventId(header: string | string[] | undefined): number | undefined {
  if (header === undefined || header === "") return undefined;
  const seq = Number(header);
  if (!/^\d+$/.test(String(header)) || seq > int32Max)
    throw invalidArgument("Last-Event-ID", `must be a whole number from 0 to ${int32Max}`);
  return seq;
}

/**
 * Compiles the frame writer of a stream. Either its answers have a task event in their first field, and
 * perhaps other messages in their next ones; or each answer has one of several messages, and the frame has
 * the name of its field.
 *
 * @throws Error when the answers have another form: a mistake in `proto/`.
 */
export function compileFrameWriter(desc: DescMessage): FrameWriter {
  const newFrame = isResumable(desc) ? compileEventFrames(desc) : compileFieldFrames(desc);
  const written = new WeakMap<Message, string>();
  return (answer) => {
    const text = written.get(answer) ?? newFrame(answer as Members);
    if (text !== undefined) written.set(answer, text);
    return text;
  };
}

/** Whether a stream has task events, so that it can continue after the `seq` of one. */
export const isResumable = ({ fields: [first] }: DescMessage): boolean =>
  first?.message?.field["seq"] !== undefined;

type NewFrame = (answer: Members) => string | undefined;

function compileEventFrames(desc: DescMessage): NewFrame {
  const [{ message, localName } = {}, ...others] = desc.fields;
  const types = message?.field["type"]?.enum;
  if (!message || !localName || !types) throw new Error(`${desc.typeName} holds no event`);
  const { names } = enumNames(types);
  const write = compileBareWriter(message);
  // Without an id, so that a client that reconnects continues after the last event.
  const nameOf = (field: string) => (field === "delta" ? "text_delta" : field);
  const frameOther = compileFieldFrames({ typeName: desc.typeName, fields: others }, nameOf);
  return (answer) => {
    const event = answer[localName];
    return isEvent(event) ? frame(names.get(event.type) ?? "", write(event), event.seq) : frameOther(answer);
  };
}

function compileFieldFrames(
  { typeName, fields }: Pick<DescMessage, "typeName" | "fields">,
  nameOf = (field: string) => field,
): NewFrame {
  const writers = fields.map(({ name, localName, message }) => {
    if (!message) throw new Error(`${typeName}.${name} is not a message`);
    return { name: nameOf(name), localName, write: compileBareWriter(message) };
  });
  return (answer) => {
    for (const { name, localName, write } of writers) {
      const value = answer[localName];
      if (isMessage(value)) return frame(name, write(value));
    }
    return undefined;
  };
}

const isEvent = (value: unknown): value is EventMessage =>
  isMessage(value) &&
  "seq" in value &&
  typeof value.seq === "number" &&
  "type" in value &&
  typeof value.type === "number";

type EventMessage = Message & { readonly seq: number; readonly type: number };

/** The last frame. It has no id, so that a client that reconnects continues after the last event. */
export const endFrame = (envelope: string): string => frame("end", envelope);

/** One server-sent event; its data may have several lines. */
export function frame(event: string, data: string, id?: number): string {
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\n${lines.join("")}\n`;
}

/**
 * A body of server-sent events: the frames, with comments during silence. At most one
 * frame is read ahead of the client.
 */
export function eventStream(frames: AsyncIterable<string>, clock: Clock): Readable {
  const over = new AbortController();
  let lastSent = clock.monotonic();
  function noteSent(frame: string): string {
    lastSent = clock.monotonic();
    return frame;
  }
  const stream = Readable.from(mapIterable(frames, noteSent));
  stream.push(comment);
  stream.once("close", () => over.abort());
  async function keepAlive(): Promise<void> {
    for (;;) {
      await clock.sleep(lastSent + silenceMs - clock.monotonic(), over.signal);
      if (clock.monotonic() - lastSent < silenceMs) continue;
      // A client that is behind has data to receive.
      if (stream.readableLength === 0) stream.push(comment);
      lastSent = clock.monotonic();
    }
  }
  // Rejected only when the stream has ended.
  keepAlive().catch(() => undefined);
  return stream;
}
