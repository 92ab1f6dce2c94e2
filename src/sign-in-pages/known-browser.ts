import type { FastifyReply, FastifyRequest } from "fastify";
import { openExpiring, sealExpiring } from "../core/cipher.ts";
import type { ConsoleParts } from "./parts.ts";
import { cookieMs } from "./visits.ts";

const context = "known browser";
/** Accounts that one browser remembers. */
const accountsMax = 4;

interface Known {
  readonly accounts: readonly string[];
}

/**
 * The accounts that this browser has signed in to. The cookie is sealed: it shows no account, and only this
 * installation can make one.
 */
export const knownAccounts = (
  { visits, cipher, clock }: ConsoleParts,
  request: FastifyRequest,
): readonly string[] =>
  openExpiring<Known>(cipher, clock, context, visits.cookie(request, "known") ?? "")?.accounts ?? [];

/**
 * Remembers in the browser that it has signed in to an account. It grants only a place in the queue of
 * sign-ins, and separate attempts.
 */
export function rememberAccount(
  parts: ConsoleParts,
  request: FastifyRequest,
  reply: FastifyReply,
  accountId: string,
): void {
  const others = knownAccounts(parts, request).filter((id) => id !== accountId);
  const known: Known = { accounts: [accountId, ...others].slice(0, accountsMax) };
  parts.visits.setCookie(
    reply,
    "known",
    sealExpiring(parts.cipher, parts.clock, context, known, cookieMs),
    cookieMs,
  );
}
