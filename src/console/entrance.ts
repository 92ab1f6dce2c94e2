import type { FastifyReply, FastifyRequest } from "fastify";
import { enter, type Proven } from "../core/sign-in/enter.ts";
import type { SessionHolder } from "../core/sign-in/session.ts";
import type { Place } from "../core/sign-in/sign-in.ts";
import { hidden } from "./fields.ts";
import { type Html, html } from "./html.ts";
import { nextPath } from "./next-path.ts";
import { sendPage, sendTo } from "./page.ts";
import { type ConsoleParts, fromOf, makingOf } from "./parts.ts";
import { sealFor, unsealed } from "./sealed.ts";

/** Who has proved to be an account has so long to choose a space. */
const choosingMs = 5 * 60_000;
const context = "space choice";

/** Where somebody goes who has signed in. */
export const destination = ({ visits }: ConsoleParts, next: string): string => nextPath(visits.base, next) ?? visits.href("/account");

/** What a space is called on pages. */
export const placeName = ({ team }: Pick<Place, "team">): string => team?.name ?? "Personal space";

/** Signs somebody in to their only space, or lets them choose one of several. */
export async function admit(
  parts: ConsoleParts,
  request: FastifyRequest,
  reply: FastifyReply,
  proven: Proven,
  next: string,
): Promise<FastifyReply> {
  const places = await parts.store.signIns.places(proven.accountId);
  const [only, second] = places;
  if (only && !second) return enterSpace(parts, request, reply, proven, only.spaceId, next);
  const proof = sealFor(parts.cipher, parts.clock, context, proven, choosingMs);
  const form = html`<p>You belong to several spaces. Which one do you want to work in now?</p>
<form method="post" action="${parts.visits.href("/sign-in/space")}">
${parts.visits.visitorToken(request, reply)}${hidden("proof", proof)}${hidden("next", next)}
${spaceChoice(places)}
<button type="submit">Go on</button>
</form>`;
  return sendPage(reply, parts.visits.base, { title: "Choose a space", body: form });
}

function spaceChoice(places: readonly Place[]): Html {
  const choices = places.map(
    (place, at) =>
      html`<label class="choice"><input type="radio" name="space" value="${place.spaceId}" required${at === 0 && html` checked`}><span>${placeName(place)}</span></label>`,
  );
  return html`<fieldset><legend>Spaces</legend>${choices}</fieldset>`;
}

/** The choice that was made, by who proved to be an account a moment ago, in the same browser. */
export async function chooseSpace(parts: ConsoleParts, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const form = parts.visits.visitorForm(request);
  const proven = unsealed<Proven>(parts.cipher, parts.clock, context, form.text("proof"));
  if (proven === null) return sendTo(reply, parts.visits.signInHref(destination(parts, form.text("next"))));
  return enterSpace(parts, request, reply, proven, form.text("space"), form.text("next"));
}

async function enterSpace(
  parts: ConsoleParts,
  request: FastifyRequest,
  reply: FastifyReply,
  proven: Proven,
  spaceId: string,
  next: string,
): Promise<FastifyReply> {
  const from = fromOf(parts, request);
  const replaced = await before(parts, request, reply);
  const text = await parts.store.change((tx) => enter(tx, makingOf(parts), proven, spaceId, { from, replaced }));
  if (text === null) return sendTo(reply, parts.visits.signInHref(destination(parts, next)));
  parts.visits.giveSession(reply, text);
  return sendTo(reply, destination(parts, next));
}

/** The session that this browser has until now. */
export async function before(parts: ConsoleParts, request: FastifyRequest, reply: FastifyReply): Promise<SessionHolder["session"] | null> {
  return (await parts.visits.currentSession(request, reply))?.session ?? null;
}
