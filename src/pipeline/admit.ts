import { batchReads } from "../async/batch.ts";
import type { Caller } from "../core/accounts/caller.ts";
import { Failure, failureOf } from "../core/failure.ts";
import type { KeyUses } from "../core/keys/api-keys.ts";
import { sessionMs } from "../core/sign-in/sign-in.ts";
import { checkAccess } from "./access.ts";
import type { Admission, Request } from "./admission.ts";
import type { NoteRefusal } from "./audit.ts";
import { noteChallenge } from "./challenge.ts";
import type { Identify } from "./credential.ts";
import type { Limits } from "./limit.ts";
import type { Operation } from "./operations.ts";

/** Notes the uses of sessions, which move their end. */
export type SessionUses = Pick<KeyUses, "note">;

export type Admit = (operation: Operation, request: Request) => Promise<Admission>;

/**
 * The first step of every call, before the body is read: credential, access, limit.
 *
 * @throws Failure `invalid_argument`, `unauthenticated`, `permission_denied`, `insufficient_scope` or
 * `rate_limited`.
 */
export function createAdmit(
  identify: Identify,
  limits: Limits,
  noteRefusal: NoteRefusal,
  sessions: SessionUses,
): Admit {
  /**
   * Runs a step. Writes a refusal to the audit log and rethrows it with the credentials that the operation
   * accepts.
   */
  async function noteRefusals<T>(
    operation: Operation,
    request: Request,
    caller: Caller | null,
    step: () => T | Promise<T>,
  ): Promise<T> {
    try {
      return await step();
    } catch (thrown) {
      noteChallenge(operation, request.credentials, thrown);
      noteRefusal(operation, request, caller, thrown);
      throw thrown;
    }
  }
  async function identifyCaller(operation: Operation, request: Request): Promise<Caller> {
    try {
      return await noteRefusals(operation, request, null, () =>
        identify(request.credentials, request.address),
      );
    } catch (thrown) {
      if (failureOf(thrown).reason === "unauthenticated") await limits.invalidCredential(request.address);
      throw thrown;
    }
  }
  const callers = batchReads<Caller>();
  async function checkAgain(operation: Operation, request: Request): Promise<Caller> {
    const { credentials, address } = request;
    const key = JSON.stringify([credentials, address]);
    const caller = await noteRefusals(operation, request, null, () =>
      callers(key, () => identify(credentials, address)),
    );
    await noteRefusals(operation, request, caller, () => checkAccess(operation, caller));
    return caller;
  }
  /**
   * Ends a call that began before its session switched to another space: its answers are from the space
   * before.
   */
  async function checkSameSpace(again: Promise<Caller>, { spaceId }: Caller): Promise<Caller> {
    const caller = await again;
    if (caller.spaceId !== spaceId)
      throw new Failure("unauthenticated", "the session has switched to another space");
    return caller;
  }
  /**
   * The person of a valid session, where the operation reads sessions; otherwise a caller without account.
   */
  async function identifyVisitor(
    { readsSessions }: Operation,
    { address, credentials }: Request,
  ): Promise<Caller> {
    const { keys, bearer, session } = credentials;
    if (!readsSessions || session === null || keys.length > 0 || bearer !== null) return anonymousCaller;
    try {
      return await callers(JSON.stringify(session), () =>
        identify({ keys: [], bearer: null, session }, address),
      );
    } catch (thrown) {
      if (failureOf(thrown).reason === "unauthenticated") return anonymousCaller;
      throw thrown;
    }
  }
  /**
   * Admits a call that needs no credential. Its limit is that of the network address, also with a session.
   */
  async function admitVisitor(operation: Operation, request: Request): Promise<Admission> {
    const rate = await noteRefusals(operation, request, null, () =>
      limits.visitor(request.address, operation),
    );
    const visitor = () => identifyVisitor(operation, request);
    return { operation, request, caller: await visitor(), rate, checkAgain: visitor };
  }
  async function admit(operation: Operation, request: Request): Promise<Admission> {
    if (operation.access === null) return admitVisitor(operation, request);
    const caller = await identifyCaller(operation, request);
    if (request.observed) request.observed.caller = caller;
    const rate = await noteRefusals(operation, request, caller, () => {
      checkAccess(operation, caller);
      return limits.account(caller, operation);
    });
    const { credential } = caller;
    // Not in `checkAgain`: a stream that stays open does not extend its session.
    if (credential.kind === "session" && !request.credentials.signed)
      sessions.note(credential.id, credential.expiresAt - sessionMs);
    request.body?.assignTo(caller.accountId, (bytes) => limits.bodyBytes(caller.accountId, bytes));
    return {
      operation,
      request,
      caller,
      rate,
      checkAgain: () => checkSameSpace(checkAgain(operation, request), caller),
    };
  }
  return observing(admit);
}

/** Notes the operation of a call, and whether the call was admitted. */
const observing =
  (admit: Admit): Admit =>
  async (operation, request) => {
    const { observed } = request;
    if (observed) observed.operation = operation;
    const admission = await admit(operation, request);
    if (observed) Object.assign(observed, { caller: admission.caller, isAdmitted: true });
    return admission;
  };

/** A caller without account and space: no row belongs to it. */
const anonymousCaller: Caller = {
  accountId: "",
  spaceId: "",
  credential: { kind: "key", keyKind: "general", id: "", scopes: null },
  role: null,
  locale: "en",
};

/**
 * Admits a read without a credential, because its answer is public. Only the limit of
 * the network address applies.
 */
export const admitAnonymous = (limits: Pick<Limits, "anonymous">): Admit =>
  observing(async (operation, request) => {
    if (operation.isChange) throw new Error(`${operation.rpc} is a change: it cannot be anonymous`);
    await limits.anonymous(request.address);
    return {
      operation,
      request,
      caller: anonymousCaller,
      rate: null,
      checkAgain: async () => anonymousCaller,
    };
  });
