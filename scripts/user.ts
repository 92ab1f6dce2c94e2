// `npm run --silent user -- --email EMAIL`: invites a user and prints one line: the one-time sign-in link. Also names operators.
import type { Config } from "../src/config.ts";
import { type Role, roles } from "../src/core/accounts/account.ts";
import { setOperator } from "../src/core/accounts/operator.ts";
import { auditCommand } from "../src/core/audit/audit.ts";
import { Failure } from "../src/core/failure.ts";
import type { Tx } from "../src/core/store.ts";
import { createFirstLink } from "../src/core/use-cases/first-sign-in.ts";
import { type Invitation, invitePerson } from "../src/core/use-cases/invite-person.ts";
import { createMailer, invitationMail } from "../src/mail/mail.ts";
import { type OpenedInstallation, type OptionValues, runOnInstallation, textOption } from "./command.ts";

const usage = `usage: npm run --silent user -- --email EMAIL [--team NAME] [--role ROLE]
       npm run --silent user -- --email EMAIL --personal
       npm run --silent user -- first-link
       npm run --silent user -- operator --email EMAIL [--remove]

  first-link  prints the link for the first sign-in, as the first team's owner; valid for 15 minutes, only before the first sign-in
  operator    lets a user see the state of the whole installation
  --email     the e-mail address; an existing user only gets a new link
  --team      the team's name; default: the first team; with --role owner, an unknown team is created
  --role      ${roles.join(", ")}; default: member
  --personal  invite to a personal space instead of a team
  --remove    the user is no longer an operator
`;

/** A created link and its target. */
interface CreatedLink {
  readonly email: string;
  readonly team: string | null;
  readonly url: string;
}

const options = {
  email: textOption,
  team: textOption,
  role: textOption,
  personal: { type: "boolean" },
  remove: { type: "boolean" },
} as const;
type Values = OptionValues<typeof options>;
type Command =
  | { readonly verb: "invite"; readonly invitation: Invitation }
  | { readonly verb: "first-link" }
  | { readonly verb: "operator"; readonly email: string; readonly isOperator: boolean };

function read(values: Values, [verb = "invite", ...words]: readonly string[]): Command | null {
  const { email, remove, ...others } = values;
  const isBare = Object.keys(others).length === 0;
  if (words.length > 0) return null;
  if (verb === "first-link") return isBare && email === undefined && !remove ? { verb } : null;
  if (verb === "operator") return isBare && email !== undefined ? { verb, email, isOperator: !remove } : null;
  const invitation = verb === "invite" && !remove ? readInvitation(values) : null;
  return invitation && { verb: "invite", invitation };
}

function readInvitation({ email, team, role, personal = false }: Values): Invitation | null {
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

/** @throws Failure `failed_precondition` when a user has signed in. */
async function firstLink({ config, store, creationContext }: OpenedInstallation): Promise<string> {
  const secret = await store.change((tx) => createFirstLink(tx, creationContext()));
  if (secret === null)
    throw new Failure("failed_precondition", "a user has signed in to this installation: invite with --email EMAIL instead");
  return `${await pagesUrl(config, store)}/link/${secret}`;
}

/** @throws Failure as `setOperator`. */
async function changeOperator(email: string, isOperator: boolean, { store, creationContext }: OpenedInstallation): Promise<void> {
  await store.change(async (tx) => {
    const whom = await setOperator(tx, email, isOperator);
    await auditCommand(tx, creationContext(), whom, isOperator ? "command/GrantOperator" : "command/RevokeOperator");
  });
}

async function run(command: Command, installation: OpenedInstallation): Promise<string> {
  if (command.verb === "first-link") return `${await firstLink(installation)}\n`;
  if (command.verb === "operator") {
    await changeOperator(command.email, command.isOperator, installation);
    return "";
  }
  const link = await createLink(command.invitation, installation);
  return (await sendLink(installation.config, link)) ? `The link was mailed to ${link.email}.\n` : `${link.url}\n`;
}

await runOnInstallation({ usage, options, acceptsPositionals: true, read }, run);
