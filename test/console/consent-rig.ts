import { expect } from "vitest";
import type { Seen } from "../sign-in/browser.ts";
import type { TestApp } from "../support/oauth.ts";
import { challenge, issuer } from "../support/oauth.ts";
import type { Person } from "../support/service.ts";

/** Fields as a form sends them: a name may stand more than once. */
export type Chosen = readonly (readonly [name: string, value: string])[];

/** A browser that is signed in, or is not. */
export interface Visitor {
  get(path: string): Promise<Seen>;
  /** Sends the form that leads there, with its hidden fields, what is ticked in it unless told otherwise, and these. */
  send(page: Seen, action: string, chosen?: Chosen, headers?: Readonly<Record<string, string>>): Promise<Seen>;
  /** The same browser at another node. */
  at(url: string): Visitor;
}

export const visitor = (url: string, cookie: string): Visitor => ({
  get: (path) => seen(url + path, { headers: { cookie } }),
  send(page, action, chosen = [], headers = {}) {
    const form = formIn(page.text, action);
    const body = new URLSearchParams([...form.fields, ...chosen].map(([name, value]): [string, string] => [name, value]));
    return seen(url + form.action, { method: "POST", headers: { cookie, ...headers }, body });
  },
  at: (other) => visitor(other, cookie),
});

/** Somebody's browser, signed in to that person's space. */
export const visitorOf = async (url: string, person: Person): Promise<Visitor> => visitor(url, (await person.session()).headers.cookie);

async function seen(url: string, init: RequestInit): Promise<Seen> {
  const answer = await fetch(url, { ...init, redirect: "manual" });
  return { status: answer.status, text: await answer.text(), headers: answer.headers, location: answer.headers.get("location") ?? "" };
}

const plain = (text: string): string =>
  text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&amp;", "&");

/** The form of a page whose action begins so. */
export function formIn(text: string, action: string): { readonly action: string; readonly fields: Chosen } {
  for (const [, target = "", body = ""] of text.matchAll(/<form[^>]* action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/g)) {
    if (!plain(target).startsWith(action)) continue;
    const inputs = [...body.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)];
    return { action: plain(target), fields: inputs.map(([, name = "", value = ""]) => [name, plain(value)]) };
  }
  throw new Error(`no form leads to ${action}: ${text}`);
}

/** The connectors of a page, and whether they are ticked. */
export const boxesIn = ({ text }: Seen): Record<string, boolean> =>
  Object.fromEntries(
    [...text.matchAll(/<input type="checkbox" name="connector" value="([^"]*)"( checked)?>/g)].map(([, uid = "", on]) => [
      uid,
      Boolean(on),
    ]),
  );

/** Ticks these. */
export const ticks = (...uids: readonly string[]): Chosen => uids.map((uid) => ["connector", uid]);

/** The buttons. */
export const allow: Chosen = [["decision", "approve"]];
export const decline: Chosen = [["decision", "decline"]];

export const authorizePath = "/openapi/oauth";

/** An authorization request of an app, with PKCE and a state; undefined leaves a member out. */
export function requestOf({ app }: Pick<TestApp, "app">, members: Readonly<Record<string, string | undefined>> = {}): string {
  const all = {
    ...{ client_id: app.clientId, redirect_uri: app.redirectUris[0], state: "s t+a/te", response_type: "code" },
    ...{ code_challenge: challenge, code_challenge_method: "S256", ...members },
  };
  const present = Object.entries(all).flatMap(([name, value]): [string, string][] => (value === undefined ? [] : [[name, value]]));
  return `${authorizePath}?${new URLSearchParams(present)}`;
}

/** What an answer to the app says; fails when it goes anywhere else. */
export function answerIn({ status, location }: Seen, redirectUri = "https://app.example/cb"): Record<string, string> {
  expect({ status, location: location.slice(0, redirectUri.length) }).toEqual({ status: 303, location: redirectUri });
  const answer = Object.fromEntries(new URL(location).searchParams);
  expect(answer["iss"]).toBe(issuer);
  return answer;
}

/** Allows what a page asks, with all that is ticked in it. */
export async function allowed(browser: Visitor, request: string): Promise<Seen> {
  const page = await browser.get(request);
  const ticked = Object.entries(boxesIn(page)).flatMap(([uid, on]) => (on ? [uid] : []));
  return browser.send(page, authorizePath, [...allow, ...ticks(...ticked)]);
}
