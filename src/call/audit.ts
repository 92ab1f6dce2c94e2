import type { Known, Refusals } from "../core/audit/refusals.ts";
import type { Caller } from "../core/caller.ts";
import type { Clock } from "../core/clock.ts";
import { type Failure, failureOf } from "../core/failure.ts";
import type { Ids } from "../core/ids.ts";
import type { Tx } from "../core/store.ts";
import type { Operation } from "../operations.ts";
import type { Admission, Request } from "./admit.ts";
import { credentialName, RefusedCredential } from "./credential.ts";

export type WriteAudit = (tx: Tx, admission: Admission) => Promise<void>;

/** Writes the audit row of a change, or of a read that has one, in its transaction: who did what, from where, to what. */
export function auditWriter(clock: Clock, ids: Ids): WriteAudit {
  return async (tx, { operation, request, caller }) => {
    const { subject = null, before = null, after = null } = tx.audit.noted();
    await tx.audit.insert({
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
    });
  };
}

/** Tells the audit log of a refusal; null while it is not known who calls. What else was thrown is nothing to it. */
export type NoteRefusal = (operation: Operation, request: Request, caller: Caller | null, thrown: unknown) => void;

export function refusalNoter(refusals: Pick<Refusals, "note">): NoteRefusal {
  /** What one step refused comes by again at the end of its call. */
  const noted = new WeakSet<Failure>();
  return ({ rpc }, { requestId, address }, caller, thrown) => {
    const failure = failureOf(thrown);
    if (noted.has(failure)) return;
    noted.add(failure);
    const known = failure instanceof RefusedCredential ? failure.known : caller && knownBy(caller);
    refusals.note({ operation: rpc, requestId, address }, known, failure);
  };
}

/** Null for whoever asks for what is public, and has no space. */
const knownBy = ({ accountId, spaceId, credential }: Caller): Known | null =>
  spaceId === "" ? null : { accountId, spaceId, credential: credentialName(credential) };
