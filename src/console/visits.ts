import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../core/clock.ts";
import type { Random } from "../core/ids.ts";
import { newSessionText, renewAfterMs, type SessionHolder, sessionDigest, sessionMs } from "../core/sign-in/session.ts";
import type { Store } from "../core/store.ts";
import { cookieIn, sessionCookieName } from "../http/session-cookie.ts";
import { type FormFields, formFields, tokenInput } from "./form.ts";
import type { Html } from "./html.ts";

/** What is known of the browsers that visit our pages: sessions, cookies and the tokens of forms. */
export interface Visits {
  /** The path that all pages are below; empty for the root. */
  readonly base: string;
  /** A link to a page of our own: `path` begins with a slash. */
  href(path: string): string;
  /** The sign-in page, which leads back to a path of our own. */
  signInHref(next: string): string;
  /** Who is signed in here and may go on; null for nobody. Thirty days begin anew, written at most once an hour. */
  currentSession(request: FastifyRequest, reply: FastifyReply): Promise<SessionHolder | null>;
  /** The browser has this session from now on; null: none. */
  giveSession(reply: FastifyReply, text: string | null): void;
  /** The hidden field of a form for whoever is signed in. */
  sessionToken(request: FastifyRequest): Html;
  /** The hidden field of a form for nobody in particular: signing in. Gives the browser a cookie where it has none. */
  visitorToken(request: FastifyRequest, reply: FastifyReply): Html;
  /** A form that `sessionToken` is in. @throws Failure `forbidden` when another site may have sent it. */
  sessionForm(request: FastifyRequest): FormFields;
  /** A form that `visitorToken` is in. @throws Failure `forbidden` when another site may have sent it. */
  visitorForm(request: FastifyRequest): FormFields;
  /** Sets a cookie of this host alone; null takes it away. It holds for so long, or while the browser is open. */
  setCookie(reply: FastifyReply, name: CookieName, value: string | null, maxAgeMs?: number): void;
  cookie(request: FastifyRequest, name: CookieName): string | null;
}

/** Our cookies beside the session: for forms of visitors, and for a sign-in that is at an identity provider. */
export type CookieName = "visitor" | "single-sign-on";

/** What visits are seen through. */
export interface VisitParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly consentUrl: string;
}

/** Cookies and sessions of the pages at CONSENT_URL (contract/decisions.md 35). */
export function visits({ store, clock, random, consentUrl }: VisitParts): Visits {
  const { origin, pathname } = new URL(consentUrl);
  const base = pathname.replace(/\/$/, "");
  const sessionName = sessionCookieName(consentUrl);
  const secure = consentUrl.startsWith("https:");
  const nameOf = (name: CookieName) => (secure ? `__Host-${name}` : name);
  const read = (request: FastifyRequest, name: string) => cookieIn(request.headers.cookie ?? "", name);
  const write = (reply: FastifyReply, name: string, value: string, maxAgeMs?: number) => {
    const age = maxAgeMs === undefined ? "" : `; Max-Age=${Math.floor(maxAgeMs / 1000)}`;
    reply.header("Set-Cookie", `${name}=${value}; Path=/; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}${age}`);
  };

  /** The first use after an hour moves the end of a session, in one of all requests that come at once. */
  async function renew({ session }: SessionHolder, text: string, reply: FastifyReply): Promise<void> {
    const expiresAt = clock.now() + sessionMs;
    if (expiresAt - session.expiresAt < renewAfterMs) return;
    await store.change((tx) => tx.sessions.renew(session.id, expiresAt, expiresAt - renewAfterMs));
    write(reply, sessionName, text, sessionMs);
  }

  return {
    base,
    href: (path) => `${base}${path}`,
    signInHref: (next) => `${base}/sign-in?next=${encodeURIComponent(next)}`,
    async currentSession(request, reply) {
      const text = read(request, sessionName);
      const holder = text === null ? null : await store.sessions.holder(sessionDigest(text));
      if (text === null || holder === null || !mayGoOn(holder, clock.now())) return null;
      await renew(holder, text, reply);
      return holder;
    },
    giveSession: (reply, text) => write(reply, sessionName, text ?? "", text === null ? 0 : sessionMs),
    sessionToken: (request) => tokenInput(read(request, sessionName) ?? ""),
    visitorToken(request, reply) {
      const known = read(request, nameOf("visitor"));
      const secret = known !== null && isSecret(known) ? known : newSessionText(random);
      if (secret !== known) write(reply, nameOf("visitor"), secret);
      return tokenInput(secret);
    },
    sessionForm: (request) => formFields(request, read(request, sessionName), origin),
    visitorForm: (request) => formFields(request, read(request, nameOf("visitor")), origin),
    setCookie: (reply, name, value, maxAgeMs) => write(reply, nameOf(name), value ?? "", value === null ? 0 : maxAgeMs),
    cookie: (request, name) => read(request, nameOf(name)),
  };
}

/** Something with 256 random bits in it, as we give it. */
const isSecret = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

const mayGoOn = ({ session, member }: SessionHolder, now: number): boolean =>
  session.expiresAt > now && (member === null || (member.status === "active" && !member.delegated));
