import type { FastifyReply, FastifyRequest } from "fastify";
import { openExpiring, sealExpiring } from "../core/cipher.ts";
import type { SessionHolder, SignInSpace } from "../core/sign-in/sign-in.ts";
import { type IdentityProof, startSession } from "../core/sign-in/start-session.ts";
import { hiddenField, postForm } from "./form.ts";
import { type Html, html, words } from "./html.ts";
import { rememberAccount } from "./known-browser.ts";
import { sendPage, sendRedirect } from "./page.ts";
import { type ConsoleParts, creationContext, requestOrigin } from "./parts.ts";
import { continueWord } from "./words.ts";

const lengthMax = 2048;
/** A placeholder to resolve paths against. */
const origin = "http://own.invalid";

/**
 * The target after sign-in: a path of this site with its query, or null.
 * The path is normalized as browsers do it, so that a text that browsers
 * repair cannot lead to another site.
 *
 * @param base the parent path of all pages; empty for the root.
 */
export function nextPath(base: string, text: string): string | null {
  if (text.length > lengthMax || !/^\/[\x21-\x5b\x5d-\x7e]*$/.test(text)) return null;
  if (!URL.canParse(text, origin)) return null;
  const url = new URL(text, origin);
  if (url.origin !== origin || url.pathname.startsWith("//") || !url.pathname.startsWith(`${base}/`))
    return null;
  return url.pathname + url.search;
}

/** The time to choose a space after authentication. */
const choosingMs = 5 * 60_000;
const context = "space choice";

/** The target after sign-in: `next`, or the home page. */
export const signInTarget = ({ visits }: ConsoleParts, next: string): string =>
  nextPath(visits.base, next) ?? visits.home;

const personalSpace = words("Personal space", "Persönlicher Bereich");

const spaceName = ({ team }: SignInSpace): Html | string => team?.name ?? personalSpace;

/** Signs the user in to their only space, or shows a choice of several. */
export async function enterOrChooseSpace(
  parts: ConsoleParts,
  request: FastifyRequest,
  reply: FastifyReply,
  proven: IdentityProof,
  next: string,
): Promise<FastifyReply> {
  const places = await parts.store.signIns.listSpaces(proven.accountId);
  const [only, second] = places;
  if (only && !second) return enterSpace(parts, request, reply, proven, only.spaceId, next);
  const proof = sealExpiring(parts.cipher, parts.clock, context, proven, choosingMs);
  const form = html`<p>${words("You belong to several spaces. Choose the one to work in.", "Sie gehören zu mehreren Bereichen. Wählen Sie einen.")}</p>
${postForm(parts.visits.href("/sign-in/space"), [parts.visits.visitorToken(request, reply), hiddenField("proof", proof), hiddenField("next", next), spaceChoice(places, words("Spaces", "Bereiche"))], continueWord)}`;
  return sendPage(reply, parts.visits, { title: words("Choose a space", "Bereich wählen"), body: form });
}

/**
 * Spaces as radio buttons, which send the chosen one as `space`. @param selectedId the one that is selected
 * at first; otherwise the first
 */
export function spaceChoice(places: readonly SignInSpace[], legend: Html, selectedId?: string): Html {
  const selected = places.find(({ spaceId }) => spaceId === selectedId) ?? places[0];
  const choices = places.map(
    (place) =>
      html`<label class="choice"><input type="radio" name="space" value="${place.spaceId}" required${place === selected && html` checked`}><span>${spaceName(place)}</span></label>`,
  );
  return html`<fieldset><legend>${legend}</legend>${choices}</fieldset>`;
}

/** Signs in to the chosen space; requires a recent authentication in the same browser. */
export async function chooseSpace(
  parts: ConsoleParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const form = parts.visits.visitorForm(request);
  const proven = openExpiring<IdentityProof>(parts.cipher, parts.clock, context, form.text("proof"));
  if (proven === null)
    return sendRedirect(reply, parts.visits.signInHref(signInTarget(parts, form.text("next"))));
  return enterSpace(parts, request, reply, proven, form.text("space"), form.text("next"));
}

export async function enterSpace(
  parts: ConsoleParts,
  request: FastifyRequest,
  reply: FastifyReply,
  proven: IdentityProof,
  spaceId: string,
  next: string,
): Promise<FastifyReply> {
  const from = requestOrigin(parts, request);
  const replaced = await findCurrentSession(parts, request, reply);
  const text = await parts.store.change((tx) =>
    startSession(tx, creationContext(parts), proven, spaceId, { from, replaced }),
  );
  if (text === null) return sendRedirect(reply, parts.visits.signInHref(signInTarget(parts, next)));
  parts.visits.setSession(reply, text);
  rememberAccount(parts, request, reply, proven.accountId);
  return sendRedirect(reply, signInTarget(parts, next));
}

export async function findCurrentSession(
  parts: ConsoleParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<SessionHolder["session"] | null> {
  return (await parts.visits.currentSession(request, reply))?.session ?? null;
}
