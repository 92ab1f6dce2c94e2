import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { IdentityProof } from "../../core/sign-in/start-session.ts";
import { enterOrChooseSpace, signInTarget } from "../entrance.ts";
import { hiddenField } from "../form.ts";
import { type Html, html, words } from "../html.ts";
import type { ConsoleParts } from "../parts.ts";
import { orWord } from "../words.ts";
import { keepChallenge, provePasskey } from "./challenges.ts";
import { passkeyForm, whereSupported } from "./passkey-form.ts";
import { type RelyingParty, requestOptions } from "./webauthn.ts";

const path = "/sign-in/passkey";
const unusablePasskey = words(
  "This passkey cannot be used here. Sign in another way.",
  "Dieser Passkey kann hier nicht benutzt werden. Melden Sie sich anders an.",
);
const purpose = { of: "sign in", sessionId: null } as const;

/** The button below the form of the sign-in page, for browsers that have passkeys. */
export const passkeyButton = (
  { visits, relyingParty }: Pick<ConsoleParts, "visits" | "relyingParty">,
  token: Html,
  next: string,
): Html | null =>
  relyingParty &&
  whereSupported(
    html`<p class="or">${orWord}</p>${passkeyForm({
      asks: "get",
      action: visits.href(path),
      fields: html`${token}${hiddenField("next", next)}`,
      button: html`<button class="secondary" type="submit">${words("Sign in with a passkey", "Mit einem Passkey anmelden")}</button>`,
    })}`,
  );

/** Shows the sign-in page again, with what was wrong. */
type Refuse = (
  request: FastifyRequest,
  reply: FastifyReply,
  next: string,
  wrong: Html,
) => Promise<FastifyReply>;

/**
 * `/sign-in/passkey`: signs in with a passkey alone. The page asks for no address: the passkey knows its
 * account.
 */
export function passkeySignInRoutes(
  app: FastifyInstance,
  parts: ConsoleParts,
  party: RelyingParty,
  refuse: Refuse,
): void {
  const { visits, store } = parts;

  app.post(`${path}/options`, async (request, reply) => {
    visits.visitorForm(request);
    const options = await requestOptions(party, []);
    keepChallenge(parts, reply, purpose, { text: options.challenge });
    return reply.header("Cache-Control", "no-store").send(options);
  });

  app.post(path, async (request, reply) => {
    const sent = visits.visitorForm(request);
    const next = signInTarget(parts, sent.text("next"));
    const proof = await provePasskey(parts, party, { request, reply }, purpose, sent.text("credential"));
    const used = proof && (await store.change((tx) => proof.record(tx)));
    if (!proof || !used) return refuse(request, reply, next, unusablePasskey);
    const { accountId, id: passkeyId } = proof.passkey;
    const proven: IdentityProof = {
      accountId,
      provedAt: parts.clock.now(),
      by: "passkey",
      password: null,
      passkeyId,
    };
    if ((await store.signIns.listSpaces(accountId)).length === 0)
      return refuse(request, reply, next, unusablePasskey);
    return enterOrChooseSpace(parts, request, reply, proven, next);
  });
}
