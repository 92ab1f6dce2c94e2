import { z } from "zod";
import { listOf } from "./list.ts";
import { variable } from "./variable.ts";

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
const address = '[^\\s@,;<>"()\\\\]{1,64}@[^\\s@,;<>"()\\\\]{1,190}';
const domain = z
  .string()
  .regex(/^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$/)
  .transform((text) => text.toLowerCase());

/** True for a host of this machine. */
export const isLoopback = (host: string): boolean => loopback.test(host);

/** An https URL, or http on this machine. */
const issuer = z.string().refine((text) => {
  if (!/^https?:\/\/[^\s\\@?#]+$/.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || isLoopback(hostname);
});

/** Single sign-on through an OpenID Connect provider. */
export const singleSignOn = {
  OIDC_ISSUER: variable({
    type: "URL",
    fallback: null,
    unset: "no single sign-on",
    rule: "an https URL without user, query or fragment (http on this machine); OIDC_CLIENT_ID and OIDC_CLIENT_SECRET go with it",
    example: "https://login.example.com",
    description:
      "The OpenID Connect provider through which people may sign in. Register `CONSENT_URL/sign-in/callback` there as the redirect URI.",
    schema: issuer,
  }),
  OIDC_CLIENT_ID: variable({
    type: "text",
    fallback: null,
    rule: "the client id that the provider gave; it goes with OIDC_ISSUER",
    example: "agent-task-platform",
    description: "Who this installation is to the provider.",
    schema: z.string().regex(/^[\x20-\x7e]{1,256}$/),
  }),
  OIDC_CLIENT_SECRET: variable({
    type: "text",
    fallback: null,
    rule: "the client secret that the provider gave; it goes with OIDC_ISSUER",
    example: "the-secret-of-the-provider",
    description: "Proves it to the provider.",
    secret: true,
    schema: z.string().regex(/^[\x20-\x7e]{1,1024}$/),
  }),
  OIDC_DOMAINS: variable({
    type: "list of domains",
    fallback: null,
    unset: "any domain",
    rule: "domains of e-mail addresses, separated by commas",
    example: "example.com,example.org",
    description: "Only people whose verified e-mail address is in one of these domains sign in through the provider.",
    schema: listOf(domain),
  }),
  OIDC_LABEL: variable({
    type: "text",
    fallback: "single sign-on",
    rule: "1 to 60 characters",
    example: "Example Login",
    description: "What the sign-in page calls the provider: `Continue with …`.",
    schema: z.string().regex(/^[^\p{Cc}]{1,60}$/u),
  }),
};

/** Members of teams. */
export const teams = {
  DELEGATE_DOMAIN: variable({
    type: "domain",
    fallback: null,
    unset: "the host of `BASE_URL`; `localhost` where that is a number",
    rule: "a domain name of at most 200 characters",
    example: "people.example.com",
    description:
      "The domain of the addresses that delegated profiles get, `delegate-<team_user_id>@DELEGATE_DOMAIN`. Nothing is mailed there, and no member can be added with such an address.",
    schema: domain.refine((text) => text.length <= 200),
  }),
};

/** How invitations are sent. */
export const mail = {
  SMTP_URL: variable({
    type: "URL",
    fallback: null,
    unset: "nothing is mailed: links are printed",
    rule: "smtp://[user:password@]host[:port] or smtps://…; MAIL_FROM goes with it",
    example: "smtps://platform:password@mail.example.com",
    description: "The mail server for invitations. With `smtp:` STARTTLS is demanded, except on this machine.",
    secret: true,
    schema: z.string().refine((text) => /^smtps?:\/\/\S+$/.test(text) && URL.canParse(text) && new URL(text).hostname !== ""),
  }),
  MAIL_FROM: variable({
    type: "e-mail address",
    fallback: null,
    rule: "an e-mail address, or a name with one in angle brackets; it goes with SMTP_URL",
    example: "Agent Task Platform <platform@example.com>",
    description: "The sender of invitations.",
    schema: z.string().regex(new RegExp(`^(${address}|[^<>\\p{Cc}]{1,100} <${address}>)$`, "u")),
  }),
};
