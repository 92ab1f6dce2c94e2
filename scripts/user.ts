// `npm run --silent user -- --email EMAIL`: invites a user and prints one line: the one-time sign-in link.
import type { Config } from "../src/config.ts";
import { type Role, roles } from "../src/core/accounts/account.ts";
import { auditCommand } from "../src/core/audit/audit.ts";
import type { Tx } from "../src/core/store.ts";
import { type Invitation, invitePerson } from "../src/core/use-cases/invite-person.ts";
import { createMailer, invitationMail } from "../src/mail/mail.ts";
import { type OpenedInstallation, type OptionValues, runOnInstallation, textOption } from "./command.ts";

const usage = `usage: npm run --silent user -- --email EMAIL [--team NAME] [--role ROLE]
       npm run --silent user -- --email EMAIL --personal

  --email     the e-mail address; an existing user only gets a new link
  --team      the team's name; default: the first team; with --role owner, an unknown team is created
  --role      ${roles.join(", ")}; default: member
  --personal  invite to a personal space instead of a team
`;

/** A created link and its target. */
interface CreatedLink {
  readonly email: string;
  readonly team: string | null;
  readonly url: string;
}

const options = { email: textOption, team: textOption, role: textOption, personal: { type: "boolean" } } as const;

function read({ email, team, role, personal = false }: OptionValues<typeof options>): Invitation | null {
  if (email === undefined || (role !== undefined && !isRole(role))) return null;
  return personal && (team !== undefined || role !== undefined) ? null : { email, team, role, personal };
}

const isRole = (name: string): name is Role => roles.some((role) => role === name);

/** @throws Failure as `invite`. */
async function createLink(invitation: Invitation, { config, store, creationContext: making }: OpenedInstallation): Promise<CreatedLink> {
  const address = await pagesUrl(config, store);
  return await store.change(async (tx) => {
    const { link, ...whom } = await invitePerson(tx, making(), invitation);
    await auditCommand(tx, making(), whom, "console/Invite");
    return { email: whom.email, team: whom.team, url: `${address}/link/${link}` };
  });
}

/** The URL of the pages: as configured, as the last started server announced, or guessed. */
async function pagesUrl({ consentUrl, isAddressGuessed }: Config, { nodes }: Pick<Tx, "nodes">): Promise<string> {
  if (!isAddressGuessed) return consentUrl;
  const served = (await nodes.list()).findLast(({ address }) => address !== null);
  if (served?.address) return served.address;
  process.stderr.write(`No server has announced its address: the link is guessed from HOST and PORT (${consentUrl}); set CONSENT_URL.\n`);
  return consentUrl;
}

/** Mails the link. Returns false if it was not mailed: then the link is printed and not lost. */
async function sendLink(config: Config, link: CreatedLink): Promise<boolean> {
  if (config.mail === null) return false;
  try {
    await createMailer(config.mail)(invitationMail(link));
    return true;
  } catch {
    // The mail server's response is not shown: it can quote the mail.
    process.stderr.write(`The mail server did not accept the mail to ${link.email}; use this link:\n`);
    return false;
  }
}

await runOnInstallation({ usage, options, read }, async (invitation, installation) => {
  const link = await createLink(invitation, installation);
  return (await sendLink(installation.config, link)) ? `The link was mailed to ${link.email}.\n` : `${link.url}\n`;
});
