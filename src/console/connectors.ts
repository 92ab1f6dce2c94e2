import type { SignIns } from "../core/connectors/sign-in.ts";
import type { Failure } from "../core/failure.ts";
import { failureOf } from "../core/failure.ts";
import type { MorePages } from "./console.ts";
import { html } from "./html.ts";
import { sendPage, sendTo } from "./page.ts";
import { fromOf, makingOf, queryText } from "./parts.ts";

/**
 * The page that authorization servers of connectors lead back to. It asks for the session that began: another's browser
 * that is sent here ties nobody's account to anything.
 */
export const connectorPages =
  (signIns: SignIns, path: string): MorePages =>
  (app, parts) => {
    const { visits } = parts;
    app.get(path, async (request, reply) => {
      const who = await visits.currentSession(request, reply);
      if (who === null) return sendTo(reply, visits.signInHref(visits.href("/account")));
      const { session } = who;
      const { requestId, address } = fromOf(parts, request);
      const back = { state: queryText(request, "state"), code: queryText(request, "code"), issuer: queryText(request, "iss") };
      const gone = new AbortController();
      reply.raw.once("close", () => gone.abort());
      try {
        const connector = await signIns.finish(
          session,
          back,
          async (tx) => {
            const { subject = null, before = null, after = null } = tx.audit.noted();
            const { now, ids } = makingOf(parts);
            const { id, accountId, spaceId } = session;
            const entry = { id: ids.short(), at: now, spaceId, accountId, credential: `session:${id}`, requestId, address };
            await tx.audit.insert({ ...entry, operation: "console/ConnectConnector", subject, before, after });
          },
          gone.signal,
        );
        return sendPage(reply, visits.base, {
          title: `${connector.name} is connected`,
          body: html`<p>You have signed in to ${connector.name}. Tasks that wait for it go on once you say so there. This page can be closed.</p>`,
        });
      } catch (thrown) {
        return failed(failureOf(thrown), requestId);
      }

      function failed(failure: Failure, request: string) {
        if (failure.reason === "internal") parts.report(failure, request);
        return sendPage(reply, visits.base, {
          status: failure.reason === "absent" ? 400 : 502,
          title: "That sign-in did not work",
          body: html`<p>The connector was not signed in to: it was refused, took too long, was begun by somebody else, or its server could not be reached. Please begin again.</p>
<p class="quiet small">Request ${request}</p>`,
        });
      }
    });
  };
