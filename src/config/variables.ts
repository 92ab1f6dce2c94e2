import { isIP } from "node:net";
import { resolve } from "node:path";
import { z } from "zod";
import { allowedAddresses, allowedAddressesRule } from "./address-range.ts";
import { agentProfiles, agentProfilesRule } from "./agent-profiles.ts";
import { objectStorage } from "./bucket.ts";
import { commands, commandsRule } from "./commands.ts";
import { listOf } from "./list.ts";
import { models } from "./models.ts";
import { prices } from "./prices.ts";
import { mail, singleSignOn, teams } from "./sign-in.ts";
import { sites } from "./sites.ts";
import { baseUrl, byteSize, key32, origin, portMax, rateFactor, wholeNumber } from "./values.ts";
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
      "Connections of one address at a time (of IPv6, of one /64); the next one is closed at once. Connections from this machine are not counted. With TRUST_PROXY none are: then the proxy has to limit them.",
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

/** What it keeps, and where. */
export const data = {
  DATA_DIR: variable({
    type: "folder",
    fallback: "./data",
    rule: "the path of a folder that can be written",
    example: "/var/lib/agent-task-platform",
    description:
      "Everything the server keeps on disk. It is created if missing, with mode 0700; only the server's user can read the files in it. A start on a folder that other users can enter warns, and removes their permissions from the server's own files.",
    schema: z
      .string()
      .refine((text) => !text.includes("\0"))
      .transform((text) => resolve(text)),
  }),
  DATA_DIR_SHARED: variable({
    type: "`true` or `false`",
    fallback: "false",
    rule: "true or false",
    example: "true",
    description:
      "Says that DATA_DIR is one folder for all processes, on a file system that they share and under one user. With PostgreSQL and without S3_BUCKET it is needed for `ROLE=api` and `ROLE=worker`, and for a second process on the database: otherwise the files of one process could not be read by another.",
    schema: z.enum(["true", "false"]).transform((word) => word === "true"),
  }),
  DATABASE_URL: variable({
    type: "database URL",
    fallback: null,
    unset: "`file:DATA_DIR/platform.db`",
    rule: "file:PATH for SQLite, or postgresql://…",
    example: "postgresql://platform:password@db.example.com:5432/platform",
    description:
      "The database: SQLite in a file for one process, PostgreSQL for any number. There the role needs the right to make a schema: wake-ups are kept in one named `pgboss`. A process holds up to 24 connections, one with `ROLE=api` up to 20.",
    secret: true,
    schema: z
      .string()
      .refine((text) => /^file:(?!:)[^?#\0]*[^?#\0/]$/.test(text) || (/^postgres(ql)?:\/\/\S+$/.test(text) && URL.canParse(text)))
      .transform((text) => (text.startsWith("file:") ? `file:${resolve(text.slice("file:".length))}` : text)),
  }),
  ENCRYPTION_KEY: variable({
    type: "32 bytes in base64",
    fallback: null,
    unset: "the file `DATA_DIR/encryption-key`, made at the first start",
    rule: "32 bytes in standard base64; with PostgreSQL it is required",
    // No key that somebody could copy.
    example: "$(openssl rand -base64 32)",
    description: "Encrypts secrets at rest. Every process on a database needs the same one, and one that is lost cannot be replaced.",
    secret: true,
    schema: key32,
  }),
  DELETED_TASK_DAYS: variable({
    type: "days",
    fallback: "0",
    rule: "a whole number from 0 to 36500",
    example: "30",
    description: "How long the events of a team's deleted tasks are kept for exports of its people's data; nobody else sees them.",
    schema: wholeNumber(0, 36_500),
  }),
  SIEM_PAYLOADS: variable({
    type: "`off` or `on`",
    fallback: "off",
    rule: "off or on",
    example: "on",
    description:
      "Whether compliance exports may hold what was said, and what tools were given and returned. With `off`, `include_payload` has no effect; `on` is your agreement that such contents go to a SIEM.",
    schema: z.enum(["off", "on"]).transform((word) => word === "on"),
  }),
  WEBHOOK_LOG_DAYS: variable({
    type: "days",
    fallback: "30",
    rule: "a whole number from 1 to 36500",
    example: "90",
    description: "How long the log of webhooks keeps what was sent, and can send it again. What is still to be delivered is always kept.",
    schema: wholeNumber(1, 36_500),
  }),
  OWNER_EMAIL: variable({
    type: "e-mail address",
    fallback: "owner@localhost",
    rule: "an e-mail address",
    example: "ann@example.com",
    description: "The first account, which owns the first team. It counts at the very first start only.",
    schema: z
      .string()
      .regex(/^[^\s@,;<>"()\\]{1,64}@[^\s@,;<>"()\\]{1,190}$/)
      .transform((text) => text.toLowerCase()),
  }),
};

/** What callers may ask of it. */
export const callLimits = {
  RATE_LIMITS: variable({
    type: "factor",
    fallback: "default",
    rule: "`default`, `off`, or a number above 0 and below 1000000 by which every limit is multiplied",
    example: "2.5",
    description: "Calls a minute. `off` lifts every rate limit, those per address too; attempts to sign in stay limited.",
    schema: rateFactor,
  }),
  WATCH_LIMIT: variable({
    type: "number",
    fallback: "100",
    rule: "a whole number from 1 to 100000",
    example: "500",
    description:
      "Held calls and open watches of one account in one process; the next one is refused with 429 `resource_exhausted`. A call that is answered at once takes no place.",
    schema: wholeNumber(1, 100_000),
  }),
  WAIT_SECONDS: variable({
    type: "seconds",
    fallback: "50",
    rule: "a whole number from 1 to 60",
    example: "25",
    description:
      "The longest time that a call with `wait_seconds` is held, also when the request asks for more. Set it below the time-out of the proxy in front; most proxies wait 60 s for an answer.",
    schema: wholeNumber(1, 60),
  }),
  BODY_LIMIT: variable({
    type: "bytes",
    fallback: "32MiB",
    rule: "a number of bytes from 1KiB to 1GiB, plain or with KiB, MiB or GiB",
    example: "64MiB",
    description:
      "The largest request, after decompression, of operations that take content: `task.create`, `task.sendMessage`, `CreateSkill`, workers' events, lent browsers, and their forms on other wires. Others have smaller limits of their own (256 KiB, unless `test/golden/operations.txt` says otherwise), and this caps those too. A file of 20 MB in `file_data` needs about 27 MiB. Uploads of files have their own limit.",
    schema: byteSize(1024, 1024 ** 3),
  }),
  BODY_MEMORY: variable({
    type: "bytes",
    fallback: "256MiB",
    rule: "a number of bytes from 2KiB to 1024GiB, plain or with KiB, MiB or GiB, and at least twice BODY_LIMIT",
    example: "1GiB",
    description:
      "The memory for all request bodies that a process is reading or parsing. Once a body is read, it counts twice: its bytes, and the objects that are built from them. One account, or one address without an account, may have a quarter, or twice BODY_LIMIT if that is more. Further bodies are refused with 503 `unavailable`. Uploads of files do not count.",
    schema: byteSize(2048, 1024 * 1024 ** 3),
  }),
};

/** Files that users bring. */
export const files = {
  FILE_LIMIT: variable({
    type: "bytes",
    fallback: "512MiB",
    rule: "a number of bytes from 1KiB to 100GiB, plain or with KiB, MiB or GiB",
    example: "64MiB",
    description: "The largest file that can be uploaded.",
    schema: byteSize(1024, 100 * 1024 ** 3),
  }),
  FILE_QUOTA: variable({
    type: "bytes",
    fallback: "10GiB",
    rule: "a number of bytes from 1KiB to 100000GiB, plain or with KiB, MiB or GiB",
    example: "50GiB",
    description: "What the files of one account may take together. Artefacts of agents do not count.",
    schema: byteSize(1024, 100_000 * 1024 ** 3),
  }),
};

/** OAuth 2.0 apps. */
export const oauth = {
  OAUTH_REFRESH_REPLAY_SECONDS: variable({
    type: "seconds",
    fallback: "0",
    rule: "a whole number from 0 to 60",
    example: "5",
    description:
      "For so long a refresh that is repeated, because its answer was lost, gets the same pair once more instead of `invalid_grant`. Above 0 it departs from the contract, and the log says so at the start.",
    schema: wholeNumber(0, 60),
  }),
};

/** Agents and their runs. */
export const agents = {
  AGENT_PROFILES: variable({
    type: "list of profile=agent",
    fallback: "manus-1.6=offline,manus-1.6-lite=offline,manus-1.6-max=offline",
    rule: agentProfilesRule,
    example: "manus-1.6=offline,manus-1.6-lite=offline",
    description:
      "Which agent works on tasks of which profile. `offline` needs no model and no network; `model:NAME` is a model of MODELS_FILE; `remote` leaves them to workers that poll for them.",
    schema: agentProfiles,
  }),
  SANDBOX_COMMAND: variable({
    type: "command line",
    fallback: null,
    unset: "agents run no commands",
    rule: "an absolute path and its arguments, parted by blanks, with {workspace} among them",
    example: "/usr/local/bin/sandbox {workspace} /bin/sh -c",
    description:
      "What runs the commands of model agents: `{workspace}` stands for the folder with the files of the task, and the command becomes its last argument. It has to keep the command away from everything else: [docs/models.md](models.md) has a line for bubblewrap.",
    schema: z
      .string()
      .transform((text) => text.trim().split(/\s+/))
      .refine((words) => words[0]?.startsWith("/") && words.some((word) => word.includes("{workspace}")) && !words.join().includes("\0")),
  }),
  RUN_CONCURRENCY: variable({
    type: "number",
    fallback: "1000",
    rule: "a whole number from 1 to 100000",
    example: "50",
    description: "Tasks that one process runs at a time; the others wait.",
    schema: wholeNumber(1, 100_000),
  }),
  QUEUE_DEPTH: variable({
    type: "number",
    fallback: "100000",
    rule: "a whole number from 1 to 100000000",
    example: "5000",
    description: "Tasks that may wait for a runner; beyond that, new ones are refused until the queue is shorter.",
    schema: wholeNumber(1, 100_000_000),
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

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

/** The process itself. */
export const processing = {
  ROLE: variable({
    type: "role",
    fallback: "all",
    rule: "api, worker or all; other than all only with PostgreSQL",
    example: "worker",
    description:
      "What this process does: answer calls, run tasks, or both. Of all calls a `worker` takes `browser.v2.BrowserService/Attach` alone, and `api` all but that: a browser is held where tasks run ([browsers.md](browsers.md)).",
    schema: z.enum(["api", "worker", "all"]),
  }),
  NOTICE_SECONDS: variable({
    type: "seconds",
    fallback: "0",
    rule: "a whole number from 0 to 3600",
    example: "10",
    description:
      "How long after SIGTERM calls are still taken while `/readyz` says no already: as long as a load balancer needs to notice. DRAIN_SECONDS come after it.",
    schema: wholeNumber(0, 3600),
  }),
  DRAIN_SECONDS: variable({
    type: "seconds",
    fallback: "25",
    rule: "a whole number from 0 to 3600",
    example: "55",
    description: "How long SIGTERM lets calls in progress finish before what is left is cut off.",
    schema: wholeNumber(0, 3600),
  }),
  LOG_LEVEL: variable({
    type: "log level",
    fallback: "info",
    rule: `one of ${logLevels.join(", ")}`,
    example: "debug",
    description: "Which log lines are written, as JSON, to standard error.",
    schema: z.enum(logLevels),
  }),
};

/** Every variable, by the heading it stands under in the documentation. */
export const variableGroups = {
  Listening: listening,
  Addresses: addresses,
  Data: data,
  "Files in a bucket": objectStorage,
  "Single sign-on": singleSignOn,
  Mail: mail,
  Teams: teams,
  Limits: callLimits,
  Files: files,
  Websites: sites,
  "OAuth 2.0": oauth,
  Agents: agents,
  Credits: prices,
  Models: models,
  "Outgoing requests": outgoing,
  Process: processing,
} as const;
