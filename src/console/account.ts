import type { FastifyInstance } from "fastify";
import { Failure } from "../core/failure.ts";
import type { SignInSpace } from "../core/sign-in/sign-in.ts";
import { auditSession, switchSpace } from "../core/sign-in/start-session.ts";
import { signInTarget, spaceName } from "./entrance.ts";
import { hiddenField } from "./form.ts";
import { type Html, html } from "./html.ts";
import { noticeOf, withNotice } from "./notice.ts";
import { sendPage, sendRedirect } from "./page.ts";
import { type ConsoleParts, creationContext, requestOrigin, requireSignIn } from "./parts.ts";

const roleNames = { owner: "Owner", super_admin: "Super admin", admin: "Admin", member: "Member", guest: "Guest" } as const;

/** `/account`: the signed-in user, their space, and links to account settings. */
export function accountRoutes(app: FastifyInstance, parts: ConsoleParts): void {
  const { visits, store } = parts;

  const signedIn = requireSignIn(visits);

  app.get(
    "/account",
    signedIn(async (request, reply, { session, email, name, teamName, member }) => {
      const places = await store.signIns.listSpaces(session.accountId);
      const others = places.filter(({ spaceId }) => spaceId !== session.spaceId);
      const token = visits.sessionToken(request);
      const body = html`${noticeOf(request)}<dl>
${name && html`<dt>Name</dt><dd>${name}</dd>`}
<dt>E-mail</dt><dd>${email}</dd>
<dt>Space</dt><dd>${teamName ?? "Personal space"}</dd>
${member && html`<dt>Role</dt><dd>${roleNames[member.role]}</dd>`}
</dl>
${others.length > 0 && html`<h2>Other spaces</h2><ul class="rows">${others.map((place) => switchForm(place, token))}</ul>`}
<p><a href="${visits.href("/account/apps")}">Apps that act for you</a></p>
<p><a href="${visits.href("/account/security")}">Sign-in and security</a></p>
<p><a href="${visits.href("/account/password")}">Change the password</a></p>
<p><a href="${visits.href("/sign-in")}">Sign in with another account</a></p>
<form method="post" action="${visits.href("/sign-out")}">${token}<button class="secondary" type="submit">Sign out</button></form>`;
      return sendPage(reply, visits, { title: "Your account", body });
    }),
  );

  const switchForm = (place: SignInSpace, token: Html): Html =>
    html`<li><span>${spaceName(place)}</span><form class="inline" method="post" action="${visits.href("/account/space")}">${token}${hiddenField("space", place.spaceId)}<button class="secondary" type="submit" aria-label="Switch to ${spaceName(place)}">Switch</button></form></li>`;

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
