import type { Caller } from "../core/accounts/caller.ts";
import type { KnownCredential, Refusals } from "../core/audit/refusals.ts";
import type { Clock } from "../core/clock.ts";
import { type Failure, failureOf } from "../core/failure.ts";
import type { Ids } from "../core/ids.ts";
import type { Tx } from "../core/store.ts";
import type { Admission, Request } from "./admission.ts";
import { credentialName, RefusedCredential } from "./credential.ts";
import type { Operation } from "./operations.ts";

export type WriteAudit = (tx: Tx, admission: Admission) => Promise<void>;

/**
 * Writes the audit row of a change, or of an audited read, in its transaction: caller, operation, address,
 * subject.
 */
export function auditWriter(clock: Clock, ids: Ids): WriteAudit {
  return async (tx, { operation, request, caller }) => {
    const { subject = null, before = null, after = null, alsoIn } = tx.audit.notes();
    const entry = {
      id: ids.short(),
      at: clock.now(),
      spaceId: caller.spaceId,
      accountId: caller.accountId,
      credential: credentialName(caller.credential),
      operation: operation.rpc,
      requestId: request.requestId,
      address: request.address,
      subject,
      before,
      after,
    };
    await tx.audit.insert(entry);
    if (alsoIn) await tx.audit.insert({ ...entry, ...alsoIn, id: ids.short() });
  };
}

/**
 * Notes a refusal for the audit log. `caller` is null while it is unknown. Ignores errors that are not
 * refusals.
 */
export type NoteRefusal = (
  operation: Operation,
  request: Request,
  caller: Caller | null,
  thrown: unknown,
) => void;

export function refusalNoter(refusals: Pick<Refusals, "note">): NoteRefusal {
  /** A refusal of one step passes here again at the end of its call: it is noted once. */
  const noted = new WeakSet<Failure>();
  return ({ rpc }, { requestId, address }, caller, thrown) => {
    const failure = failureOf(thrown);
    if (noted.has(failure)) return;
    noted.add(failure);
    const known = failure instanceof RefusedCredential ? failure.known : caller && knownBy(caller);
    refusals.note({ operation: rpc, requestId, address }, known, failure);
  };
}

/** Null for an anonymous caller, which has no space. */
const knownBy = ({ accountId, spaceId, credential }: Caller): KnownCredential | null =>
  spaceId === "" ? null : { accountId, spaceId, credential: credentialName(credential) };
