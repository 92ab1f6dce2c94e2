import type { SignIns } from "../core/connectors/sign-in.ts";
import type { Failure } from "../core/failure.ts";
import { failureOf } from "../core/failure.ts";
import { auditConsent } from "./consent/approval.ts";
import type { MorePages } from "./console.ts";
import { html, words } from "./html.ts";
import { sendPage, sendRedirect } from "./page.ts";
import { creationContext, queryText, requestOrigin } from "./parts.ts";
import { requestNote, signInFailed } from "./words.ts";

/**
 * The page to which authorization servers of connectors redirect. It requires the session that started the
 * sign-in, so that a redirect in another user's browser cannot connect that user's account.
 */
export const connectorPages =
  (signIns: SignIns, path: string): MorePages =>
  (app, parts) => {
    const { visits } = parts;
    app.get(path, async (request, reply) => {
      const who = await visits.currentSession(request, reply);
      if (who === null) return sendRedirect(reply, visits.signInHref(visits.account));
      const { session } = who;
      const from = requestOrigin(parts, request);
      const { requestId } = from;
      const response = {
        state: queryText(request, "state"),
        code: queryText(request, "code"),
        issuer: queryText(request, "iss"),
      };
      const disconnected = new AbortController();
      reply.raw.once("close", () => disconnected.abort());
      try {
        const connector = await signIns.finish(
          session,
          response,
          (tx) => auditConsent(tx, creationContext(parts), session, from, "ConnectConnector"),
          disconnected.signal,
        );
        return sendPage(reply, visits, {
          title: words(`${connector.name} is connected`, `${connector.name} ist verbunden`),
          body: html`<p>${words(
            `You have signed in to ${connector.name}. Tasks that wait for it continue when you confirm in the task. You can close this page.`,
            `Sie haben sich bei ${connector.name} angemeldet. Aufgaben, die darauf warten, gehen weiter, wenn Sie in der Aufgabe bestätigen. Sie können diese Seite schließen.`,
          )}</p>`,
        });
      } catch (thrown) {
        return sendFailure(failureOf(thrown), requestId);
      }

      function sendFailure(failure: Failure, request: string) {
        if (failure.reason === "internal") parts.report(failure, request);
        return sendPage(reply, visits, {
          status: failure.reason === "not_found" ? 400 : 502,
          title: signInFailed,
          body: html`<p>${words(
            "The sign-in to the connector did not succeed: it was refused, took too long, was started by another user, or its server could not be reached. Please try again.",
            "Die Anmeldung beim Konnektor ist nicht gelungen: sie wurde abgelehnt, dauerte zu lange, wurde von einer anderen Person begonnen, oder der Server war nicht erreichbar. Bitte versuchen Sie es erneut.",
          )}</p>
${requestNote(request)}`,
        });
      }
    });
  };
