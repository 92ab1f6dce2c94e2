import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import { mapIterable } from "../async/map-iterable.ts";
import type { OpenCall } from "../core/accounts/caller.ts";
import { Failure } from "../core/failure.ts";
import type { Store, Tx } from "../core/store.ts";
import { runInSpan, type Span } from "../core/trace.ts";
import type { Admission } from "./admission.ts";
import type { NoteRefusal, WriteAudit } from "./audit.ts";
import { noteChallenge } from "./challenge.ts";
import type { Handler, HandlerTable, ImplementedHandler, StreamedChange } from "./handlers.ts";
import { checkIdempotencyKey, type IdempotencyRecords } from "./idempotency.ts";
import { network } from "./limit.ts";
import { nameSubject } from "./subject.ts";
import { validate } from "./validate.ts";

/**
 * Sets `request_id` and `ok` in answers that have these fields, for callers over RPC (spec/enterprise.md 3).
 * An answer from an idempotency record gets the values of the current call, as on the other wires.
 */
function setEnvelope({ output }: DescMethod, answer: Message, requestId: string): Message {
  if (output.field["requestId"] === undefined) return answer;
  return Object.assign(answer, { requestId }, output.field["ok"] === undefined ? {} : { ok: true });
}

export interface Outcome {
  readonly answer: Message;
  /** An earlier call with the same `Idempotency-Key` made the answer. */
  readonly isReplayed: boolean;
}

/**
 * The second step of every call, by its kind. `gone` is aborted when the client no longer waits for the
 * answer.
 */
export interface Performer {
  /**
   * Makes one answer. A change runs in one transaction: it claims the idempotency
   * record, runs the handler, writes the audit row and stores the answer in the record.
   * An audited read does the same without the record. A change with `dry_run` writes nothing.
   *
   * @throws Failure of any reason.
   */
  perform(admission: Admission, message: Message, gone: AbortSignal): Promise<Outcome>;
  /**
   * Reads the answer that an earlier call with the same `Idempotency-Key` made; null when there is none.
   *
   * @throws Failure `idempotency_conflict` when the key was used with another request.
   */
  recorded(admission: Admission, message: Message): Promise<Message | null>;
  /**
   * Makes the answers of a server stream; null when there are none and never will be.
   *
   * @throws Failure of any reason: the promise before the first answer, the stream after it.
   */
  stream(admission: Admission, message: Message, gone: AbortSignal): Promise<AsyncIterable<Message> | null>;
  /**
   * Takes what the server stream of a call needs, until it is opened with the same `gone`.
   *
   * @throws Failure `resource_exhausted` or `unavailable`, as the stream.
   */
  reserve(admission: Admission, gone: AbortSignal): void;
  /**
   * Makes the answers of a stream both ways. Errors are thrown by the answers: Failure of any reason, also
   * for a message that breaks the rules of its fields.
   */
  converse(admission: Admission, messages: AsyncIterable<Message>, gone: AbortSignal): AsyncIterable<Message>;
}

export interface CallAudit {
  readonly write: WriteAudit;
  readonly noteRefusal: NoteRefusal;
}

