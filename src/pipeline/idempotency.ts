import { create, type DescMessage, fromBinary, type Message, toBinary, toJson } from "@bufbuild/protobuf";
import { appOf, type Caller } from "../core/accounts/caller.ts";
import type { Cipher } from "../core/cipher.ts";
import { Failure, invalidArgument } from "../core/failure.ts";
import {
  answerContext,
  type IdempotencyKey,
  type IdempotencyRecord,
} from "../core/idempotency/idempotency-record.ts";
import { jsonDigest } from "../core/json-digest.ts";
import type { Tx } from "../core/store.ts";
import type { Admission } from "./admission.ts";

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
  const rule =
    "must be 1 to 255 visible ASCII characters, for example a UUID; without the header a call is not deduplicated";
  throw invalidArgument(header, rule);
}

const header = "Idempotency-Key";

const conflict = (text: string): Failure =>
  new Failure("idempotency_conflict", `${header}: ${text}`, { path: header });

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
   * @throws Failure `idempotency_conflict` when the key was used with another request, or when the answer
   * held a secret and cannot be sent twice.
   */
  begin(tx: Tx, admission: Admission, message: Message): Promise<IdempotentCall | null>;
  /**
   * Reads the answer of an earlier call, before a change begins; null when there is none or the call has no
   * key.
   *
   * @throws Failure as `begin`.
   */
  find(tx: Pick<Tx, "idempotency">, admission: Admission, message: Message): Promise<Message | null>;
}

export function idempotencyRecords(cipher: Cipher, now: () => number): IdempotencyRecords {
  /** The answer of the recorded call, if it was the same. */
  function answerOf(
    { operation }: Admission,
    { key, hash }: KeyedCall,
    record: IdempotencyRecord | null,
  ): Message {
    if (record?.hash !== hash) throw conflict("already used with another request");
    if (record.answer === null) throw conflict(`already used, it made ${record.subject ?? "nothing"}`);
    return fromBinary(operation.method.output, cipher.open(record.answer, answerContext(key)), {
      recursionLimit,
    });
  }
  return {
    async begin(tx, admission, message) {
      const call = keyedCall(admission, message);
      if (call === null) return null;
      const { operation } = admission;
      const { key, hash } = call;
      if (!(await tx.idempotency.claim(key, hash, now())))
        return { answer: answerOf(admission, call, await tx.idempotency.find(key)) };
      return {
        async complete(answer, subject) {
          const bytes = toBinary(operation.method.output, create(operation.method.output, answer));
          await tx.idempotency.complete(
            key,
            operation.hasSecretAnswer ? null : cipher.seal(bytes, answerContext(key)),
            subject,
          );
        },
      };
    },
    async find(tx, admission, message) {
      const call = keyedCall(admission, message);
      const record = call && (await tx.idempotency.find(call.key));
      return call && record && answerOf(admission, call, record);
    },
  };
}

interface KeyedCall {
  readonly key: IdempotencyKey;
  readonly hash: string;
}

function keyedCall({ operation, caller, request }: Admission, message: Message): KeyedCall | null {
  if (request.idempotencyKey === null) return null;
  const { accountId, spaceId } = caller;
  const place = {
    accountId,
    spaceId,
    clientId: appOf(caller) ?? limitedKeyOf(caller),
    operation: operation.rpc,
  };
  return {
    key: { ...place, key: request.idempotencyKey },
    hash: requestHash(operation.method.input, message),
  };
}

/**
 * A key that is limited to projects has separate records: another answer of its account can be from another
 * project.
 */
const limitedKeyOf = ({ within }: Caller): string => (within === undefined ? "" : `key:${within.apiKeyId}`);

/** The hash of a decoded request, independent of wire and member order. */
const requestHash = (schema: DescMessage, message: Message): string => jsonDigest(toJson(schema, message));
