import { create, type DescMessage, fromBinary, type Message, toBinary, toJson } from "@bufbuild/protobuf";
import { appOf } from "../core/caller.ts";
import type { Cipher } from "../core/cipher.ts";
import { Failure, invalid } from "../core/failure.ts";
import { jsonDigest } from "../core/json.ts";
import type { ReplayKey } from "../core/replay/replay.ts";
import type { Tx } from "../core/store.ts";
import type { Admission } from "./admit.ts";

/** Repeats are recognised for a day. */
export const replayMs = 24 * 3_600_000;

/** JSON of a hundred levels takes four messages for each in its binary form. */
const recursionLimit = 400;

const keyForm = /^[\x21-\x7e]{1,255}$/;

/**
 * Refuses an invalid `Idempotency-Key`, also an empty one: a caller who sends the header relies on it.
 *
 * @throws Failure `invalid`.
 */
export function checkIdempotencyKey(key: string | null): void {
  if (key === null || keyForm.test(key)) return;
  const rule = "must be 1 to 255 visible ASCII characters, for example a UUID; without the header a call is not deduplicated";
  throw invalid("Idempotency-Key", rule);
}

/** A claim that this change holds: it has to be completed before the commit. */
interface Claimed {
  complete(answer: Message, subject: string | null): Promise<void>;
}

/** Either the answer given before, or the right to make it now. */
export type Replay = { readonly answer: Message } | Claimed;

/** Idempotency of changes: `Idempotency-Key` on any of them (contract/decisions.md 20). */
export interface Replays {
  /**
   * The first step of a change that carries a key; null when it carries none.
   *
   * @throws Failure `exists` when the key was used with another request, or when the answer held a secret and cannot be
   * given twice.
   */
  begin(tx: Tx, admission: Admission, message: Message): Promise<Replay | null>;
}

export function replays(cipher: Cipher, now: () => number): Replays {
  function reader(admission: Admission, key: ReplayKey, hash: string, tx: Tx) {
    return async (): Promise<Replay> => {
      const record = await tx.replays.find(key);
      if (record?.hash !== hash) throw new Failure("exists", "Idempotency-Key: already used with another request");
      if (record.answer === null) throw new Failure("exists", `Idempotency-Key: already used, it made ${record.subject ?? "nothing"}`);
      const plain = cipher.open(record.answer, contextOf(key));
      return { answer: fromBinary(admission.operation.method.output, plain, { recursionLimit }) };
    };
  }
  return {
    async begin(tx, admission, message) {
      const { operation, caller, request } = admission;
      if (request.idempotencyKey === null) return null;
      const { accountId, spaceId } = caller;
      const key: ReplayKey = { accountId, spaceId, clientId: appOf(caller) ?? "", operation: operation.rpc, key: request.idempotencyKey };
      const hash = requestHash(operation.method.input, message);
      if (!(await tx.replays.claim(key, hash, now()))) return reader(admission, key, hash, tx)();
      return {
        async complete(answer, subject) {
          const bytes = toBinary(operation.method.output, create(operation.method.output, answer));
          await tx.replays.complete(key, operation.secretAnswer ? null : cipher.seal(bytes, contextOf(key)), subject);
        },
      };
    },
  };
}

/** Binds a stored answer to its key, so that it opens nowhere else. */
const contextOf = (key: ReplayKey): string => JSON.stringify([key.accountId, key.spaceId, key.clientId, key.operation, key.key]);

/** One hash for one decoded request, whatever wire and member order it came by. */
const requestHash = (schema: DescMessage, message: Message): string => jsonDigest(toJson(schema, message));
