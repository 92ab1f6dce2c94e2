import { expect } from "vitest";
import type { PageResponse } from "../sign-in/browser.ts";
import type { TestApp } from "../support/oauth.ts";
import { challenge, issuer } from "../support/oauth.ts";
import type { Person } from "../support/service.ts";

/** Fields as a form sends them: a name may occur more than once. */
export type FormFields = readonly (readonly [name: string, value: string])[];

/** A browser, signed in or not. */
export interface Visitor {
  get(path: string): Promise<PageResponse>;
  /** Sends the form with this action: its hidden fields, and `chosen`. */
  send(
    page: PageResponse,
    action: string,
    chosen?: FormFields,
    headers?: Readonly<Record<string, string>>,
  ): Promise<PageResponse>;
  /** The same browser at another node. */
  atNode(url: string): Visitor;
}

export const createVisitor = (url: string, cookie: string): Visitor => ({
  get: (path) => request(url + path, { headers: { cookie } }),
  send(page, action, chosen = [], headers = {}) {
    const form = formIn(page.text, action);
    const body = new URLSearchParams(
      [...form.fields, ...chosen].map(([name, value]): [string, string] => [name, value]),
    );
    return request(url + form.action, { method: "POST", headers: { cookie, ...headers }, body });
  },
  atNode: (other) => createVisitor(other, cookie),
});

/** A browser that is signed in to the person's space. */
export const createSignedInVisitor = async (url: string, person: Person): Promise<Visitor> =>
  createVisitor(url, (await person.session()).headers.cookie);

async function request(url: string, init: RequestInit): Promise<PageResponse> {
  const answer = await fetch(url, { ...init, redirect: "manual" });
  return {
    status: answer.status,
    text: await answer.text(),
    headers: answer.headers,
    location: answer.headers.get("location") ?? "",
  };
}

const plain = (text: string): string =>
  text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");

/** The form of a page whose action begins with `action`. */
export function formIn(
  text: string,
  action: string,
): { readonly action: string; readonly fields: FormFields } {
  for (const [, target = "", body = ""] of text.matchAll(
    /<form[^>]* action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/g,
  )) {
    if (!plain(target).startsWith(action)) continue;
    const inputs = [...body.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)];
    return { action: plain(target), fields: inputs.map(([, name = "", value = ""]) => [name, plain(value)]) };
  }
  throw new Error(`no form leads to ${action}: ${text}`);
}

/** The connectors of a page, and whether they are ticked. */
export const boxesIn = ({ text }: PageResponse): Record<string, boolean> =>
  Object.fromEntries(
    [...text.matchAll(/<input type="checkbox" name="connector" value="([^"]*)"( checked)?>/g)].map(
      ([, uid = "", on]) => [uid, Boolean(on)],
    ),
  );

/** Ticks these connectors. */
export const ticks = (...uids: readonly string[]): FormFields => uids.map((uid) => ["connector", uid]);

/** The two buttons. */
export const allow: FormFields = [["decision", "approve"]];
export const decline: FormFields = [["decision", "decline"]];

export const authorizePath = "/openapi/oauth";

/** An authorization request of an app, with PKCE and a state; undefined leaves a member out. */
export function requestOf(
  { app }: Pick<TestApp, "app">,
  members: Readonly<Record<string, string | undefined>> = {},
): string {
  const all = {
    ...{
      client_id: app.clientId,
      redirect_uri: app.redirectUris[0],
      state: "s t+a/te",
      response_type: "code",
    },
    ...{ code_challenge: challenge, code_challenge_method: "S256", ...members },
  };
  const present = Object.entries(all).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
  return `${authorizePath}?${new URLSearchParams(present)}`;
}

/** Parameters of the redirect to the app; fails when the redirect leads elsewhere. */
export function answerIn(
  { status, location }: PageResponse,
  redirectUri = "https://app.example/cb",
): Record<string, string> {
  expect({ status, location: location.slice(0, redirectUri.length) }).toEqual({
    status: 303,
    location: redirectUri,
  });
  const answer = Object.fromEntries(new URL(location).searchParams);
  expect(answer["iss"]).toBe(issuer);
  return answer;
}

/** Approves the request with all boxes that are ticked on its page. */
export async function approveRequest(browser: Visitor, request: string): Promise<PageResponse> {
  const page = await browser.get(request);
  const ticked = Object.entries(boxesIn(page)).flatMap(([uid, on]) => (on ? [uid] : []));
  return browser.send(page, authorizePath, [...allow, ...ticks(...ticked)]);
}
