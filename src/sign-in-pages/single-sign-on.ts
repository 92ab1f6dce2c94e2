import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { openExpiring, sealExpiring } from "../core/cipher.ts";
import { type ConfirmedIdentity, proveByIdentity } from "../core/sign-in/prove.ts";
import type { Session } from "../core/sign-in/sign-in.ts";
import { auditSession } from "../core/sign-in/start-session.ts";
import { claimedGroupsFollower } from "./claimed-groups.ts";
import { enterOrChooseSpace, findCurrentSession, signInTarget } from "./entrance.ts";
import { buttonLink } from "./form.ts";
import { html, words } from "./html.ts";
import { sendPage, sendRedirect } from "./page.ts";
import { type ConsoleParts, creationContext, queryText, requestOrigin } from "./parts.ts";
import type { PendingAuthorization, Provider, ProviderIdentity } from "./provider.ts";
import { backToSignIn, requestNote, signInFailed } from "./words.ts";

/** The maximum duration of a sign-in at the provider. */
const pendingMs = 10 * 60_000;
const context = "single sign-on";

/** The content of the sealed cookie while the browser is at the provider. */
interface PendingSignIn {
  readonly pending: PendingAuthorization;
  readonly next: string;
  /** The session whose user authenticates again; null for a sign-in. */
  readonly sessionId: string | null;
}

/** `/sign-in/single` and its callback `/sign-in/callback` (spec/decisions.md 34). */
export function singleSignOnRoutes(app: FastifyInstance, parts: ConsoleParts, provider: Provider): void {
  const { visits, store, clock, cipher } = parts;
  const followGroups = claimedGroupsFollower(parts);

  async function begin(
    request: FastifyRequest,
    reply: FastifyReply,
    session: Session | null,
  ): Promise<FastifyReply> {
    const next = signInTarget(parts, queryText(request, "next"));
    try {
      const { url, pending } = await provider.begin(session !== null);
      const pendingSignIn: PendingSignIn = { pending, next, sessionId: session?.id ?? null };
      visits.setCookie(
        reply,
        "single-sign-on",
        sealExpiring(cipher, clock, context, pendingSignIn, pendingMs),
        pendingMs,
      );
      return sendRedirect(reply, url);
    } catch (thrown) {
      return sendFailure(request, reply, 502, thrown);
    }
  }

  app.get("/sign-in/single", (request, reply) => begin(request, reply, null));

  app.get("/account/prove/single", async (request, reply) => {
    const session = await findCurrentSession(parts, request, reply);
    return session === null
      ? sendRedirect(reply, visits.signInHref(visits.account))
      : begin(request, reply, session);
  });

  app.get("/sign-in/callback", async (request, reply) => {
    const pendingSignIn = openExpiring<PendingSignIn>(
      cipher,
      clock,
      context,
      visits.cookie(request, "single-sign-on") ?? "",
    );
    if (pendingSignIn === null)
      return sendFailure(request, reply, 400, "no sign-in is pending in this browser");
    visits.setCookie(reply, "single-sign-on", null);
    let identity: ProviderIdentity | null;
    try {
      identity = await provider.finish(request.url.split("?")[1] ?? "", pendingSignIn.pending);
    } catch (thrown) {
      return sendFailure(request, reply, 400, thrown);
    }
    if (identity === null) return sendUnknownAccount(reply);
    return pendingSignIn.sessionId === null
      ? signIn(request, reply, identity, pendingSignIn)
      : proveAgain(request, reply, identity, pendingSignIn);
  });

  async function signIn(
    request: FastifyRequest,
    reply: FastifyReply,
    identity: ProviderIdentity,
    { next }: PendingSignIn,
  ): Promise<FastifyReply> {
    const proven = await store.change((tx) => proveByIdentity(tx, clock.now(), identity));
    if (proven === null) return sendUnknownAccount(reply);
    if (identity.groups !== null) await followGroups(request, proven.accountId, identity.groups);
    return enterOrChooseSpace(parts, request, reply, proven, next);
  }

  async function proveAgain(
    request: FastifyRequest,
    reply: FastifyReply,
    identity: ConfirmedIdentity,
    { next, sessionId }: PendingSignIn,
  ): Promise<FastifyReply> {
    const session = await findCurrentSession(parts, request, reply);
    const accountId = await store.signIns.findByIdentity(identity);
    if (session === null || session.id !== sessionId || accountId !== session.accountId)
      return sendUnknownAccount(reply);
    await store.change(async (tx) => {
      await tx.sessions.recordProof(session.id, clock.now());
      await auditSession(
        tx,
        creationContext(parts),
        session,
        requestOrigin(parts, request),
        "Reauthenticate",
        { by: "single sign-on" },
      );
    });
    return sendRedirect(reply, next);
  }

  const back = buttonLink(visits.href("/sign-in"), backToSignIn);

  /** The page does not show whether the account exists, or why it has no access. */
  const sendUnknownAccount = (reply: FastifyReply): FastifyReply =>
    sendPage(reply, visits, {
      status: 403,
      title: words("No account found", "Kein Konto gefunden"),
      body: html`<p>${words(
        `You are authenticated, but no account here can sign in with this identity. For a first sign-in, you need an open invitation to the e-mail address that ${provider.label} has verified.`,
        `Ihre Identität ist bestätigt, aber kein Konto hier kann sich mit ihr anmelden. Für die erste Anmeldung brauchen Sie eine offene Einladung an die E-Mail-Adresse, die ${provider.label} geprüft hat.`,
      )}</p>
${back}`,
    });

  /** The provider's and the library's texts are not shown; the process log gets only the error code. */
  function sendFailure(
    request: FastifyRequest,
    reply: FastifyReply,
    status: 400 | 502,
    thrown: unknown,
  ): FastifyReply {
    const { requestId } = requestOrigin(parts, request);
    parts.log("warn", "single sign-on failed", { requestId, error: errorCode(thrown) });
    return sendPage(reply, visits, {
      status,
      title: signInFailed,
      body: html`<p>${words(
        `${provider.label} could not be reached, did not confirm who you are, or took too long. Please try again.`,
        `${provider.label} war nicht erreichbar, hat Sie nicht bestätigt oder brauchte zu lange. Bitte versuchen Sie es erneut.`,
      )}</p>
${back}
${requestNote(requestId)}`,
    });
  }
}

/** The library's error code, which contains no data from the network. */
function errorCode(thrown: unknown): string {
  if (typeof thrown === "string") return thrown;
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return typeof code === "string" ? code : "unknown";
}
