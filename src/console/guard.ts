import type { FastifyReply, FastifyRequest } from "fastify";
import { checkPassword } from "../core/sign-in/password.ts";
import type { SessionHolder } from "../core/sign-in/session.ts";
import { sendTo } from "./page.ts";
import { type ConsoleParts, fromOf } from "./parts.ts";
import type { Visits } from "./visits.ts";

/** Answers a request of somebody who is signed in. */
export type Handle = (request: FastifyRequest, reply: FastifyReply, who: SessionHolder) => Promise<FastifyReply> | FastifyReply;

/** Pages for those who are signed in: whoever is not goes there first, and comes back. */
export const guard = (visits: Visits) => (handle: Handle) => async (request: FastifyRequest, reply: FastifyReply) => {
  const who = await visits.currentSession(request, reply);
  const back = request.method === "GET" ? request.url : "/account";
  return who === null ? sendTo(reply, visits.signInHref(visits.href(back))) : handle(request, reply, who);
};

/** Whether this is the password of who is signed in; counted like a sign-in, for a session that was left open is no way to guess it. */
export async function provesByPassword(parts: ConsoleParts, request: FastifyRequest, who: SessionHolder, text: string): Promise<boolean> {
  await parts.countAttempt(who.email, fromOf(parts, request).address);
  return checkPassword(parts.store, who.session.accountId, text);
}
