import type { FastifyInstance } from "fastify";
import { Failure } from "../core/failure.ts";
import { auditSession, switchSpace } from "../core/sign-in/enter.ts";
import type { Place } from "../core/sign-in/sign-in.ts";
import { destination, placeName } from "./entrance.ts";
import { hidden } from "./fields.ts";
import { guard } from "./guard.ts";
import { type Html, html } from "./html.ts";
import { sendPage, sendTo } from "./page.ts";
import { type ConsoleParts, fromOf, makingOf } from "./parts.ts";

const roleNames = { owner: "Owner", super_admin: "Super admin", admin: "Admin", member: "Member", guest: "Guest" } as const;

/** `/account`: who is signed in, where, and what can be done about it. */
export function accountRoutes(app: FastifyInstance, parts: ConsoleParts): void {
  const { visits, store } = parts;

  const signedIn = guard(visits);

  app.get(
    "/account",
    signedIn(async (request, reply, { session, email, name, teamName, member }) => {
      const places = await store.signIns.places(session.accountId);
      const others = places.filter(({ spaceId }) => spaceId !== session.spaceId);
      const token = visits.sessionToken(request);
      const body = html`<dl>
${name && html`<dt>Name</dt><dd>${name}</dd>`}
<dt>E-mail</dt><dd>${email}</dd>
<dt>Space</dt><dd>${teamName ?? "Personal space"}</dd>
${member && html`<dt>Role</dt><dd>${roleNames[member.role]}</dd>`}
</dl>
${others.length > 0 && html`<h2>Other spaces</h2><ul class="rows">${others.map((place) => switchForm(place, token))}</ul>`}
<p><a href="${visits.href("/account/apps")}">Apps that act for you</a></p>
<p><a href="${visits.href("/account/password")}">Change the password</a></p>
<p><a href="${visits.href("/sign-in")}">Sign in as somebody else</a></p>
<form method="post" action="${visits.href("/sign-out")}">${token}<button class="secondary" type="submit">Sign out</button></form>`;
      return sendPage(reply, visits.base, { title: "Your account", body });
    }),
  );

  const switchForm = (place: Place, token: Html): Html =>
    html`<li><span>${placeName(place)}</span><form class="inline" method="post" action="${visits.href("/account/space")}">${token}${hidden("space", place.spaceId)}<button class="secondary" type="submit" aria-label="Switch to ${placeName(place)}">Switch</button></form></li>`;

  app.post(
    "/account/space",
    signedIn(async (request, reply, { session }) => {
      const form = visits.sessionForm(request);
      const from = fromOf(parts, request);
      const text = await store.change((tx) => switchSpace(tx, makingOf(parts), session, form.text("space"), from));
      if (text === null) throw new Failure("absent", "space not found");
      visits.giveSession(reply, text);
      return sendTo(reply, destination(parts, form.text("next")));
    }),
  );

  app.post(
    "/sign-out",
    signedIn(async (request, reply, { session }) => {
      visits.sessionForm(request);
      await store.change(async (tx) => {
        await tx.sessions.end(session.id);
        await auditSession(tx, makingOf(parts), session, fromOf(parts, request), "SignOut");
      });
      visits.giveSession(reply, null);
      // What was typed into a form before cannot be sent again.
      visits.setCookie(reply, "visitor", null);
      return sendTo(reply, visits.href("/sign-in"));
    }),
  );
}
