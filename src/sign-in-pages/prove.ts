import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { countCode, useCode } from "../core/sign-in/second-step.ts";
import type { SessionHolder } from "../core/sign-in/sign-in.ts";
import { auditSession } from "../core/sign-in/start-session.ts";
import type { Tx } from "../core/store.ts";
import { signInTarget } from "./entrance.ts";
import { keepChallenge, provePasskey } from "./factors/challenges.ts";
import { passkeyForm, passkeyScript, whereSupported } from "./factors/passkey-form.ts";
import { type RelyingParty, requestOptions } from "./factors/webauthn.ts";
import { alertMessage, buttonLink, field, hiddenField, postForm } from "./form.ts";
import { type Html, html, words } from "./html.ts";
import { mailedLinkHref } from "./mailed-link.ts";
import { sendPage, sendRedirect } from "./page.ts";
import {
  type ConsoleParts,
  creationContext,
  queryText,
  requestOrigin,
  requireSignIn,
  verifyOwnPassword,
} from "./parts.ts";
import {
  continueWith,
  continueWord,
  linkByMail,
  orWord,
  passwordLabel,
  refusedPasskey,
  wrongCode,
} from "./words.ts";

/** The page that follows, and what was wrong with the last attempt. */
interface Shown {
  readonly next: string;
  readonly wrong: Html | null;
  /** The form that was wrong. */
  readonly at?: "password" | "code" | "passkey";
}

const path = "/account/prove";

/**
 * `/account/prove`: the signed-in user authenticates again before a sensitive operation (spec/decisions.md
 * 7).
 */
