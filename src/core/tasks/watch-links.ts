import type { Caller, CallerCredential } from "../accounts/caller.ts";
import type { Cipher } from "../cipher.ts";
import { isSame } from "../files/links.ts";

/** A credential by its id, as an address of this installation names it: the address is signed, so it needs no secret. */
export interface SignedCredential {
  readonly kind: Exclude<CallerCredential["kind"], "worker">;
  readonly id: string;
  /** The app whose tasks alone are visible; null for all tasks of the account. */
  readonly clientId: string | null;
}

/** What an address allows: to watch one task with the rights of one credential. */
export interface WatchGrant {
  readonly taskId: string;
  readonly credential: SignedCredential;
}

/** Addresses that allow their holder to watch a task without a header: `{base}/watches?token={grant}.{signature}` (spec/decisions.md 61). */
export interface WatchLinks {
  /** @param until Unix milliseconds. @throws TypeError for a worker, which cannot call task.watchUrl. */
  create(caller: Caller, taskId: string, until: number): string;
  /** The grant of a token, which is unchecked text; null for a forged or expired one. */
  read(token: string, now: number): WatchGrant | null;
}

/** The members of a token. */
type Signed = readonly [taskId: string, kind: SignedCredential["kind"], credentialId: string, clientId: string | null, until: number];

/** @param baseUrl where callers reach this installation; no slash at its end. */
export function watchLinks(cipher: Pick<Cipher, "createMac">, baseUrl: string): WatchLinks {
  const mac = cipher.createMac("task watch link");
  return {
    create(caller, taskId, until) {
      const { clientId = null, credential } = caller;
      if (credential.kind === "worker") throw new TypeError("a worker watches no task");
      const signed: Signed = [taskId, credential.kind, credential.id, clientId, until];
      const grant = Buffer.from(JSON.stringify(signed)).toString("base64url");
      return `${baseUrl}/watches?token=${grant}.${Buffer.from(mac(grant)).toString("base64url")}`;
    },
    read(token, now) {
      const [grant = "", signature = "", ...rest] = token.split(".");
      if (rest.length > 0 || !isSame(Buffer.from(mac(grant)), signature)) return null;
      // Safe cast: only this installation can sign a grant.
      const [taskId, kind, id, clientId, until] = JSON.parse(Buffer.from(grant, "base64url").toString()) as Signed;
      return now < until ? { taskId, credential: { kind, id, clientId } } : null;
    },
  };
}
