import { isIP } from "node:net";
import { z } from "zod";
import { allowedAddresses, allowedAddressesRule } from "./address-range.ts";
import { baseUrl, filePath, listOf, numberSetting, origin, portMax, switchSetting } from "./values.ts";
import { defineVariable } from "./variable.ts";

/** The rule of `commands` for messages and documentation. */
const commandsRule =
  "names and commands like files=/usr/local/bin/mcp-files --root /srv, each with an absolute path, separated by commas";

/** Programs that the operator allows, by name; arguments are separated by spaces. */
const commands = listOf(
  z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]{0,62}=\/\S+( +\S+)*$/)
    .transform((text): readonly [string, readonly string[]] => {
      const equals = text.indexOf("=");
      return [text.slice(0, equals), text.slice(equals + 1).split(/ +/)];
    }),
)
  .refine((pairs) => new Set(pairs.map(([name]) => name)).size === pairs.length)
  .transform((pairs): Readonly<Record<string, readonly string[]>> => Object.fromEntries(pairs));

const urlRule = "an http or https URL without user, query or fragment";
const secureUrlRule =
  "an https URL without user, query or fragment; http only for this machine (localhost, 127.0.0.0/8, [::1], *.localhost)";
const hostName =
  /^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$/;

/** An address to listen on. */
const hostAddress = z
  .string()
  .refine((text) => isIP(text) > 0 || (hostName.test(text) && !/^[\d.]+$/.test(text)));

/** Where the server listens. */
export const listening = {
  HOST: defineVariable({
    type: "address or host name",
    fallback: "127.0.0.1",
    rule: "an IP address or a host name",
    example: "0.0.0.0",
    description: "The address the server listens on. With the default, only this machine can connect.",
    schema: hostAddress,
  }),
  PORT: defineVariable({
    ...numberSetting(0, portMax),
    type: "port",
    fallback: "8080",
    example: "8080",
    description:
      "The port of the API, over HTTP/1.1 and cleartext HTTP/2. It also serves `/livez` and `/readyz`. 0 means any free port.",
  }),
  ADMIN_PORT: defineVariable({
    ...numberSetting(1, portMax),
    type: "port",
    fallback: null,
    unset: "off",
    rule: "a whole number from 1 to 65535 other than PORT",
    example: "9090",
    description:
      "A second port for operators, on ADMIN_HOST. It serves only `/livez`, `/readyz`, `/metrics` ([monitoring.md](../operate/monitoring.md)) and `/ask`, which answers proxies whether a name is a custom domain of a website ([proxy.md](../operate/proxy.md#custom-domains)), until the drain is over. Without it nothing is measured.",
  }),
  ADMIN_HOST: defineVariable({
    type: "address or host name",
    fallback: "127.0.0.1",
    rule: "an IP address or a host name",
    example: "0.0.0.0",
    description:
      "The address that ADMIN_PORT listens on. With another address than one of this machine, `/metrics` needs ADMIN_TOKEN_FILE; `/livez`, `/readyz` and `/ask` need no token.",
    schema: hostAddress,
  }),
  ADMIN_TOKEN_FILE: defineVariable({
    type: "path",
    fallback: null,
    unset: "`/metrics` needs no token on an address of this machine, and is refused on any other",
    rule: "the path of a file with a token of 16 to 512 printable characters without blanks",
    example: "/etc/agent-task-platform/admin-token",
    description:
      "A file with the token that callers of `/metrics` send as `Authorization: Bearer TOKEN`. It is read when the process starts.",
    schema: filePath,
  }),
  MAX_CONNECTIONS: defineVariable({
    ...numberSetting(1, 1_000_000),
    fallback: "10000",
    example: "20000",
    description:
      "The maximum number of open connections to PORT; further connections are closed immediately. The system's limit of open files must be higher (`ulimit -n`).",
  }),
  MAX_CONNECTIONS_PER_ADDRESS: defineVariable({
    ...numberSetting(1, 1_000_000),
    fallback: "256",
    example: "1000",
    description:
      "The maximum number of open connections of one IPv4 address or one IPv6 /64; further connections are closed immediately. Connections from this machine do not count. If TRUST_PROXY is set, this limit is off: the proxy must limit connections.",
  }),
};

