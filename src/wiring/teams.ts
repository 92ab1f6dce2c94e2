import { limitConcurrency } from "../async/limit.ts";
import type { AccessRequest, RecoveryUse } from "../console/parts.ts";
import type { Groups } from "../core/teams/group.ts";
import type { TeamUsers } from "../core/teams/team-user.ts";
import type { Newcomer } from "../core/use-cases/join-team.ts";
import { groups } from "../core/use-cases/manage-groups.ts";
import { teamUsers } from "../core/use-cases/manage-team.ts";
import { accessRequestMail, createMailer, invitationMail, type Mail, recoveryMail } from "../mail/mail.ts";
import type { ProcessContext } from "./process-context.ts";

/** Team members, for the operations and for SCIM. */
export interface TeamParts {
  readonly teamUsers: TeamUsers;
  readonly groups: Groups;
  /** Mails a request for access to the owner of a team; null without a mail server. */
  readonly askOwner: ((request: AccessRequest) => void) | null;
  /** Mails a person that a recovery code was used; null without a mail server. */
  readonly tellOfRecovery: ((use: RecoveryUse) => void) | null;
  /** Resolves when no invitation is being sent. */
  drain(): Promise<void>;
}

export function createTeams(context: ProcessContext): TeamParts {
  const { config, clock, ids, random } = context;
  const { invite, askOwner, tellOfRecovery, drain } = invitationsOf(context);
  const users = teamUsers({ clock, ids, random, invite, delegateDomain: config.delegateDomain });
  return { teamUsers: users, groups: groups({ clock, ids }), askOwner, tellOfRecovery, drain };
}

/** Invitations of new members by mail, and requests for them. */
interface Invitations extends Pick<TeamParts, "askOwner" | "tellOfRecovery"> {
  /** Does not wait for the mail server; null without a mail server. */
  readonly invite: ((newcomer: Newcomer) => void) | null;
  /** Resolves when no mail is being sent. */
  drain(): Promise<void>;
}

const mailsAtOnce = 4;

/** A refused mail is logged without address, link and server response, which may contain them. */
function invitationsOf({ config: { mail, consentUrl }, log }: ProcessContext): Invitations {
  if (mail === null) return { invite: null, askOwner: null, tellOfRecovery: null, drain: async () => undefined };
  const send = createMailer(mail);
  const limited = limitConcurrency(mailsAtOnce);
  const pending = new Set<Promise<void>>();
  function post(mail: Mail, failure: string): void {
    const sending = limited(() => send(mail))
      .catch(() => log("warn", failure))
      .finally(() => pending.delete(sending));
    pending.add(sending);
  }
  return {
    invite: ({ email, team, link }) =>
      post(
        invitationMail({ email, team, url: `${consentUrl}/link/${link}` }),
        "an invitation was not mailed: atp user prints a fresh link",
      ),
    askOwner: (request) =>
      post(accessRequestMail({ ...request, url: `${consentUrl}/settings/members` }), "a request for access was not mailed to the owner"),
    tellOfRecovery: (use) =>
      post(recoveryMail({ ...use, url: `${consentUrl}/account/security` }), "a notice of a used recovery code was not mailed"),
    async drain() {
      await Promise.all(pending);
    },
  };
}
