import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../core/clock.ts";
import type { Random } from "../core/ids.ts";
import {
  newSessionText,
  renewAfterMs,
  type SessionHolder,
  sessionDigest,
  sessionMs,
} from "../core/sign-in/sign-in.ts";
import type { Store } from "../core/store.ts";
import { readCookie, sessionCookieName } from "../http/request.ts";
import { type FormFields, formFields, tokenInput } from "./form.ts";
import type { Html } from "./html.ts";
import type { Site } from "./page.ts";

/** The page of what a person signs in with. */
export const securityPath = "/account/security";
/** The address of the apps that act for a person; the web application has the page. */
export const appsPath = "/account/apps";

/** The state of browsers on the console's pages: sessions, cookies and CSRF tokens. */
export interface Visits extends Site {
  /** A link to a page of this site: `path` begins with a slash. @param next where the page leads to */
  href(path: string, next?: string): string;
  /** The page of the person's account: of the web application, or that of their sign-in. */
  readonly account: string;
  /** The page of the apps that act for the person. */
  readonly apps: string;
  /** The sign-in page, which leads back to the path `next` of this site. */
  signInHref(next: string): string;
  /**
   * The signed-in user with a valid session; null if there is none. Extends the session to thirty days, at
   * most once an hour.
   */
  currentSession(request: FastifyRequest, reply: FastifyReply): Promise<SessionHolder | null>;
  /** Sets the browser's session; null removes it. */
  setSession(reply: FastifyReply, text: string | null): void;
  /** The hidden field of a form for a signed-in user. */
  sessionToken(request: FastifyRequest): Html;
  /** The hidden field of a form before sign-in. Sets a cookie if the browser has none. */
  visitorToken(request: FastifyRequest, reply: FastifyReply): Html;
  /**
   * Reads a form with `sessionToken`. @throws Failure `permission_denied` if another site may have sent it.
   */
  sessionForm(request: FastifyRequest): FormFields;
  /**
   * Reads a form with `visitorToken`. @throws Failure `permission_denied` if another site may have sent it.
   */
  visitorForm(request: FastifyRequest): FormFields;
  /** Sets a cookie for this host only; null removes it. Without `maxAgeMs` it is a session cookie. */
  setCookie(reply: FastifyReply, name: CookieName, value: string | null, maxAgeMs?: number): void;
  cookie(request: FastifyRequest, name: CookieName): string | null;
}

/**
 * Cookies in addition to the session: for forms before sign-in, for a pending single sign-on, for the request
 * of an app that waits for an invitation, for the challenge of a passkey, for a sign-in that waits for its
 * second step, and for accounts that were signed in to.
 */
export type CookieName = "visitor" | "single-sign-on" | "return" | "passkey" | "second-step" | "known";

export interface VisitParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly consentUrl: string;
  /** Whether there is the web application. */
  readonly console: boolean;
}

/**
 * How long a browser keeps the session cookie: longer than the session, which calls extend without an answer
 * that could renew the cookie (spec/decisions.md 62). Browsers keep no cookie longer (RFC 6265bis 5.5).
 */
export const cookieMs = 400 * 24 * 3_600_000;

/** Cookies and sessions of the pages at CONSENT_URL (spec/decisions.md 35). */
export function visits({ store, clock, random, consentUrl, console: hasConsole }: VisitParts): Visits {
  const { origin, pathname } = new URL(consentUrl);
  const base = pathname.replace(/\/$/, "");
  const account = `${base}${hasConsole ? "/settings/profile" : securityPath}`;
  const href = (path: string, next?: string) =>
    `${base}${path}${next === undefined ? "" : `?next=${encodeURIComponent(next)}`}`;
  const sessionName = sessionCookieName(consentUrl);
  const secure = consentUrl.startsWith("https:");
  const nameOf = (name: CookieName) => (secure ? `__Host-${name}` : name);
  const read = (request: FastifyRequest, name: string) => readCookie(request.headers.cookie ?? "", name);
  const write = (reply: FastifyReply, name: string, value: string, maxAgeMs?: number) => {
    const age = maxAgeMs === undefined ? "" : `; Max-Age=${Math.floor(maxAgeMs / 1000)}`;
    reply.header(
      "Set-Cookie",
      `${name}=${value}; Path=/; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}${age}`,
    );
  };

  /** The first use after an hour extends the session; only one of several concurrent requests does. */
  async function renew({ session }: SessionHolder, text: string, reply: FastifyReply): Promise<void> {
    const expiresAt = clock.now() + sessionMs;
    if (expiresAt - session.expiresAt < renewAfterMs) return;
    await store.change((tx) => tx.sessions.renew(session.id, expiresAt, expiresAt - renewAfterMs));
    write(reply, sessionName, text, cookieMs);
  }

  return {
    base,
    home: hasConsole ? `${base}/` : account,
    account,
    apps: `${base}${hasConsole ? "/settings/authorized-apps" : appsPath}`,
    href,
    signInHref: (next) => href("/sign-in", next),
    async currentSession(request, reply) {
      const text = read(request, sessionName);
      const holder = text === null ? null : await store.sessions.holder(sessionDigest(text));
      if (text === null || holder === null || !isValid(holder, clock.now())) return null;
      await renew(holder, text, reply);
      return holder;
    },
    setSession: (reply, text) => write(reply, sessionName, text ?? "", text === null ? 0 : cookieMs),
    sessionToken: (request) => tokenInput(read(request, sessionName) ?? ""),
    visitorToken(request, reply) {
      const stored = read(request, nameOf("visitor"));
      const secret = stored !== null && isSecret(stored) ? stored : newSessionText(random);
      if (secret !== stored) write(reply, nameOf("visitor"), secret);
      return tokenInput(secret);
    },
    sessionForm: (request) => formFields(request, read(request, sessionName), origin),
    visitorForm: (request) => formFields(request, read(request, nameOf("visitor")), origin),
    setCookie: (reply, name, value, maxAgeMs) =>
      write(reply, nameOf(name), value ?? "", value === null ? 0 : maxAgeMs),
    cookie: (request, name) => read(request, nameOf(name)),
  };
}

/** Whether a text has the form of a secret with 256 random bits. */
const isSecret = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

const isValid = ({ session, member }: SessionHolder, now: number): boolean =>
  session.expiresAt > now && (member === null || (member.status === "active" && !member.delegated));
