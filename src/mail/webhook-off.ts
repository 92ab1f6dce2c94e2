import type { Mail } from "./mailer.ts";

/** What the owner of a webhook is told when it was switched off. Of the address only the host: the rest may be a secret. */
export function webhookOffMail({ email, url, reason }: { readonly email: string; readonly url: string; readonly reason: string }): Mail {
  const { host } = new URL(url);
  return {
    to: email,
    subject: `Your webhook at ${host} was switched off`,
    text: `Hello,

the Agent Task Platform tells the webhook at ${host} of nothing more: ${reason}.

What it was still to be told is kept. Once the receiver answers again, webhook.update with the status active
resumes it, after a test request, and webhook.recover delivers once more what failed.
`,
  };
}
