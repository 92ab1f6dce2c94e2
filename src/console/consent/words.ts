import { connectorById } from "../../core/connectors/catalogue.ts";
import type { OAuthApp } from "../../core/oauth/app.ts";
import type { ScopeName } from "../../core/oauth/scope.ts";
import { readUri } from "../../core/oauth/uri.ts";
import { type Html, html } from "../html.ts";

/** What a scope opens, after "it may" (contract/oauth.md 2). */
const scopeWords: Readonly<Record<ScopeName, string>> = {
  create_task: "create tasks for you, and see and manage the tasks that it created",
  manage_all_tasks: "see, change and delete all of your tasks, whoever created them",
  create_project: "see your projects and create new ones",
  use_connectors: "work with other services, through the connectors that you choose",
  use_my_browsers: "work in your own browser, through My Browser",
};

/** Scopes in plain words. */
export const scopeList = (scopes: readonly ScopeName[]): Html => html`<ul>${scopes.map((name) => html`<li>${scopeWords[name]}</li>`)}</ul>`;

/** What a connector is called. */
export const connectorName = (uid: string): string => connectorById(uid)?.name ?? uid;

/** An app's connectors as boxes to tick; the form has each one that is ticked as `connector`. */
export function connectorChoice(app: Pick<OAuthApp, "connectorUids">, ticked: readonly string[]): Html {
  const boxes = app.connectorUids.map(
    (uid) =>
      html`<label class="choice"><input type="checkbox" name="connector" value="${uid}"${ticked.includes(uid) && html` checked`}><span>${connectorName(uid)}</span></label>`,
  );
  return html`<fieldset><legend>Connectors that it may use</legend>${boxes}</fieldset>`;
}

/** An app's name; a link to its page where it has one, which learns neither that we lead there nor anything of our page. */
export const appName = ({ name, homepageUrl }: Pick<OAuthApp, "name" | "homepageUrl">): Html =>
  homepageUrl === ""
    ? html`<strong>${name}</strong>`
    : html`<a href="${homepageUrl}" rel="noopener noreferrer" target="_blank">${name}</a>`;

/** Where an answer goes: by its host, or by its scheme where another program takes it (contract/decisions.md 36). */
export interface Target {
  /** `app.example:8443`, or `com.example.app:`. */
  readonly name: string;
  /** What the page's policy lets a form lead to. */
  readonly formAction: string;
}

/** What is told of a redirect URI that an app has registered. */
export function targetOf(redirectUri: string): Target {
  const uri = readUri(redirectUri);
  // Registered URIs can be read; nothing is sent to one that cannot.
  if (typeof uri === "string") throw new Error("a registered redirect URI cannot be read");
  const scheme = `${uri.scheme}:`;
  if (uri.scheme !== "http" && uri.scheme !== "https") return { name: scheme, formAction: scheme };
  const { host, hostname, origin } = new URL(redirectUri);
  // A policy has no way to write other hosts, for instance an IPv6 address (CSP 3, 2.3.1).
  return { name: host, formAction: /^[a-z0-9.-]+$/.test(hostname) ? origin : scheme };
}
