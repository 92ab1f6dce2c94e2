import type { FastifyInstance } from "fastify";
import { Failure } from "../core/failure.ts";
import type { SignInSpace } from "../core/sign-in/sign-in.ts";
import { auditSession, switchSpace } from "../core/sign-in/start-session.ts";
import { personalSpace, signInTarget, spaceName } from "./entrance.ts";
import { hiddenField } from "./form.ts";
import { type Html, html, words } from "./html.ts";
import { noticeOf, withNotice } from "./notice.ts";
import { sendPage, sendRedirect } from "./page.ts";
import { type ConsoleParts, creationContext, requestOrigin, requireSignIn } from "./parts.ts";
import { changePassword, choosePassword, securityTitle } from "./words.ts";

const roleNames = {
  owner: words("Owner", "Inhaber"),
  super_admin: words("Super admin", "Super-Administrator"),
  admin: words("Admin", "Administrator"),
  member: words("Member", "Mitglied"),
  guest: words("Guest", "Gast"),
} as const;

/** `/account`: the signed-in user, their space, and links to account settings. */
export function accountRoutes(app: FastifyInstance, parts: ConsoleParts): void {
  const { visits, store } = parts;

  const signedIn = requireSignIn(visits);

  app.get(
    "/account",
    signedIn(async (request, reply, { session, email, name, teamName, member }) => {
      const places = await store.signIns.listSpaces(session.accountId);
      const others = places.filter(({ spaceId }) => spaceId !== session.spaceId);
      const hasPassword = (await store.signIns.password(session.accountId)) !== null;
      const token = visits.sessionToken(request);
      const body = html`${noticeOf(request)}<dl>
${name && html`<dt>${words("Name", "Name")}</dt><dd>${name}</dd>`}
<dt>${words("E-mail", "E-Mail")}</dt><dd>${email}</dd>
<dt>${words("Space", "Bereich")}</dt><dd>${teamName ?? personalSpace}</dd>
${member && html`<dt>${words("Role", "Rolle")}</dt><dd>${roleNames[member.role]}</dd>`}
</dl>
${others.length > 0 && html`<h2>${words("Other spaces", "Andere Bereiche")}</h2><ul class="rows">${others.map((place) => switchForm(place, token))}</ul>`}
<p><a href="${visits.href("/account/apps")}">${words("Apps that act for you", "Apps, die für Sie handeln")}</a></p>
<p><a href="${visits.href("/account/security")}">${securityTitle}</a></p>
<p><a href="${visits.href("/account/password")}">${hasPassword ? changePassword : choosePassword}</a></p>
<p><a href="${visits.href("/sign-in")}">${words("Sign in with another account", "Mit einem anderen Konto anmelden")}</a></p>
<form method="post" action="${visits.href("/sign-out")}">${token}<button class="secondary" type="submit">${words("Sign out", "Abmelden")}</button></form>`;
      return sendPage(reply, visits, { title: words("Your account", "Ihr Konto"), body });
    }),
  );

  const switchForm = (place: SignInSpace, token: Html): Html =>
    html`<li><span>${spaceName(place)}</span><form class="inline" method="post" action="${visits.href("/account/space")}">${token}${hiddenField("space", place.spaceId)}<button class="secondary" type="submit" aria-label="${words(html`Switch to ${spaceName(place)}`, html`Wechseln zu ${spaceName(place)}`)}">${words("Switch", "Wechseln")}</button></form></li>`;

  app.post(
    "/account/space",
    signedIn(async (request, reply, { session }) => {
      const form = visits.sessionForm(request);
      const from = requestOrigin(parts, request);
      const text = await store.change((tx) => switchSpace(tx, creationContext(parts), session, form.text("space"), from));
      if (text === null) throw new Failure("not_found", "space not found");
      visits.setSession(reply, text);
      return sendRedirect(reply, signInTarget(parts, form.text("next")));
    }),
  );

  app.post(
    "/sign-out",
    signedIn(async (request, reply, { session }) => {
      visits.sessionForm(request);
      await store.change(async (tx) => {
        await tx.sessions.end(session.id);
        await auditSession(tx, creationContext(parts), session, requestOrigin(parts, request), "SignOut");
      });
      visits.setSession(reply, null);
      // Forms that were filled in before cannot be submitted again.
      visits.setCookie(reply, "visitor", null);
      return sendRedirect(reply, withNotice(visits.href("/sign-in"), "signed-out"));
    }),
  );
}
