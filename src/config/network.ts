import { isIP } from "node:net";
import { z } from "zod";
import { allowedAddresses, allowedAddressesRule } from "./address-range.ts";
import { commands, commandsRule } from "./commands.ts";
import { listOf } from "./list.ts";
import { baseUrl, origin, portMax, wholeNumber } from "./values.ts";
import { variable } from "./variable.ts";

const urlRule = "an http or https URL without user, query or fragment";
const secureUrlRule =
  "an https URL without user, query or fragment; http only for this machine (localhost, 127.0.0.0/8, [::1], *.localhost)";
const hostName = /^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$/;

/** Where it listens. */
export const listening = {
  HOST: variable({
    type: "address or host name",
    fallback: "127.0.0.1",
    rule: "an IP address or a host name",
    example: "0.0.0.0",
    description: "The address the server listens on. The default serves this machine alone.",
    schema: z.string().refine((text) => isIP(text) > 0 || (hostName.test(text) && !/^[\d.]+$/.test(text))),
  }),
  PORT: variable({
    type: "port",
    fallback: "8080",
    rule: "a whole number from 0 to 65535",
    example: "8080",
    description: "The one port of the API, over HTTP/1.1 and cleartext HTTP/2; `/livez` and `/readyz` are on it too. 0 takes any free one.",
    schema: wholeNumber(0, portMax),
  }),
  ADMIN_PORT: variable({
    type: "port",
    fallback: null,
    unset: "off",
    rule: "a whole number from 1 to 65535 other than PORT",
    example: "9090",
    description: "A second port, for operators only: `/livez` and `/readyz`, which it answers until the drain is over.",
    schema: wholeNumber(1, portMax),
  }),
  MAX_CONNECTIONS: variable({
    type: "number",
    fallback: "10000",
    rule: "a whole number from 1 to 1000000",
    example: "20000",
    description:
      "Connections to PORT at a time; the next one is closed at once. The system's limit of open files has to be higher (`ulimit -n`).",
    schema: wholeNumber(1, 1_000_000),
  }),
  MAX_CONNECTIONS_PER_ADDRESS: variable({
    type: "number",
    fallback: "256",
    rule: "a whole number from 1 to 1000000",
    example: "1000",
    description:
      "Connections of one address at a time (of IPv6, of one /64); the next one is closed at once. Connections from this machine are not counted. While TRUST_PROXY is set, no connections are counted: the proxy has to limit them.",
    schema: wholeNumber(1, 1_000_000),
  }),
};

/** The addresses it gives out. */
export const addresses = {
  BASE_URL: variable({
    type: "URL",
    fallback: null,
    unset: "`http://HOST:PORT`, where HOST is of this machine",
    rule: secureUrlRule,
    example: "https://api.example.com",
    description: "Where callers reach the API. Set it when a proxy stands before the server.",
    schema: baseUrl,
  }),
  CONSENT_URL: variable({
    type: "URL",
    fallback: null,
    unset: "`BASE_URL`",
    rule: secureUrlRule,
    example: "https://accounts.example.com",
    description: "Where people sign in and consent to apps; session cookies belong to its origin.",
    schema: baseUrl,
  }),
  APP_URL: variable({
    type: "URL",
    fallback: null,
    unset: "`CONSENT_URL`",
    rule: urlRule,
    example: "https://app.example.com",
    description: "Where the web pages of tasks are: `task_url` and `share_url` begin with it.",
    schema: baseUrl,
  }),
  TRUST_PROXY: variable({
    type: "header name",
    fallback: null,
    unset: "no header is believed",
    rule: "the name of one request header",
    example: "x-forwarded-for",
    description:
      "The header from which a caller's address is taken. Set it only where a proxy of yours writes that header on every request.",
    schema: z
      .string()
      .regex(/^[A-Za-z][A-Za-z0-9-]{0,63}$/)
      .transform((text) => text.toLowerCase()),
  }),
  CORS_ORIGINS: variable({
    type: "list of origins",
    fallback: null,
    unset: "none",
    rule: "origins as browsers send them, separated by commas",
    example: "https://app.example.com,http://localhost:5173",
    description: "Web pages of these origins may call the API from a browser.",
    schema: listOf(origin),
  }),
};

/** Where its own requests may go. */
export const outgoing = {
  WEBHOOK_ALLOW: variable({
    type: "list of address ranges",
    fallback: null,
    unset: "public addresses only",
    rule: allowedAddressesRule,
    example: "loopback,10.1.0.0/16:8443",
    description:
      "Addresses that are not public and yet may get webhooks. `loopback` permits every port and plain http on this machine. Host names that users give (webhooks, files by URL, connectors) are looked up in `/etc/hosts` and then in the DNS: search domains and mDNS are not used, so give the full name.",
    schema: allowedAddresses,
  }),
  FETCH_ALLOW: variable({
    type: "list of address ranges",
    fallback: null,
    unset: "public addresses only",
    rule: allowedAddressesRule,
    example: "10.2.0.0/16",
    description: "The same for files that are fetched by URL.",
    schema: allowedAddresses,
  }),
  CONNECTOR_ALLOW: variable({
    type: "list of address ranges",
    fallback: null,
    unset: "public addresses only",
    rule: allowedAddressesRule,
    example: "10.3.0.0/16",
    description: "The same for servers of connectors, and for where their users sign in.",
    schema: allowedAddresses,
  }),
  CONNECTOR_COMMANDS: variable({
    type: "list of name=command",
    fallback: null,
    unset: "no commands",
    rule: commandsRule,
    example: "files=/usr/local/bin/mcp-files --root /srv/shared",
    description:
      "Programs that users may install as connectors, by these names: they speak the Model Context Protocol over standard input and output, and run as the server's own user. Whoever may install a connector may run them.",
    schema: commands,
  }),
};
