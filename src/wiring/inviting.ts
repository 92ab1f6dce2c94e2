import { fewAtOnce } from "../core/few-at-once.ts";
import type { Newcomer } from "../core/teams/join.ts";
import { invitationMail } from "../mail/invitation.ts";
import { mailer } from "../mail/mailer.ts";
import type { Ground } from "./ground.ts";

/** Invitations of new members, by mail. */
export interface Inviting {
  /** Does not wait for the mail server; null where there is none. */
  readonly invite: ((newcomer: Newcomer) => void) | null;
  /** Resolves when no mail is on its way any more. */
  drain(): Promise<void>;
}

const mailsAtOnce = 4;

/** A mail that the server does not take is logged, without the address, the link, or what the server said of them. */
export function invitingOf({ config: { mail, consentUrl }, log }: Ground): Inviting {
  if (mail === null) return { invite: null, drain: async () => undefined };
  const send = mailer(mail);
  const turns = fewAtOnce(mailsAtOnce);
  const underWay = new Set<Promise<void>>();
  return {
    invite({ email, team, link }) {
      const sending = turns(() => send(invitationMail({ email, team, url: `${consentUrl}/link/${link}` })))
        .catch(() => log("warn", "an invitation was not mailed: npm run user prints a fresh link"))
        .finally(() => underWay.delete(sending));
      underWay.add(sending);
    },
    async drain() {
      await Promise.all(underWay);
    },
  };
}
