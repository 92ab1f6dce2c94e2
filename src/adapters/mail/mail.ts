import type { Transporter } from "nodemailer";

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Sends a mail. It rejects when the mail server did not accept it; the error text may quote the server. */
export type SendMail = (mail: Mail) => Promise<void>;

export interface MailSettings {
  readonly url: string;
  readonly from: string;
  /** Requires TLS from the start or by STARTTLS; otherwise no mail is sent. */
  readonly demandTls: boolean;
}

const connectMs = 10_000;
const silenceMs = 20_000;

/** Sends mail through an SMTP server, with a new connection for each mail. */
export function createMailer(settings: MailSettings): SendMail {
  const { from } = settings;
  return async ({ to, subject, text }) => {
    const transport = await transportOf(settings);
    try {
      // The address is passed as an object, so that its text cannot name a second recipient.
      await transport.sendMail({
        from,
        to: { name: "", address: to },
        subject,
        text,
        disableFileAccess: true,
        disableUrlAccess: true,
      });
    } finally {
      transport.close();
    }
  };
}

/**
 * Connects to the mail server, greets it and gives it the credentials; sends nothing. @throws when it does
 * not accept them
 */
export async function checkMailServer(settings: MailSettings, signal: AbortSignal): Promise<void> {
  const transport = await transportOf(settings);
  signal.addEventListener("abort", () => transport.close(), { once: true });
  try {
    await transport.verify();
  } finally {
    transport.close();
  }
}

/** The library is loaded with the first mail: a process that sends none saves its memory. */
async function transportOf({ url, demandTls }: MailSettings): Promise<Transporter> {
  const { createTransport } = await import("nodemailer");
  return createTransport({
    url,
    requireTLS: demandTls,
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: silenceMs,
  });
}

/**
 * The mail to the owner of a webhook that was switched off. It shows only the host of the address, because
 * the rest may be secret.
 */
export function webhookOffMail({ email, url, reason }: { email: string; url: string; reason: string }): Mail {
  const { host } = new URL(url);
  return {
    to: email,
    subject: `Your webhook at ${host} was switched off`,
    text: `Hello,

the Agent Task Platform no longer sends events to the webhook at ${host}: ${reason}.

Its pending events are kept. Once the receiver answers again, call webhook.update with the status active:
this resumes the webhook after a test request. Then webhook.recover sends the failed events again.
`,
  };
}

/** The mail to the creator of a schedule that its failures have paused. */
export function schedulePausedMail({
  email,
  name,
  error,
}: {
  readonly email: string;
  readonly name: string;
  readonly error: string;
}): Mail {
  return {
    to: email,
    subject: `Your schedule ${name} is paused`,
    text: `Hello,

the Agent Task Platform creates no more tasks of the schedule ${name}: it failed five times in a row.

The last failure: ${error}.

Once the cause is removed, call schedule.resume.
`,
  };
}

/** The mail to an invited person; `team` is null for a personal space. */
export function invitationMail({
  email,
  team,
  url,
}: {
  email: string;
  team: string | null;
  url: string;
}): Mail {
  const where = team === null ? "the Agent Task Platform" : `the team ${team} on the Agent Task Platform`;
  return {
    to: email,
    subject: team === null ? "Your sign-in link" : `You are invited to ${team}`,
    text: `Hello,

use this link to sign in to ${where}:

${url}

The link works once, within 24 hours. If you did not expect this mail, ignore it: the link grants no access until it is used.
`,
  };
}

/** The mail to a person who requested a sign-in link. */
export function signInLinkMail({ email, url }: { email: string; url: string }): Mail {
  return {
    to: email,
    subject: "Your sign-in link",
    text: `Hello,

open this link in the browser in which you requested it, to sign in to the Agent Task Platform:

${url}

The link works once, within 15 minutes. If you did not request it, ignore this mail: in another browser the link does not sign in.
`,
  };
}

/** The mail to a person who requested a sign-in link, and signs in at the provider only. */
export function signInAtProviderMail({
  email,
  label,
  url,
}: {
  readonly email: string;
  readonly label: string;
  readonly url: string;
}): Mail {
  return {
    to: email,
    subject: "How you sign in",
    text: `Hello,

you requested a link to sign in to the Agent Task Platform. Your account signs in with ${label}, not with links:

${url}

If you did not request a link, ignore this mail.
`,
  };
}

/** The mail to the owner of a team in which a person without an account wants to use an app. */
export function accessRequestMail({
  owner,
  email,
  app,
  team,
  url,
}: {
  readonly owner: string;
  readonly email: string;
  readonly app: string;
  readonly team: string;
  readonly url: string;
}): Mail {
  return {
    to: owner,
    subject: `Access to ${team} was requested`,
    text: `Hello,

a person with the address ${email} wants to use the app ${app} and asks for access to the team ${team}.
The platform has not checked that the address is theirs.

If you know the person, invite the address: ${url}

Otherwise ignore this mail.
`,
  };
}

export function recoveryMail({ email, left, url }: { email: string; left: number; url: string }): Mail {
  return {
    to: email,
    subject: "A recovery code was used to sign in",
    text: `Hello,

your account was signed in to with your password or a link and one of your recovery codes. You have ${left} left.

If it was not you, change your password and make new recovery codes: ${url}
`,
  };
}
