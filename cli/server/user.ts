import { buildRouteMap } from "@stricli/core";
import { createMailer, invitationMail } from "../../src/adapters/mail/mail.ts";
import type { Config } from "../../src/config/config.ts";
import { type Role, roles } from "../../src/core/accounts/account.ts";
import { setOperator } from "../../src/core/accounts/operator.ts";
import { auditCommand } from "../../src/core/audit/audit.ts";
import { Failure } from "../../src/core/failure.ts";
import { resetFactors } from "../../src/core/sign-in/factors.ts";
import type { Tx } from "../../src/core/store.ts";
import { createFirstLink } from "../../src/core/use-cases/first-sign-in.ts";
import { type Invitation, invitePerson } from "../../src/core/use-cases/invite-person.ts";
import type { CliContext } from "../frame/context.ts";
import { UsageError } from "../frame/failures.ts";
import { choiceFlag, switchFlag, textFlag } from "../frame/parameters.ts";
import {
  type InstallationFlags,
  installationCommand,
  installationFlags,
  type OnInstallation,
} from "./frame/command.ts";
import { neededText } from "./frame/parameters.ts";

/** A created link and its target. */
interface CreatedLink {
  readonly email: string;
  readonly team: string | null;
  readonly url: string;
}

/** @throws Failure as `invite`. */
async function createLink(invitation: Invitation, server: OnInstallation): Promise<CreatedLink> {
  const { store, creationContext } = server;
  const address = await pagesUrl(server);
  return await store.change(async (tx) => {
    const { link, ...whom } = await invitePerson(tx, creationContext(), invitation);
    await auditCommand(tx, creationContext(), whom, "console/Invite");
    return { email: whom.email, team: whom.team, url: `${address}/link/${link}` };
  });
}

/** The URL of the pages: as configured, as the last started server announced, or guessed. */
async function pagesUrl({
  config,
  store,
  context,
}: {
  readonly config: Config;
  readonly store: Pick<Tx, "nodes">;
  readonly context: CliContext;
}) {
  const { consentUrl, isAddressGuessed } = config;
  if (!isAddressGuessed) return consentUrl;
  const served = (await store.nodes.list()).findLast(({ address }) => address !== null);
  if (served?.address) return served.address;
  const text = `No server has announced its address: the link is guessed from HOST and PORT (${consentUrl}); set CONSENT_URL.\n`;
  context.process.stderr.write(text);
  return consentUrl;
}

/** Mails the link. Returns false if it was not mailed: then the link is printed and not lost. */
async function sendLink({ config, context }: OnInstallation, link: CreatedLink): Promise<boolean> {
  if (config.mail === null) return false;
  try {
    await createMailer(config.mail)(invitationMail(link));
    return true;
  } catch {
    // The mail server's response is not shown: it can quote the mail.
    context.process.stderr.write(
      `The mail server did not accept the mail to ${link.email}; use this link:\n`,
    );
    return false;
  }
}

interface InviteFlags extends InstallationFlags {
  readonly email: string;
  readonly team?: string;
  readonly role?: Role;
  readonly personal?: boolean;
}

const invite = installationCommand({
  brief: "Invite a person, and write the one-time link for the first sign-in",
  examples: [
    "atp user --email ann@example.com",
    "atp user --email ann@example.com --team Sales --role owner",
    "atp user --email ann@example.com --personal",
  ],
  about: "A person who has an account only gets a new link. With SMTP_URL the link is mailed instead.",
  parameters: {
    flags: {
      ...installationFlags,
      email: neededText("E-mail address", "EMAIL"),
      team: textFlag(
        "Name of the team, by default the first one; with --role owner, an unknown team is created",
        "NAME",
      ),
      role: choiceFlag("Role in the team, member by default", roles),
      personal: switchFlag("Invite to a personal space instead of a team"),
    },
  },
  check({ team, role, personal = false }: InviteFlags) {
    if (personal && (team !== undefined || role !== undefined))
      throw new UsageError("--personal excludes --team and --role");
  },
  run: async (server: OnInstallation, { email, team, role, personal = false }: InviteFlags) => {
    const link = await createLink({ email, team, role, personal }, server);
    const mailed = await sendLink(server, link);
    const { url, ...rest } = link;
    server.print.result(
      { ...rest, mailed, ...(mailed ? {} : { url }) },
      mailed ? `The link was mailed to ${email}.` : url,
    );
  },
});

const firstLink = installationCommand({
  brief: "Write the link for the first sign-in, as the first team's owner",
  about: "The link is valid for 15 minutes, and only before the first sign-in.",
  examples: ["atp user first-link"],
  parameters: { flags: installationFlags },
  run: async (server: OnInstallation) => {
    const secret = await server.store.change((tx) => createFirstLink(tx, server.creationContext()));
    if (secret === null)
      throw new Failure(
        "failed_precondition",
        "a user has signed in to this installation: invite with --email EMAIL instead",
      );
    const url = `${await pagesUrl(server)}/link/${secret}`;
    server.print.result({ url }, url);
  },
});

interface OperatorFlags extends InstallationFlags {
  readonly email: string;
  readonly remove?: boolean;
}

const operator = installationCommand({
  brief: "Let a person see the state of the whole installation",
  examples: [
    "atp user operator --email ann@example.com",
    "atp user operator --email ann@example.com --remove",
  ],
  parameters: {
    flags: {
      ...installationFlags,
      email: neededText("E-mail address", "EMAIL"),
      remove: switchFlag("The person is no longer an operator"),
    },
  },
  run: async ({ store, creationContext }: OnInstallation, { email, remove = false }: OperatorFlags) => {
    await store.change(async (tx) => {
      const whom = await setOperator(tx, email, !remove);
      await auditCommand(
        tx,
        creationContext(),
        whom,
        remove ? "command/RevokeOperator" : "command/GrantOperator",
      );
    });
  },
});

interface ResetFlags extends InstallationFlags {
  readonly email: string;
}

const resetSecondFactor = installationCommand({
  brief: "Remove the passkeys, the authenticator app and the recovery codes of a person",
  about:
    "It ends all of their sessions and their open links. The password stays; the person signs in with it, or with a new link.",
  examples: ["atp user reset-factors --email ann@example.com"],
  parameters: { flags: { ...installationFlags, email: neededText("E-mail address", "EMAIL") } },
  run: async ({ store, creationContext, print }: OnInstallation, { email: typed }: ResetFlags) => {
    const { hasPassword } = await store.change(async (tx) => {
      const context = creationContext();
      const whom = await resetFactors(tx, typed, context.now);
      await auditCommand(tx, context, whom, "command/ResetFactors");
      return whom;
    });
    const email = typed.trim().toLowerCase();
    print.result(
      { email, has_password: hasPassword },
      hasPassword
        ? `${email} signs in with the password.`
        : `${email} needs a link: atp user --email ${email}`,
    );
  },
});

export const user = buildRouteMap({
  docs: { brief: "Invite people, name operators, and reset second factors" },
  routes: { invite, "first-link": firstLink, operator, "reset-factors": resetSecondFactor },
  defaultCommand: "invite",
});
