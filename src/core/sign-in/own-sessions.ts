import type { Caller } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { notFound } from "../failure.ts";
import type { Tx } from "../store.ts";
import type { OwnSession } from "./sign-in.ts";

const listMax = 100;

/** A session as its person sees it in a list. */
export interface ListedSession extends OwnSession {
  /** The session of the call. */
  readonly isCurrent: boolean;
}

/** The sessions of the caller's account, in all of its spaces. */
export interface OwnSessions {
  /** The valid ones, newest first. */
  list(tx: Tx, caller: Caller): Promise<readonly ListedSession[]>;
  /** @throws Failure `not_found` for a session of another account and one that has ended. */
  revoke(tx: Tx, caller: Caller, id: string): Promise<void>;
}

export const ownSessions = (clock: Pick<Clock, "now">): OwnSessions => ({
  async list(tx, caller) {
    const sessions = await tx.sessions.listOwn(caller.accountId, clock.now(), listMax);
    return sessions.map((session) => ({ ...session, isCurrent: isCurrent(caller, session.id) }));
  },
  async revoke(tx, caller, id) {
    if (!(await tx.sessions.endOwn(caller.accountId, id, clock.now()))) throw notFound("session");
    tx.audit.note({ subject: id, before: { current: isCurrent(caller, id) } });
  },
});

const isCurrent = ({ credential }: Caller, id: string): boolean =>
  credential.kind === "session" && credential.id === id;
