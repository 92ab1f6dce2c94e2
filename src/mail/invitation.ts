import type { Mail } from "./mailer.ts";

/** What an invited person is told; `team` is null for a space of their own. */
export function invitationMail({ email, team, url }: { readonly email: string; readonly team: string | null; readonly url: string }): Mail {
  const where = team === null ? "the Agent Task Platform" : `the team ${team} on the Agent Task Platform`;
  return {
    to: email,
    subject: team === null ? "Your sign-in link" : `You are invited to ${team}`,
    text: `Hello,

with this link you sign in to ${where}:

${url}

It works once, within 24 hours. If you did not expect it, do nothing: it opens nothing by itself.
`,
  };
}
