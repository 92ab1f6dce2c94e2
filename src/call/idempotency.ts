import { create, type DescMessage, fromBinary, type Message, toBinary, toJson } from "@bufbuild/protobuf";
import { appOf } from "../core/accounts/caller.ts";
import type { Cipher } from "../core/cipher.ts";
import { Failure, invalidArgument } from "../core/failure.ts";
import type { IdempotencyKey } from "../core/idempotency/idempotency-record.ts";
import { jsonDigest } from "../core/json.ts";
import type { Tx } from "../core/store.ts";
import type { Admission } from "./admission.ts";

/** Repeats are recognised for a day. */
export const idempotencyWindowMs = 24 * 3_600_000;

/** JSON of 100 levels needs four nested messages for each level in its binary form. */
const recursionLimit = 400;

const keyForm = /^[\x21-\x7e]{1,255}$/;

/**
 * Refuses an invalid `Idempotency-Key`, including an empty one: a caller who sends the header relies on it.
 *
 * @throws Failure `invalid_argument`.
 */
export function checkIdempotencyKey(key: string | null): void {
  if (key === null || keyForm.test(key)) return;
  const rule = "must be 1 to 255 visible ASCII characters, for example a UUID; without the header a call is not deduplicated";
  throw invalidArgument("Idempotency-Key", rule);
}

/** A claim that this change holds. Complete it before the commit. */
interface Claimed {
  complete(answer: Message, subject: string | null): Promise<void>;
}

/** Either the answer of the first call, or a claim to make it now. */
export type IdempotentCall = { readonly answer: Message } | Claimed;

/** Idempotency of changes: `Idempotency-Key` on any of them (spec/decisions.md 20). */
export interface IdempotencyRecords {
  /**
   * Begins a change that has a key; null when it has none.
   *
   * @throws Failure `already_exists` when the key was used with another request, or when the answer held a secret and cannot be
   * sent twice.
   */
  begin(tx: Tx, admission: Admission, message: Message): Promise<IdempotentCall | null>;
}

export function idempotencyRecords(cipher: Cipher, now: () => number): IdempotencyRecords {
  function reader(admission: Admission, key: IdempotencyKey, hash: string, tx: Tx) {
    return async (): Promise<IdempotentCall> => {
      const record = await tx.idempotency.find(key);
      if (record?.hash !== hash) throw new Failure("already_exists", "Idempotency-Key: already used with another request");
      if (record.answer === null)
        throw new Failure("already_exists", `Idempotency-Key: already used, it made ${record.subject ?? "nothing"}`);
      const plain = cipher.open(record.answer, contextOf(key));
      return { answer: fromBinary(admission.operation.method.output, plain, { recursionLimit }) };
    };
  }
  return {
    async begin(tx, admission, message) {
      const { operation, caller, request } = admission;
      if (request.idempotencyKey === null) return null;
      const { accountId, spaceId } = caller;
      const key: IdempotencyKey = {
        accountId,
        spaceId,
        clientId: appOf(caller) ?? "",
        operation: operation.rpc,
        key: request.idempotencyKey,
      };
      const hash = requestHash(operation.method.input, message);
      if (!(await tx.idempotency.claim(key, hash, now()))) return reader(admission, key, hash, tx)();
      return {
        async complete(answer, subject) {
          const bytes = toBinary(operation.method.output, create(operation.method.output, answer));
          await tx.idempotency.complete(key, operation.hasSecretAnswer ? null : cipher.seal(bytes, contextOf(key)), subject);
        },
      };
    },
  };
}

/** Binds a stored answer to its key: it cannot be decrypted under another. */
const contextOf = (key: IdempotencyKey): string => JSON.stringify([key.accountId, key.spaceId, key.clientId, key.operation, key.key]);

/** The hash of a decoded request, independent of wire and member order. */
const requestHash = (schema: DescMessage, message: Message): string => jsonDigest(toJson(schema, message));
