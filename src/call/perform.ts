import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import { Failure } from "../core/failure.ts";
import type { Store, Tx } from "../core/store.ts";
import type { Admission } from "./admit.ts";
import type { WriteAudit } from "./audit.ts";
import type { Handler, HandlerTable } from "./handlers.ts";
import type { Replays } from "./replay.ts";
import { validate } from "./validate.ts";

/** What a call came to. */
export interface Outcome {
  readonly answer: Message;
  /** The answer was made by an earlier call with the same `Idempotency-Key`. */
  readonly replayed: boolean;
}

export type Perform = (admission: Admission, message: Message) => Promise<Outcome>;

/**
 * The second half of every call: field rules, then for a read the handler, and for
 * a change one transaction in which the idempotency record is claimed, the handler
 * runs, the audit row is written and the answer goes into the record.
 *
 * @throws Failure of any reason.
 */
export function performer(store: Store, handlers: HandlerTable, replays: Replays, writeAudit: WriteAudit): Perform {
  async function change(tx: Tx, admission: Admission, message: Message, handler: Handler<DescMethod>): Promise<Outcome> {
    const replay = await replays.begin(tx, admission, message);
    if (replay !== null && "answer" in replay) return { answer: replay.answer, replayed: true };
    const answer = await run(handler, tx, admission, message);
    await writeAudit(tx, admission);
    await replay?.complete(answer, tx.audit.noted().subject ?? null);
    return { answer, replayed: false };
  }

  return async (admission, message) => {
    const { operation } = admission;
    validate(operation.method.input, message);
    const built = handlers.get(operation.rpc);
    if (!built) throw new Failure("unimplemented", `${operation.name ?? operation.rpc} is not built yet`);
    if ("prepare" in built) await built.prepare(message, admission.caller);
    const handler = "prepare" in built ? built.perform : built;
    if (operation.change) return store.change((tx) => change(tx, admission, message, handler));
    return { answer: await run(handler, store, admission, message), replayed: false };
  };
}

async function run(handler: Handler<DescMethod>, tx: Tx, { operation, caller }: Admission, message: Message): Promise<Message> {
  return create(operation.method.output, await handler(tx, caller, message));
}