/** Creates the performer: it checks field rules first, then runs the handler. */
export function performer(
  store: Store,
  handlers: HandlerTable,
  records: IdempotencyRecords,
  audit: CallAudit,
): Performer {
  function handlerOf(admission: Admission, message: Message): ImplementedHandler {
    validate(admission.operation.method.input, message);
    return builtFor(admission);
  }

  function builtFor({ operation }: Admission): ImplementedHandler {
    const built = handlers.get(operation.rpc);
    if (!built || "unbuilt" in built)
      throw new Failure("unimplemented", `${operation.name ?? operation.rpc} is not built yet`);
    return built;
  }

  async function change(
    tx: Tx,
    admission: Admission,
    message: Message,
    handler: Handler<DescMethod>,
  ): Promise<Outcome> {
    // The answer of an audited read is not recorded.
    const record = admission.operation.isChange ? await records.begin(tx, admission, message) : null;
    if (record !== null && "answer" in record) return { answer: record.answer, isReplayed: true };
    const answer = await run(handler, tx, admission, message);
    await audit.write(tx, admission);
    await record?.complete(answer, tx.audit.notes().subject ?? null);
    return { answer, isReplayed: false };
  }

  /** Notes a refusal by a handler, or by a check of the credential while the call is open. */
  const noteThrown =
    ({ operation, request, caller }: Admission) =>
    (thrown: unknown) => {
      noteChallenge(operation, request.credentials, thrown);
      audit.noteRefusal(operation, request, caller, thrown);
    };

  async function outcome(admission: Admission, message: Message, gone: AbortSignal): Promise<Outcome> {
    const { operation, caller, request } = admission;
    const built = handlerOf(admission, message);
    if ("stream" in built || "begin" in built || "converse" in built)
      throw new Error(`${operation.rpc} is a stream`);
    if ("hold" in built) {
      admission.request.body?.release();
      if (operation.isAudited) throw new Error(`${operation.rpc} is held, and would have no audit row`);
      const answer = await built.hold(store, openCallOf(admission, gone), message);
      return { answer: create(operation.method.output, answer), isReplayed: false };
    }
    // Check before `prepare`, which may call other servers.
    if (operation.isChange) checkIdempotencyKey(request.idempotencyKey);
    if ("prepare" in built) {
      // A repeated call does not prepare again: that may call other servers, and cost credits.
      const known = operation.isChange ? await records.find(store, admission, message) : null;
      if (known !== null) return { answer: known, isReplayed: true };
    }
    const handler = "prepare" in built ? await built.prepare(message, caller, gone) : built;
    if ((operation.isChange || operation.isAudited) && !isDryRun(message))
      return store.change((tx) => change(tx, admission, message, handler));
    return { answer: await run(handler, store, admission, message), isReplayed: false };
  }

  async function openStream(
    admission: Admission,
    message: Message,
    gone: AbortSignal,
  ): Promise<AsyncIterable<Message> | null> {
    const { operation } = admission;
    const built = handlerOf(admission, message);
    if (!("stream" in built || "begin" in built)) throw new Error(`${operation.rpc} is not a server stream`);
    admission.request.body?.release();
    const call = openCallOf(admission, gone);
    const answers =
      "stream" in built
        ? await built.stream(store, call, message)
        : await begin(built, call, admission, message);
    return (
      answers &&
      mapIterable(answers, (answer) => create(operation.method.output, answer), noteThrown(admission))
    );
  }

  async function begin(
    built: StreamedChange<DescMethod>,
    call: OpenCall,
    admission: Admission,
    message: Message,
  ) {
    const open = await store.change(async (tx) => {
      const opened = await built.begin(tx, call, message);
      await audit.write(tx, admission);
      return opened;
    });
    return open();
  }

  async function* converse(
    admission: Admission,
    messages: AsyncIterable<Message>,
    gone: AbortSignal,
  ): AsyncGenerator<Message> {
    const { input, output } = admission.operation.method;
    const built = builtFor(admission);
    if (!("converse" in built)) throw new Error(`${admission.operation.rpc} is not a stream both ways`);
    const checked = mapIterable(messages, (message) => {
      admission.request.body?.release();
      validate(input, message);
      return message;
    });
    for await (const answer of built.converse(openCallOf(admission, gone), checked))
      yield create(output, answer);
  }

  return {
    reserve(admission, gone) {
      const built = builtFor(admission);
      if ("stream" in built) built.reserve?.(openCallOf(admission, gone));
    },

    converse: (admission, messages, gone) =>
      mapIterable(converse(admission, messages, gone), (answer) => answer, noteThrown(admission)),

    async perform(admission, message, gone) {
      try {
        const { answer, isReplayed } = await runInSpan(spanOf(admission), () =>
          outcome(admission, message, gone),
        );
        return {
          answer: setEnvelope(admission.operation.method, answer, admission.request.requestId),
          isReplayed,
        };
      } catch (thrown) {
        noteThrown(admission)(thrown);
        throw nameSubject(admission.operation.method, message, thrown);
      }
    },

    recorded: (admission, message) => records.find(store, admission, message),

    async stream(admission, message, gone) {
      try {
        return await runInSpan(spanOf(admission), () => openStream(admission, message, gone));
      } catch (thrown) {
        noteThrown(admission)(thrown);
        throw nameSubject(admission.operation.method, message, thrown);
      }
    },
  };
}

/**
 * Whether the call only shows what a change would do. It runs outside a transaction, where rows cannot be
 * written, and has no audit row and no idempotency record.
 */
const isDryRun = (message: Message): boolean => "dryRun" in message && message.dryRun === true;

const spanOf = ({ request }: Admission): Span | null => request.observed?.span ?? null;

const openCallOf = ({ operation, request, caller, checkAgain }: Admission, gone: AbortSignal): OpenCall => ({
  caller,
  accessKey: JSON.stringify([operation.rpc, request.credentials, request.address]),
  reauthenticate: checkAgain,
  network: network(request.address),
  gone,
});

async function run(
  handler: Handler<DescMethod>,
  tx: Tx,
  { operation, caller }: Admission,
  message: Message,
): Promise<Message> {
  return create(operation.method.output, await handler(tx, caller, message));
}
