import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { proveByIdentity, type Vouched } from "../core/sign-in/by-identity.ts";
import { auditSession } from "../core/sign-in/enter.ts";
import type { Session } from "../core/sign-in/session.ts";
import { admit, before, destination } from "./entrance.ts";
import { html } from "./html.ts";
import { sendPage, sendTo } from "./page.ts";
import { type ConsoleParts, fromOf, makingOf, queryText } from "./parts.ts";
import type { Pending, Provider } from "./provider.ts";
import { sealFor, unsealed } from "./sealed.ts";

/** A sign-in at the provider takes no longer. */
const pendingMs = 10 * 60_000;
const context = "single sign-on";

/** What the sealed cookie says while the browser is away. */
interface Away {
  readonly pending: Pending;
  readonly next: string;
  /** The session that is to prove anew who it is; null for signing in. */
  readonly sessionId: string | null;
}

/** `/sign-in/single` and back at `/sign-in/callback` (contract/decisions.md 34). */
export function singleSignOnRoutes(app: FastifyInstance, parts: ConsoleParts, provider: Provider): void {
  const { visits, store, clock, cipher } = parts;

  async function begin(request: FastifyRequest, reply: FastifyReply, session: Session | null): Promise<FastifyReply> {
    const next = destination(parts, queryText(request, "next"));
    try {
      const { url, pending } = await provider.begin(session !== null);
      const away: Away = { pending, next, sessionId: session?.id ?? null };
      visits.setCookie(reply, "single-sign-on", sealFor(cipher, clock, context, away, pendingMs), pendingMs);
      return sendTo(reply, url);
    } catch (thrown) {
      return failed(request, reply, 502, thrown);
    }
  }

  app.get("/sign-in/single", (request, reply) => begin(request, reply, null));

  app.get("/account/prove/single", async (request, reply) => {
    const session = await before(parts, request, reply);
    return session === null ? sendTo(reply, visits.signInHref(visits.href("/account"))) : begin(request, reply, session);
  });

  app.get("/sign-in/callback", async (request, reply) => {
    const away = unsealed<Away>(cipher, clock, context, visits.cookie(request, "single-sign-on") ?? "");
    if (away === null) return failed(request, reply, 400, "no sign-in is pending in this browser");
    visits.setCookie(reply, "single-sign-on", null);
    let vouched: Vouched | null;
    try {
      vouched = await provider.finish(request.url.split("?")[1] ?? "", away.pending);
    } catch (thrown) {
      return failed(request, reply, 400, thrown);
    }
    if (vouched === null) return unknown(reply);
    return away.sessionId === null ? signIn(request, reply, vouched, away) : proveAgain(request, reply, vouched, away);
  });

  async function signIn(request: FastifyRequest, reply: FastifyReply, vouched: Vouched, { next }: Away): Promise<FastifyReply> {
    const proven = await store.change((tx) => proveByIdentity(tx, clock.now(), vouched));
    return proven === null ? unknown(reply) : admit(parts, request, reply, proven, next);
  }

  async function proveAgain(
    request: FastifyRequest,
    reply: FastifyReply,
    vouched: Vouched,
    { next, sessionId }: Away,
  ): Promise<FastifyReply> {
    const session = await before(parts, request, reply);
    const accountId = await store.signIns.bound(vouched);
    if (session === null || session.id !== sessionId || accountId !== session.accountId) return unknown(reply);
    await store.change(async (tx) => {
      await tx.sessions.prove(session.id, clock.now());
      await auditSession(tx, makingOf(parts), session, fromOf(parts, request), "Reauthenticate", { by: "single sign-on" });
    });
    return sendTo(reply, next);
  }

  /** Nobody learns whether there is such an account, or why it opens nothing. */
  const unknown = (reply: FastifyReply): FastifyReply =>
    sendPage(reply, visits.base, {
      status: 403,
      title: "No account for you here",
      body: html`<p>You proved who you are, but nobody by that identity may sign in here. For a first sign-in you need an open invitation to the very address that ${provider.label} knows and has verified.</p>
<p><a class="button" href="${visits.href("/sign-in")}">Back to sign-in</a></p>`,
    });

  /** What the provider or its library said is for the process log alone, and of that only what kind of error it was. */
  function failed(request: FastifyRequest, reply: FastifyReply, status: 400 | 502, thrown: unknown): FastifyReply {
    const { requestId } = fromOf(parts, request);
    parts.log("warn", "single sign-on failed", { requestId, error: errorCode(thrown) });
    return sendPage(reply, visits.base, {
      status,
      title: "That sign-in did not work",
      body: html`<p>${provider.label} could not be reached, did not confirm who you are, or took too long. Please begin again.</p>
<p><a class="button" href="${visits.href("/sign-in")}">Back to sign-in</a></p>
<p class="quiet small">Request ${requestId}</p>`,
    });
  }
}

/** The library's own code of an error: it quotes nothing that came over the wire. */
function errorCode(thrown: unknown): string {
  if (typeof thrown === "string") return thrown;
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return typeof code === "string" ? code : "unknown";
}
