import {
  accessRequestMail,
  createMailer,
  invitationMail,
  type Mail,
  recoveryMail,
  signInAtProviderMail,
  signInLinkMail,
} from "../adapters/mail/mail.ts";
import { limitConcurrency } from "../async/limit.ts";
import { createMailedLink, type LinkRequest } from "../core/sign-in/link-request.ts";
import type { Groups } from "../core/teams/group.ts";
import type { TeamUsers } from "../core/teams/team-user.ts";
import type { Newcomer } from "../core/use-cases/join-team.ts";
import { groups } from "../core/use-cases/manage-groups.ts";
import { teamUsers } from "../core/use-cases/manage-team.ts";
import type { AccessRequest, RecoveryUse } from "../sign-in-pages/parts.ts";
import type { ProcessContext } from "./process-context.ts";

/** Team members, for the operations and for SCIM. */
export interface TeamParts {
  readonly teamUsers: TeamUsers;
  readonly groups: Groups;
  /** Mails a request for access to the owner of a team; null without a mail server. */
  readonly askOwner: ((request: AccessRequest) => void) | null;
  /** Mails a person that a recovery code was used; null without a mail server. */
  readonly sendRecoveryMail: ((use: RecoveryUse) => void) | null;
  /** Mails a sign-in link to the person who requested it; null when people cannot ask. */
  readonly mailLink: ((request: LinkRequest) => void) | null;
  /** Resolves when no invitation is being sent. */
  drain(): Promise<void>;
}

export function openTeams(context: ProcessContext): TeamParts {
  const { invite, drain, ...mails } = mailsOf(context);
  const users = teamUsers({ ...context, invite, delegateDomain: context.config.delegateDomain });
  return { ...mails, teamUsers: users, groups: groups(context), drain };
}

/** Mails to people, of which no caller waits for the mail server. */
interface Mails extends Pick<TeamParts, "askOwner" | "sendRecoveryMail" | "mailLink"> {
  /** Null without a mail server. */
  readonly invite: ((newcomer: Newcomer) => void) | null;
  /** Resolves when no mail is being sent. */
  drain(): Promise<void>;
}

const noMails: Mails = {
  invite: null,
  askOwner: null,
  sendRecoveryMail: null,
  mailLink: null,
  drain: async () => undefined,
};

const mailsAtOnce = 4;
/** Links that wait for the mail server; more are not sent. */
const linksMax = 1000;

function mailsOf(context: ProcessContext): Mails {
  const { config, log } = context;
  const { mail, consentUrl, signInLinks } = config;
  if (mail === null) return noMails;
  const send = createMailer(mail);
  const limited = limitConcurrency(mailsAtOnce);
  const pending = new Set<Promise<void>>();
  /** A refused mail is logged without address, link and server response, which may contain them. */
  function post(write: Mail | (() => Promise<Mail | null>), failure: string): void {
    const sending = limited(async () => {
      const written = write instanceof Function ? await write() : write;
      if (written !== null) await send(written);
    })
      .catch(() => log("warn", failure))
      .finally(() => pending.delete(sending));
    pending.add(sending);
  }
  const lost = "a sign-in link was not mailed";
  return {
    invite: ({ email, team, link }) =>
      post(
        invitationMail({ email, team, url: `${consentUrl}/link/${link}` }),
        "an invitation was not mailed: atp user prints a fresh link",
      ),
    askOwner: (request) =>
      post(
        accessRequestMail({ ...request, url: `${consentUrl}/settings/members` }),
        "a request for access was not mailed to the owner",
      ),
    sendRecoveryMail: (use) =>
      post(
        recoveryMail({ ...use, url: `${consentUrl}/account/security` }),
        "a notice of a used recovery code was not mailed",
      ),
    mailLink: signInLinks
      ? (request) =>
          pending.size < linksMax
            ? post(() => answerOf(context, request), lost)
            : log("warn", `${lost}: too many mails wait`)
      : null,
    async drain() {
      await Promise.all(pending);
    },
  };
}

/**
 * The mail that answers a request for a link. It is made after the answer to the visitor, whose time would
 * show whether the address has an account.
 */
async function answerOf(
  { config, store, clock, random }: ProcessContext,
  request: LinkRequest,
): Promise<Mail | null> {
  const { consentUrl, singleSignOn } = config;
  const answer = await store.change((tx) =>
    createMailedLink(tx, { now: clock.now(), random }, request, singleSignOn !== null),
  );
  if (answer === null) return null;
  const { email, text } = answer;
  return text === null
    ? signInAtProviderMail({ email, label: singleSignOn?.label ?? "", url: `${consentUrl}/sign-in` })
    : signInLinkMail({ email, url: `${consentUrl}/sign-in/mail/${text}` });
}
