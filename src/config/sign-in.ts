import { z } from "zod";
import { listOf, switchSetting } from "./values.ts";
import { defineVariable, type Reader } from "./variable.ts";

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\]|::1)$/;
const address = '[^\\s@,;<>"()\\\\]{1,64}@[^\\s@,;<>"()\\\\]{1,190}';
const domain = z
  .string()
  .regex(/^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$/)
  .transform((text) => text.toLowerCase());

/** Whether a host is this machine; an IPv6 address with brackets, as in a URL, or without. */
export const isLoopback = (host: string): boolean => loopback.test(host);

/** An https URL, or http on this machine. */
const issuer = z.string().refine((text) => {
  if (!/^https?:\/\/[^\s\\@?#]+$/.test(text) || !URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === "https:" || isLoopback(hostname);
});

/** A provider of single sign-on, and this installation's client credentials there. */
export interface SingleSignOn {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Lower case; empty: any. */
  readonly domains: readonly string[];
  readonly label: string;
  /** The claim with the groups of a person; null: groups are not read. */
  readonly groupsClaim: string | null;
  /** The scope that asks for it; null: none. */
  readonly groupsScope: string | null;
}

/** Single sign-on through an OpenID Connect provider. */
export const singleSignOn = {
  OIDC_ISSUER: defineVariable({
    type: "URL",
    fallback: null,
    unset: "no single sign-on",
    rule: "an https URL without user, query or fragment (http on this machine); it requires OIDC_CLIENT_ID and OIDC_CLIENT_SECRET",
    example: "https://login.example.com",
    description:
      "The OpenID Connect provider for single sign-on. Register `CONSENT_URL/sign-in/callback` there as the redirect URI.",
    schema: issuer,
  }),
  OIDC_CLIENT_ID: defineVariable({
    type: "text",
    fallback: null,
    rule: "the client ID that the provider issued; OIDC_ISSUER requires it",
    example: "agent-task-platform",
    description: "The client ID of this installation at the provider.",
    schema: z.string().regex(/^[\x20-\x7e]{1,256}$/),
  }),
  OIDC_CLIENT_SECRET: defineVariable({
    type: "text",
    fallback: null,
    rule: "the client secret that the provider issued; OIDC_ISSUER requires it",
    example: "the-secret-of-the-provider",
    description: "The client secret of this installation at the provider.",
    secret: true,
    schema: z.string().regex(/^[\x20-\x7e]{1,1024}$/),
  }),
  OIDC_DOMAINS: defineVariable({
    type: "list of domains",
    fallback: null,
    unset: "any domain",
    rule: "domains of e-mail addresses, separated by commas",
    example: "example.com,example.org",
    description:
      "Only people with a verified e-mail address in one of these domains can sign in through the provider.",
    schema: listOf(domain),
  }),
  OIDC_GROUPS_CLAIM: defineVariable({
    type: "text",
    fallback: null,
    unset: "groups are not read",
    rule: "the name of a claim: 1 to 128 visible ASCII characters; it requires OIDC_ISSUER",
    example: "groups",
    description:
      "The claim of the provider that has a person's groups, as a text or a list of texts. At each sign-in through the provider the person's groups in each team become those of the claim, and with them the role ([enterprise.md](../operate/enterprise.md#groups-from-claims)).",
    schema: z.string().regex(/^[\x21-\x7e]{1,128}$/),
  }),
  OIDC_GROUPS_SCOPE: defineVariable({
    type: "scope",
    fallback: null,
    unset: "no additional scope",
    rule: "one scope: 1 to 128 visible ASCII characters, without quotation marks and backslashes; it requires OIDC_GROUPS_CLAIM",
    example: "groups",
    description: "The scope that asks the provider for the claim with groups, in addition to `openid email`.",
    schema: z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,128}$/),
  }),
  OIDC_LABEL: defineVariable({
    type: "text",
    fallback: "single sign-on",
    rule: "1 to 60 characters",
    example: "Example Login",
    description: "The provider's name on the sign-in page: `Continue with …`.",
    schema: z.string().regex(/^[^\p{Cc}]{1,60}$/u),
  }),
};

