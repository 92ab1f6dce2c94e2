import type { Caller } from "../core/caller.ts";
import { Failure, failureOf } from "../core/failure.ts";
import { sharedReads } from "../core/shared-reads.ts";
import type { Operation } from "../operations.ts";
import { checkAccess } from "./access.ts";
import type { NoteRefusal } from "./audit.ts";
import { noteChallenge } from "./challenge.ts";
import type { Identify, Presented } from "./credential.ts";
import type { Limits, RateState } from "./limit.ts";

/** A request as any wire form shows it before its body is read. */
export interface Request {
  readonly requestId: string;
  /** The client's network address. */
  readonly address: string;
  readonly credentials: Presented;
  /** The `Idempotency-Key` header; null when absent. */
  readonly idempotencyKey: string | null;
  /** The `Prefer` header asks that members without effect are refused: `handling=strict` (RFC 7240 4.4). */
  readonly strict: boolean;
  /** Its body, whose memory is counted; absent for a request without one. */
  readonly body?: CountedBody | undefined;
}

/** A body whose bytes are counted while they are read and parsed, and until the call is over: what was parsed is as large. */
export interface CountedBody {
  /** From now on its bytes count under an account. */
  belongsTo(accountId: string): void;
  /** None of its bytes counts any more: the call goes on for long, and holds nothing of what it was sent. */
  release(): void;
}

/** A call that was let in: `perform` takes it from here. */
export interface Admission {
  readonly operation: Operation;
  readonly request: Request;
  readonly caller: Caller;
  readonly rate: RateState | null;
  /**
   * Who calls by now: credential and access anew, without the limits.
   *
   * @throws Failure `unauthenticated` or `forbidden`, as a new call would get.
   */
  again(): Promise<Caller>;
}

export type Admit = (operation: Operation, request: Request) => Promise<Admission>;

/**
 * The first half of every call, before a body is read: credential, access, limit.
 *
 * @throws Failure `invalid`, `unauthenticated`, `forbidden`, `insufficient_scope` or `limited`.
 */
export function admission(identify: Identify, limits: Limits, noteRefusal: NoteRefusal): Admit {
  /** Writes a refusal at a step to the audit log, and throws it again with the credentials that the operation takes. */
  async function told<T>(operation: Operation, request: Request, caller: Caller | null, step: () => T | Promise<T>): Promise<T> {
    try {
      return await step();
    } catch (thrown) {
      noteChallenge(operation, request.credentials, thrown);
      noteRefusal(operation, request, caller, thrown);
      throw thrown;
    }
  }
  async function credential(operation: Operation, request: Request): Promise<Caller> {
    try {
      return await told(operation, request, null, () => identify(request.credentials));
    } catch (thrown) {
      if (failureOf(thrown).reason === "unauthenticated") await limits.stranger(request.address);
      throw thrown;
    }
  }
  const callers = sharedReads<Caller>();
  async function again(operation: Operation, request: Request): Promise<Caller> {
    const { credentials } = request;
    const caller = await told(operation, request, null, () => callers(JSON.stringify(credentials), () => identify(credentials)));
    await told(operation, request, caller, () => checkAccess(operation, caller));
    return caller;
  }
  return async (operation, request) => {
    if (operation.access === null) throw new Failure("unimplemented", "anonymous operations are not built");
    const caller = await credential(operation, request);
    const rate = await told(operation, request, caller, () => {
      checkAccess(operation, caller);
      return limits.account(caller.accountId, operation);
    });
    request.body?.belongsTo(caller.accountId);
    return { operation, request, caller, rate, again: () => again(operation, request) };
  };
}

/** No account, no space: no row is this one's. */
const nobody: Caller = {
  accountId: "",
  spaceId: "",
  credential: { kind: "key", keyKind: "general", id: "" },
  role: null,
  locale: "en",
};

/**
 * The first half of a read that some address takes without a credential, because what
 * it answers is public: limited by the network address alone.
 */
export const anybody =
  (limits: Pick<Limits, "anonymous">): Admit =>
  async (operation, request) => {
    if (operation.change) throw new Error(`${operation.rpc} is nobody's to call`);
    await limits.anonymous(request.address);
    return { operation, request, caller: nobody, rate: null, again: async () => nobody };
  };
