import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { proveByPassword } from "../core/sign-in/by-password.ts";
import { admit, chooseSpace, destination } from "./entrance.ts";
import { alert, field, hidden } from "./fields.ts";
import { type Html, html } from "./html.ts";
import { sendPage } from "./page.ts";
import { type ConsoleParts, fromOf, queryText } from "./parts.ts";

/** The same for whatever was wrong: nobody learns which addresses have an account. */
const refusal = "That address and password do not belong together here.";

/** What the form is filled with. */
interface Filled {
  readonly next: string;
  readonly email?: string;
  readonly wrong: string | null;
}

/** `/sign-in`: by e-mail address and password, or on to the provider of single sign-on. */
export function signInRoutes(app: FastifyInstance, parts: ConsoleParts): void {
  const { visits } = parts;

  async function form(request: FastifyRequest, reply: FastifyReply, { next, email, wrong }: Filled): Promise<FastifyReply> {
    const signedIn = await visits.currentSession(request, reply);
    const body = html`${signedIn && already(signedIn.email, next)}
<form method="post" action="${visits.href("/sign-in")}">
${alert(wrong)}${visits.visitorToken(request, reply)}${hidden("next", next)}
${field({ name: "email", label: "E-mail address", type: "email", autocomplete: "username", value: email ?? "" })}
${field({ name: "password", label: "Password", type: "password", autocomplete: "current-password", wrong: wrong !== null })}
<button type="submit">Sign in</button>
</form>
${parts.provider && other(parts.provider.label, next)}
<p class="quiet small">No password yet, or forgotten? Ask whoever runs this installation for a sign-in link.</p>`;
    return sendPage(reply, visits.base, { title: "Sign in", body, status: wrong === null ? 200 : 401 });
  }

  const already = (email: string, next: string): Html =>
    html`<p class="notice">You are signed in as ${email}. <a href="${next}">Go on as ${email}</a>, or sign in as somebody else.</p>`;

  const other = (label: string, next: string): Html =>
    html`<p class="or">or</p><p><a class="button secondary" href="${visits.href("/sign-in/single")}?next=${encodeURIComponent(next)}">Continue with ${label}</a></p>`;

  app.get("/sign-in", (request, reply) => form(request, reply, { next: destination(parts, queryText(request, "next")), wrong: null }));

  app.post("/sign-in", async (request, reply) => {
    const sent = visits.visitorForm(request);
    const [email, next] = [sent.text("email"), destination(parts, sent.text("next"))];
    const { address } = fromOf(parts, request);
    const typed = { email, password: sent.text("password"), address };
    const proven = await proveByPassword(parts.store, parts.clock, parts.countAttempt, typed);
    return proven === null ? form(request, reply, { next, email, wrong: refusal }) : admit(parts, request, reply, proven, next);
  });

  app.post("/sign-in/space", (request, reply) => chooseSpace(parts, request, reply));
}
