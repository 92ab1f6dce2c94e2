import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import { Failure } from "../core/failure.ts";
import { mapped } from "../core/mapped.ts";
import type { OpenCall } from "../core/open-call.ts";
import type { Store, Tx } from "../core/store.ts";
import type { Admission } from "./admit.ts";
import type { NoteRefusal, WriteAudit } from "./audit.ts";
import { noteChallenge } from "./challenge.ts";
import { inEnvelope } from "./envelope.ts";
import type { AnyHandler, Handler, HandlerTable } from "./handlers.ts";
import { checkIdempotencyKey, type Replays } from "./replay.ts";
import { validate } from "./validate.ts";

/** What a call came to. */
export interface Outcome {
  readonly answer: Message;
  /** The answer was made by an earlier call with the same `Idempotency-Key`. */
  readonly replayed: boolean;
}

/** The second half of every call, by what it answers. `gone` is aborted when nobody waits for that any more. */
export interface Performer {
  /**
   * One answer. For a change it is made in one transaction, in which the idempotency
   * record is claimed, the handler runs, the audit row is written and the answer goes
   * into the record; for an audited read too, without the record.
   *
   * @throws Failure of any reason.
   */
  perform(admission: Admission, message: Message, gone: AbortSignal): Promise<Outcome>;
  /**
   * Any number of answers, as a server stream has them; null when there is none and
   * never will be.
   *
   * @throws Failure of any reason: the promise before the first answer, the stream after it.
   */
  stream(admission: Admission, message: Message, gone: AbortSignal): Promise<AsyncIterable<Message> | null>;
  /**
   * Any number of answers to any number of messages, as they come. What is thrown comes from the answers: Failure of any
   * reason, also for a message that breaks the rules of its fields.
   */
  converse(admission: Admission, messages: AsyncIterable<Message>, gone: AbortSignal): AsyncIterable<Message>;
}

/** What calls tell the audit log. */
export interface CallAudit {
  readonly write: WriteAudit;
  readonly refused: NoteRefusal;
}

/** Field rules first, then the handler. */
export function performer(store: Store, handlers: HandlerTable, replays: Replays, audit: CallAudit): Performer {
  function handlerOf(admission: Admission, message: Message): AnyHandler {
    validate(admission.operation.method.input, message);
    return builtFor(admission);
  }

  function builtFor({ operation }: Admission): AnyHandler {
    const built = handlers.get(operation.rpc);
    if (!built) throw new Failure("unimplemented", `${operation.name ?? operation.rpc} is not built yet`);
    return built;
  }

  async function change(tx: Tx, admission: Admission, message: Message, handler: Handler<DescMethod>): Promise<Outcome> {
    // What an audited read answers is nothing to keep.
    const replay = admission.operation.change ? await replays.begin(tx, admission, message) : null;
    if (replay !== null && "answer" in replay) return { answer: replay.answer, replayed: true };
    const answer = await run(handler, tx, admission, message);
    await audit.write(tx, admission);
    await replay?.complete(answer, tx.audit.noted().subject ?? null);
    return { answer, replayed: false };
  }

  /** A handler refuses as well, and so does whoever looks at the credential anew while a call is open. */
  const noting =
    ({ operation, request, caller }: Admission) =>
    (thrown: unknown) => {
      noteChallenge(operation, request.credentials, thrown);
      audit.refused(operation, request, caller, thrown);
    };

  async function outcome(admission: Admission, message: Message, gone: AbortSignal): Promise<Outcome> {
    const { operation, caller, request } = admission;
    const built = handlerOf(admission, message);
    if ("stream" in built || "converse" in built) throw new Error(`${operation.rpc} is a stream`);
    if ("hold" in built) {
      admission.request.body?.release();
      if (operation.audited) throw new Error(`${operation.rpc} is held, and would have no audit row`);
      const answer = await built.hold(store, openCall(admission, gone), message);
      return { answer: create(operation.method.output, answer), replayed: false };
    }
    // Before the first half of a change, which may ask other servers.
    if (operation.change) checkIdempotencyKey(request.idempotencyKey);
    const handler = "prepare" in built ? await built.prepare(message, caller, gone) : built;
    if (operation.change || operation.audited) return store.change((tx) => change(tx, admission, message, handler));
    return { answer: await run(handler, store, admission, message), replayed: false };
  }

  async function opened(admission: Admission, message: Message, gone: AbortSignal): Promise<AsyncIterable<Message> | null> {
    const { operation } = admission;
    const built = handlerOf(admission, message);
    if (!("stream" in built)) throw new Error(`${operation.rpc} is no stream`);
    admission.request.body?.release();
    const answers = await built.stream(store, openCall(admission, gone), message);
    return answers && mapped(answers, (answer) => create(operation.method.output, answer), noting(admission));
  }

  async function* conversation(admission: Admission, messages: AsyncIterable<Message>, gone: AbortSignal): AsyncGenerator<Message> {
    const { input, output } = admission.operation.method;
    const built = builtFor(admission);
    if (!("converse" in built)) throw new Error(`${admission.operation.rpc} is no conversation`);
    const checked = mapped(messages, (message) => {
      admission.request.body?.release();
      validate(input, message);
      return message;
    });
    for await (const answer of built.converse(openCall(admission, gone), checked)) yield create(output, answer);
  }

  return {
    converse: (admission, messages, gone) => mapped(conversation(admission, messages, gone), (answer) => answer, noting(admission)),

    async perform(admission, message, gone) {
      try {
        const { answer, replayed } = await outcome(admission, message, gone);
        return { answer: inEnvelope(admission.operation.method, answer, admission.request.requestId), replayed };
      } catch (thrown) {
        noting(admission)(thrown);
        throw thrown;
      }
    },

    async stream(admission, message, gone) {
      try {
        return await opened(admission, message, gone);
      } catch (thrown) {
        noting(admission)(thrown);
        throw thrown;
      }
    },
  };
}

const openCall = ({ operation, request, caller, again }: Admission, gone: AbortSignal): OpenCall => ({
  caller,
  who: JSON.stringify([operation.rpc, request.credentials]),
  again,
  gone,
});

async function run(handler: Handler<DescMethod>, tx: Tx, { operation, caller }: Admission, message: Message): Promise<Message> {
  return create(operation.method.output, await handler(tx, caller, message));
}
