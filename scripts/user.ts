// `npm run --silent user -- --email EMAIL`: invites a person, and prints one line: the one-time sign-in link.
import { parseArgs } from "node:util";
import { type Config, loadConfig } from "../src/config.ts";
import { type Role, roles } from "../src/core/accounts/account.ts";
import { type Invitation, invite } from "../src/core/accounts/invite.ts";
import { auditCommand } from "../src/core/audit/command-audit.ts";
import type { Tx } from "../src/core/store.ts";
import { invitationMail } from "../src/mail/invitation.ts";
import { mailer } from "../src/mail/mailer.ts";
import { runCommand, useInstallation } from "./command.ts";

const usage = `usage: npm run --silent user -- --email EMAIL [--team NAME] [--role ROLE]
       npm run --silent user -- --email EMAIL --personal

  --email     whom to invite; somebody who is there already gets a fresh link, and nothing else changes
  --team      to which team; without it, the first; an unknown one is made, with --role owner
  --role      ${roles.join(", ")}; member unless told otherwise
  --personal  to a space of the person's own instead
`;

/** A link that was made, and where it leads. */
interface Made {
  readonly email: string;
  readonly team: string | null;
  readonly url: string;
}

/** What is asked for; null when the words make no sense. */
function parse(words: readonly string[]): Invitation | null {
  const text = { type: "string" } as const;
  const options = { email: text, team: text, role: text, personal: { type: "boolean" } } as const;
  const { email, team, role, personal = false } = parseArgs({ args: [...words], options, strict: true }).values;
  if (email === undefined || (role !== undefined && !isRole(role))) return null;
  return personal && (team !== undefined || role !== undefined) ? null : { email, team, role, personal };
}

const isRole = (text: string): text is Role => roles.some((role) => role === text);

/** @throws Failure as `invite`. */
async function invited(config: Config, invitation: Invitation): Promise<Made> {
  await using installation = await useInstallation(config);
  const { store, making } = installation;
  const address = await pagesOf(config, store);
  return await store.change(async (tx) => {
    const { link, ...whom } = await invite(tx, making(), invitation);
    await auditCommand(tx, making(), whom, "console/Invite");
    return { email: whom.email, team: whom.team, url: `${address}/link/${link}` };
  });
}

/** Where people reach the pages: as it is set, as the server that was started last says, or as it can be guessed. */
async function pagesOf({ consentUrl, isAddressGuessed }: Config, { nodes }: Pick<Tx, "nodes">): Promise<string> {
  if (!isAddressGuessed) return consentUrl;
  const served = (await nodes.list()).findLast(({ address }) => address !== null);
  if (served?.address) return served.address;
  process.stderr.write(`No server has said where it runs: the link is guessed from HOST and PORT (${consentUrl}); set CONSENT_URL.\n`);
  return consentUrl;
}

/** True when the link is on its way. A mail server that fails never loses it: then it is printed. */
async function mailed(config: Config, made: Made): Promise<boolean> {
  if (config.mail === null) return false;
  try {
    await mailer(config.mail)(invitationMail(made));
    return true;
  } catch {
    // What a mail server says may quote the mail.
    process.stderr.write(`The mail server did not take the mail to ${made.email}: here is the link.\n`);
    return false;
  }
}

await runCommand({ usage, parse }, async (wanted) => {
  const config = loadConfig();
  const made = await invited(config, wanted);
  return (await mailed(config, made)) ? `The link was mailed to ${made.email}.\n` : `${made.url}\n`;
});
