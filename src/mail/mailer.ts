import { createTransport } from "nodemailer";

/** A mail to one person. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Sends a mail. It rejects when the mail server did not take it; that text may quote the server. */
export type SendMail = (mail: Mail) => Promise<void>;

/** How mail is sent. */
export interface MailSettings {
  readonly url: string;
  readonly from: string;
  /** TLS from the beginning or by STARTTLS, or nothing is sent. */
  readonly demandTls: boolean;
}

const connectMs = 10_000;
const silenceMs = 20_000;

/** Mail through an SMTP server: a connection for each. */
export function mailer({ url, from, demandTls }: MailSettings): SendMail {
  return async ({ to, subject, text }) => {
    const transport = createTransport({
      url,
      requireTLS: demandTls,
      connectionTimeout: connectMs,
      greetingTimeout: connectMs,
      socketTimeout: silenceMs,
    });
    try {
      // The address as an object: nothing in it can name a second recipient.
      await transport.sendMail({ from, to: { name: "", address: to }, subject, text, disableFileAccess: true, disableUrlAccess: true });
    } finally {
      transport.close();
    }
  };
}