export const teams = {
  DELEGATE_DOMAIN: defineVariable({
    type: "domain",
    fallback: null,
    unset: "the host of `BASE_URL`, or `localhost` if that is an IP address",
    rule: "a domain name of at most 200 characters",
    example: "people.example.com",
    description:
      "The domain of delegated profiles' addresses, `delegate-<team_user_id>@DELEGATE_DOMAIN`. No mail is sent to them, and no member can be added with such an address.",
    schema: domain.refine((text) => text.length <= 200),
  }),
};

/** The mail server, for invitations and sign-in links. */
export const mail = {
  SMTP_URL: defineVariable({
    type: "URL",
    fallback: null,
    unset: "no mail is sent: links are printed",
    rule: "smtp://[user:password@]host[:port] or smtps://…; it requires MAIL_FROM",
    example: "smtps://platform:password@mail.example.com",
    description:
      "The mail server for invitations and sign-in links. `smtp:` requires STARTTLS, except on this machine.",
    secret: true,
    schema: z
      .string()
      .refine((text) => /^smtps?:\/\/\S+$/.test(text) && URL.canParse(text) && new URL(text).hostname !== ""),
  }),
  MAIL_FROM: defineVariable({
    type: "e-mail address",
    fallback: null,
    rule: "an e-mail address, or a name with one in angle brackets; SMTP_URL requires it",
    example: "Agent Task Platform <platform@example.com>",
    description: "The sender of mails.",
    schema: z.string().regex(new RegExp(`^(${address}|[^<>\\p{Cc}]{1,100} <${address}>)$`, "u")),
  }),
  SIGN_IN_LINKS: defineVariable({
    ...switchSetting,
    fallback: "off",
    rule: "on or off; `on` requires SMTP_URL",
    example: "on",
    description:
      "Whether people can ask for a sign-in link by mail on the sign-in page. With `on`, who reads a person's mail can sign in as the person, unless the person has an authenticator app ([security.md](../operate/sign-in.md#sign-in-links-by-mail)). Links that administrators make do not depend on it.",
  }),
};

/**
 * How people sign in: by an identity provider, by links in mails, and by passwords. Without its settings a
 * way is off.
 */
export function readPeople({ read, require }: Reader) {
  const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, ...more } = read(singleSignOn);
  const { SMTP_URL, MAIL_FROM, SIGN_IN_LINKS: signInLinks } = read(mail);
  if (OIDC_ISSUER !== null) require(singleSignOn, "OIDC_CLIENT_ID");
  if (OIDC_ISSUER !== null) require(singleSignOn, "OIDC_CLIENT_SECRET");
  if (more.OIDC_GROUPS_CLAIM !== null) require(singleSignOn, "OIDC_ISSUER");
  if (more.OIDC_GROUPS_SCOPE !== null) require(singleSignOn, "OIDC_GROUPS_CLAIM");
  if (SMTP_URL !== null) require(mail, "MAIL_FROM");
  if (signInLinks) require(mail, "SMTP_URL");
  return {
    singleSignOn:
      OIDC_ISSUER === null || OIDC_CLIENT_ID === null || OIDC_CLIENT_SECRET === null
        ? null
        : {
            issuer: OIDC_ISSUER,
            clientId: OIDC_CLIENT_ID,
            clientSecret: OIDC_CLIENT_SECRET,
            domains: more.OIDC_DOMAINS ?? [],
            label: more.OIDC_LABEL,
            groupsClaim: more.OIDC_GROUPS_CLAIM,
            groupsScope: more.OIDC_GROUPS_SCOPE,
          },
    signInLinks,
    mail:
      SMTP_URL === null || MAIL_FROM === null
        ? null
        : { url: SMTP_URL, from: MAIL_FROM, demandTls: !isLoopback(new URL(SMTP_URL).hostname) },
  };
}
