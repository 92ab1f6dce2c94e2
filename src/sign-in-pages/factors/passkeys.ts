import type { FastifyInstance } from "fastify";
import { addPasskey } from "../../core/sign-in/factors.ts";
import { words } from "../html.ts";
import type { ConsoleParts } from "../parts.ts";
import { refusedPasskey } from "../words.ts";
import { keepChallenge, spendChallenge, takeChallenge } from "./challenges.ts";
import type { SecurityPages } from "./security-pages.ts";
import { creationOptions, type RelyingParty, verifyCreation } from "./webauthn.ts";

const path = "/account/security/passkey";
const nameMax = 60;

/** What a name must be. */
export const nameRule = words("A name has 1 to 60 characters.", "Ein Name hat 1 bis 60 Zeichen.");

/** A passkey's name; null unless it has 1 to 60 characters without control characters. */
export function readPasskeyName(text: string): string | null {
  const name = text.trim();
  return [...name].length <= nameMax && /^[^\p{Cc}]+$/u.test(name) ? name : null;
}

/** Adds passkeys: first a challenge for the browser, then its answer. */
export function passkeyRoutes(
  app: FastifyInstance,
  parts: ConsoleParts,
  party: RelyingParty,
  pages: SecurityPages,
): void {
  const { visits, store } = parts;
  const purposeOf = (sessionId: string) => ({ of: "add", sessionId }) as const;

  app.post(
    `${path}/options`,
    pages.proven(async (request, reply, { session, email }) => {
      visits.sessionForm(request);
      const known = await store.factors.passkeys(session.accountId);
      const userHandle = known[0]?.userHandle ?? Buffer.from(parts.random(32)).toString("base64url");
      const options = await creationOptions(party, { email, userHandle, known });
      keepChallenge(parts, reply, purposeOf(session.id), { text: options.challenge, userHandle });
      return reply.header("Cache-Control", "no-store").send(options);
    }),
  );

  app.post(
    path,
    pages.proven(async (request, reply, who) => {
      const form = visits.sessionForm(request);
      const challenge = takeChallenge(parts, request, reply, purposeOf(who.session.id));
      const name = readPasskeyName(form.text("name"));
      if (name === null) return pages.refuse(request, reply, who, nameRule);
      const made = challenge && (await verifyCreation(party, challenge.text, form.text("credential")));
      if (!challenge || !made) return pages.refuse(request, reply, who, refusedPasskey);
      const wrong = await pages.change(request, who, async (change) => {
        if (!(await spendChallenge(change.tx, challenge))) return "known";
        return addPasskey(change, { ...made, userHandle: challenge.userHandle, name });
      });
      if (wrong === "too many")
        return pages.refuse(
          request,
          reply,
          who,
          words(
            "You have 20 passkeys. Remove one first.",
            "Sie haben 20 Passkeys. Entfernen Sie zuerst einen.",
          ),
        );
      return wrong === null
        ? pages.done(reply)
        : pages.refuse(
            request,
            reply,
            who,
            words("This passkey was added before.", "Dieser Passkey wurde schon hinzugefügt."),
          );
    }),
  );
}
