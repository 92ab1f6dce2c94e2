import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { Members } from "./message-reader.ts";
import { membersWriter, membersWriterExcept } from "./message-writer.ts";

/** Writes an answer in the envelope of contract/v2.md 1, with the warnings of the request if there are any. */
export type Writer<Desc extends DescMessage> = (message: MessageShape<Desc>, requestId: string, warnings?: readonly string[]) => string;

/** Writes a message by itself: an event of a stream, a part of a webhook's body. */
export type BareWriter<Desc extends DescMessage> = (message: MessageShape<Desc>) => string;

const envelope: ReadonlySet<string> = new Set(["ok", "request_id"]);

/**
 * Compiles the writer of an operation's answer. `ok` and `request_id` are the
 * envelope's: fields of these names, which team.v2 answers have for Connect, are
 * not written twice.
 *
 * @throws Error when v2 has no form for a field: a mistake in `proto/`.
 */
export function compileWriter<Desc extends DescMessage>(desc: Desc): Writer<Desc> {
  const write = membersWriterExcept(desc, envelope);
  return (message, requestId, warnings = []) => {
    const head = { ok: true, request_id: requestId, ...(warnings.length === 0 ? {} : { warnings: [...warnings] }) };
    return JSON.stringify(write(membersOf(message), head));
  };
}

/**
 * Compiles the writer of a message that stands in no envelope.
 *
 * @throws Error when v2 has no form for a field: a mistake in `proto/`.
 */
export function compileBareWriter<Desc extends DescMessage>(desc: Desc): BareWriter<Desc> {
  const write = membersWriter(desc);
  return (message) => JSON.stringify(write(membersOf(message), {}));
}

// A message has the members that its descriptor names.
const membersOf = (message: unknown): Members => message as Members;
