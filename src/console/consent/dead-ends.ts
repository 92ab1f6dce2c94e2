import type { AuthorizationRequest } from "../../core/oauth/authorization.ts";
import { declined } from "../../core/oauth/consent.ts";
import type { Authorization } from "../../oauth/authorize/request.ts";
import { html } from "../html.ts";
import type { Page } from "../page.ts";

type Reason = Extract<Authorization, { kind: "page" }>["reason"];

const reasons: Readonly<Record<Reason, string>> = {
  client: "The link that brought you here names no app that we know. It may have been deleted.",
  redirect_uri: "The link that brought you here asks for an answer at an address that the app has not registered.",
};

/** Nobody is led anywhere for a link that nobody vouches for (contract/decisions.md 27). */
export const unknownPage = (reason: Reason): Page => ({
  status: 400,
  title: "This link does not work",
  body: html`<p>${reasons[reason]}</p><p>Nothing was allowed. Go back to the app, and tell whoever runs it.</p>`,
});

/** For somebody who is not, or no longer, active in the app's team (contract/oauth.md 4). */
export const outsiderPage = (request: AuthorizationRequest, email: string, switchHref: string): Page => ({
  status: 403,
  title: "You cannot allow this app",
  body: html`<p>${request.app.name} is for members of one team, and ${email} is not an active member of it.</p>
<div class="actions"><a class="button" href="${declined(request)}">Back to the app</a><a class="button secondary" href="${switchHref}">Switch account</a></div>`,
});

/** A code is never shown twice: whoever has not got there begins again. @param href the same request. */
export const usedPage = (request: AuthorizationRequest, href: string): Page => ({
  status: 409,
  title: "You have allowed this already",
  body: html`<p>This page was sent before, and ${request.app.name} was given its answer then. If you did not get there, begin again.</p>
<p><a class="button" href="${href}">Begin again</a></p>`,
});

/** For a request that is too long to be kept during sign-in. @param href the same request. */
export const signInFirstPage = (signInHref: string, href: string): Page => ({
  title: "Please sign in first",
  body: html`<p>Sign in on another page, then come back to this one and go on.</p>
<div class="actions"><a class="button" href="${signInHref}" rel="noopener" target="_blank">Sign in</a><a class="button secondary" href="${href}">Go on</a></div>`,
});
