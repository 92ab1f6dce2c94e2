import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import {
  isFresh,
  removeAuthenticator,
  removePasskey,
  renamePasskey,
  StaleProof,
} from "../../core/sign-in/factors.ts";
import type { SessionHolder } from "../../core/sign-in/sign-in.ts";
import { type Html, words } from "../html.ts";
import { noticeOf, withNotice } from "../notice.ts";
import { sendPage, sendRedirect } from "../page.ts";
import { type ConsoleParts, creationContext, requestOrigin, requireSignIn } from "../parts.ts";
import { securityPath } from "../visits.ts";
import { securityTitle } from "../words.ts";
import { authenticatorRoutes } from "./authenticator.ts";
import { passkeyScript } from "./passkey-form.ts";
import { nameRule, passkeyRoutes, readPasskeyName } from "./passkeys.ts";
import { securityBody } from "./security-body.ts";
import type { SecurityPages } from "./security-pages.ts";

/**
 * `/account/security`: passkeys, the authenticator app and recovery codes of the signed-in person. Only
 * sessions get here.
 */
export function securityRoutes(app: FastifyInstance, parts: ConsoleParts): void {
  const { visits, store, clock, relyingParty } = parts;
  const signedIn = requireSignIn(visits);
  const askForProof = (reply: FastifyReply) =>
    sendRedirect(reply, visits.href("/account/prove", visits.href(securityPath)));

  async function show(
    request: FastifyRequest,
    reply: FastifyReply,
    who: SessionHolder,
    wrong: Html | null,
  ): Promise<FastifyReply> {
    const body = await securityBody(parts, who, {
      token: visits.sessionToken(request),
      notice: wrong === null ? noticeOf(request) : null,
      wrong,
      isFresh: isFresh(who.session, clock.now()),
    });
    const script = relyingParty ? { script: passkeyScript } : {};
    return sendPage(reply, visits, {
      title: securityTitle,
      body,
      status: wrong === null ? 200 : 400,
      ...script,
    });
  }

  const pages: SecurityPages = {
    proven: (handle) =>
      signedIn(async (request, reply, who) => {
        if (!isFresh(who.session, clock.now())) return askForProof(reply);
        try {
          return await handle(request, reply, who);
        } catch (thrown) {
          if (thrown instanceof StaleProof) return askForProof(reply);
          throw thrown;
        }
      }),
    change: (request, { session }, work) =>
      store.change((tx) =>
        work({ tx, context: creationContext(parts), session, from: requestOrigin(parts, request) }),
      ),
    refuse: show,
    done: (reply) => sendRedirect(reply, withNotice(visits.href(securityPath), "security")),
  };

  app.get(
    securityPath,
    signedIn((request, reply, who) => show(request, reply, who, null)),
  );

  app.post(
    `${securityPath}/rename`,
    pages.proven(async (request, reply, who) => {
      const form = visits.sessionForm(request);
      const name = readPasskeyName(form.text("name"));
      if (name === null) return show(request, reply, who, nameRule);
      await pages.change(request, who, (change) => renamePasskey(change, form.text("passkey"), name));
      return pages.done(reply);
    }),
  );

  app.post(
    `${securityPath}/remove`,
    pages.proven(async (request, reply, who) => {
      const form = visits.sessionForm(request);
      const removed = await pages.change(request, who, (change) =>
        removePasskey(change, form.text("passkey")),
      );
      if (!removed)
        return show(
          request,
          reply,
          who,
          words(
            "This passkey is your only way to sign in. Add another one, or choose a password, first.",
            "Nur mit diesem Passkey können Sie sich anmelden. Fügen Sie zuerst einen anderen hinzu, oder wählen Sie ein Passwort.",
          ),
        );
      return pages.done(reply);
    }),
  );

  app.post(
    `${securityPath}/app/remove`,
    pages.proven(async (request, reply, who) => {
      visits.sessionForm(request);
      await pages.change(request, who, removeAuthenticator);
      return pages.done(reply);
    }),
  );

  authenticatorRoutes(app, parts, pages);
  if (relyingParty) passkeyRoutes(app, parts, relyingParty, pages);
}