export const addresses = {
  BASE_URL: defineVariable({
    type: "URL",
    fallback: null,
    unset: "`http://HOST:PORT`; allowed only if HOST is this machine",
    rule: secureUrlRule,
    example: "https://api.example.com",
    description: "The URL at which callers reach the API. Set it if the server is behind a proxy.",
    schema: baseUrl,
  }),
  CONSENT_URL: defineVariable({
    type: "URL",
    fallback: null,
    unset: "`BASE_URL`",
    rule: secureUrlRule,
    example: "https://accounts.example.com",
    description:
      "The URL of the pages where people sign in and consent to apps. Session cookies belong to its origin.",
    schema: baseUrl,
  }),
  APP_URL: defineVariable({
    type: "URL",
    fallback: null,
    unset: "`CONSENT_URL`",
    rule: urlRule,
    example: "https://app.example.com",
    description: "The URL of the web pages of tasks: `task_url` and `share_url` begin with it.",
    schema: baseUrl,
  }),
  TRUST_PROXY: defineVariable({
    type: "header name",
    fallback: null,
    unset: "no header is trusted",
    rule: "the name of one request header",
    example: "x-forwarded-for",
    description:
      "The header that contains the caller's address. Set it only if your proxy writes this header on every request.",
    schema: z
      .string()
      .regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/)
      .transform((text) => text.toLowerCase()),
  }),
  CORS_ORIGINS: defineVariable({
    type: "list of origins",
    fallback: null,
    unset: "none",
    rule: "origins as browsers send them, separated by commas",
    example: "https://app.example.com,http://localhost:5173",
    description: "Web pages of these origins may call the API from a browser.",
    schema: listOf(origin),
  }),
  HSTS: defineVariable({
    ...switchSetting,
    fallback: "on",
    example: "off",
    description:
      "Where `CONSENT_URL` is https, each answer of the platform's hosts tells browsers to use https only for a year (`Strict-Transport-Security`). Websites have other hosts and do not get it.",
  }),
  SECURITY_CONTACT: defineVariable({
    type: "URI",
    fallback: null,
    unset: "the server's page on reporting",
    rule: "a mailto:, https: or tel: URI",
    example: "mailto:security@example.com",
    description:
      "Where people report vulnerabilities of this installation, for `/.well-known/security.txt` (RFC 9116).",
    schema: z.string().regex(/^(?:mailto:[^\s@]+@[^\s@]+|https:\/\/\S+|tel:\+?[0-9-]+)$/),
  }),
};

const allowedTargets = {
  type: "list of address ranges",
  fallback: null,
  unset: "public addresses only",
  rule: allowedAddressesRule,
  schema: allowedAddresses,
};

/** The allowed targets of outgoing requests. */
export const outgoing = {
  WEBHOOK_ALLOW: defineVariable({
    ...allowedTargets,
    example: "loopback,10.1.0.0/16:8443",
    description:
      "Private addresses that may receive webhooks. `loopback` allows every port and plain http on this machine. Host names from users (webhooks, files by URL, connectors) are resolved with `/etc/hosts` and then DNS. Search domains and mDNS are not used, so use full names.",
  }),
  FETCH_ALLOW: defineVariable({
    ...allowedTargets,
    example: "10.2.0.0/16",
    description: "Private addresses from which files may be fetched by URL.",
  }),
  CONNECTOR_ALLOW: defineVariable({
    ...allowedTargets,
    example: "10.3.0.0/16",
    description: "Private addresses of connectors' servers and of the servers where their users sign in.",
  }),
  CLIENT_ALLOW: defineVariable({
    ...allowedTargets,
    example: "10.4.0.0/16",
    description:
      "Private addresses of the metadata documents of OAuth clients, for MCP clients in your own network. Requests are https only; callers need no account to cause them.",
  }),
  MODEL_ALLOW: defineVariable({
    ...allowedTargets,
    unset: "`loopback` while `HOST` is this machine, otherwise public addresses only",
    example: "10.5.0.0/16:8000",
    description:
      "Private addresses of the models that operators set in the web application. Those of MODELS_FILE need no permission.",
  }),
  CONNECTOR_COMMANDS: defineVariable({
    type: "list of name=command",
    fallback: null,
    unset: "no commands",
    rule: commandsRule,
    example: "files=/usr/local/bin/mcp-files --root /srv/shared",
    description:
      "Programs that users may install as connectors under these names. They use the Model Context Protocol over standard input and output and run as the server's user. Every user who may install a connector may run them.",
    schema: commands,
  }),
};