export function proveRoutes(app: FastifyInstance, parts: ConsoleParts): void {
  const { visits, store, clock, cipher, relyingParty } = parts;
  const signedIn = requireSignIn(visits);

  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    { session: { accountId } }: SessionHolder,
    shown: Shown,
  ): Promise<FastifyReply> {
    const hasPassword = (await store.signIns.password(accountId)) !== null;
    const hasApp = (await store.factors.authenticator(accountId)) !== null;
    const hasPasskey = relyingParty !== null && (await store.factors.passkeys(accountId)).length > 0;
    const token = visits.sessionToken(request);
    const ways = [
      hasPassword && passwordForm(token, shown),
      hasApp && codeForm(token, shown),
      hasPasskey && passkeyPart(token, shown),
      parts.provider &&
        buttonLink(
          visits.href(`${path}/single`, shown.next),
          continueWith(parts.provider.label),
          "secondary",
        ),
    ].filter((way) => way instanceof Object);
    const body = html`<p>${words("This operation is sensitive. Please authenticate again.", "Dieser Vorgang ist heikel. Bitte bestätigen Sie, dass Sie es sind.")}</p>
${ways.map((way, i) => html`${i > 0 && html`<p class="or">${orWord}</p>`}${way}`)}
${ways.length === 0 && noWay(mailedLinkHref(parts, shown.next))}`;
    const script = hasPasskey ? { script: passkeyScript } : {};
    return sendPage(reply, visits, {
      title: words("Confirm that it is you", "Bestätigen Sie, dass Sie es sind"),
      body,
      status: shown.wrong === null ? 200 : 401,
      ...script,
    });
  }

  const noWay = (linkHref: string | null): Html =>
    linkHref === null
      ? html`<p>${words("You have no password yet. Ask your administrator for a new sign-in link.", "Sie haben noch kein Passwort. Bitten Sie Ihren Administrator um einen neuen Anmeldelink.")}</p>`
      : html`<p>${words("You have no password yet. Sign in again with a link by mail.", "Sie haben noch kein Passwort. Melden Sie sich erneut mit einem Link per E-Mail an.")}</p>
${buttonLink(linkHref, linkByMail)}`;

  const alertOf = ({ wrong, at }: Shown, form: Shown["at"]): Html | null =>
    at === form ? alertMessage(wrong) : null;

  const passwordForm = (token: Html, shown: Shown): Html => {
    const password = field({
      name: "password",
      label: passwordLabel,
      autocomplete: "current-password",
      isInvalid: shown.at === "password",
    });
    return postForm(
      visits.href(path),
      [alertOf(shown, "password"), token, hiddenField("next", shown.next), password],
      continueWord,
    );
  };

  const codeForm = (token: Html, shown: Shown): Html => {
    const label = words("Code of your authenticator app", "Code Ihrer Authenticator-App");
    const code = field({
      name: "code",
      label,
      autocomplete: "one-time-code",
      maxLength: 20,
      isInvalid: shown.at === "code",
    });
    const fields = [alertOf(shown, "code"), token, hiddenField("next", shown.next), code];
    return postForm(
      visits.href(`${path}/code`),
      fields,
      words("Continue with the code", "Weiter mit dem Code"),
      "secondary",
    );
  };

  const passkeyPart = (token: Html, shown: Shown): Html =>
    html`${alertOf(shown, "passkey")}${whereSupported(
      passkeyForm({
        asks: "get",
        action: visits.href(`${path}/passkey`),
        fields: html`${token}${hiddenField("next", shown.next)}`,
        button: html`<button class="secondary" type="submit">${words("Continue with a passkey", "Weiter mit einem Passkey")}</button>`,
      }),
    )}`;

  /** Records the proof in one change with what it consumes. False when that was consumed before. */
  async function record(
    request: FastifyRequest,
    { session }: SessionHolder,
    by: "password" | "code" | "passkey",
    consume: (tx: Tx) => Promise<boolean>,
  ): Promise<boolean> {
    return store.change(async (tx) => {
      if (!(await consume(tx))) return false;
      await tx.sessions.recordProof(session.id, clock.now());
      await auditSession(
        tx,
        creationContext(parts),
        session,
        requestOrigin(parts, request),
        "Reauthenticate",
        { by },
      );
      return true;
    });
  }

  app.get(
    path,
    signedIn((request, reply, who) =>
      show(request, reply, who, { next: signInTarget(parts, queryText(request, "next")), wrong: null }),
    ),
  );

  app.post(
    path,
    signedIn(async (request, reply, who) => {
      const sent = visits.sessionForm(request);
      const next = signInTarget(parts, sent.text("next"));
      const proves = await verifyOwnPassword(parts, request, who, sent.text("password"));
      if (!proves)
        return show(request, reply, who, {
          next,
          wrong: words("The password is wrong.", "Das Passwort ist falsch."),
          at: "password",
        });
      await record(request, who, "password", async () => true);
      return sendRedirect(reply, next);
    }),
  );

  app.post(
    `${path}/code`,
    signedIn(async (request, reply, who) => {
      const sent = visits.sessionForm(request);
      const next = signInTarget(parts, sent.text("next"));
      const { accountId } = who.session;
      await parts.countAttempt(who.email, requestOrigin(parts, request).address);
      await countCode(store.counters, clock, accountId);
      const proves = await record(request, who, "code", (tx) =>
        useCode(tx, cipher, accountId, sent.text("code"), clock.now()),
      );
      if (!proves) return show(request, reply, who, { next, wrong: wrongCode, at: "code" });
      return sendRedirect(reply, next);
    }),
  );

  if (relyingParty) passkeyProof(relyingParty);

  function passkeyProof(party: RelyingParty): void {
    const purposeOf = (sessionId: string) => ({ of: "prove", sessionId }) as const;

    app.post(
      `${path}/passkey/options`,
      signedIn(async (request, reply, { session }) => {
        visits.sessionForm(request);
        const options = await requestOptions(party, await store.factors.passkeys(session.accountId));
        keepChallenge(parts, reply, purposeOf(session.id), { text: options.challenge });
        return reply.header("Cache-Control", "no-store").send(options);
      }),
    );

    app.post(
      `${path}/passkey`,
      signedIn(async (request, reply, who) => {
        const sent = visits.sessionForm(request);
        const next = signInTarget(parts, sent.text("next"));
        const { session } = who;
        const proof = await provePasskey(
          parts,
          party,
          { request, reply },
          purposeOf(session.id),
          sent.text("credential"),
        );
        const isOwn = proof?.passkey.accountId === session.accountId;
        if (!proof || !isOwn || !(await record(request, who, "passkey", (tx) => proof.record(tx))))
          return show(request, reply, who, { next, wrong: refusedPasskey, at: "passkey" });
        return sendRedirect(reply, next);
      }),
    );
  }
}
