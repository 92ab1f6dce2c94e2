import { isIP, isIPv6 } from "node:net";
import { join } from "node:path";
import type { AllowedAddresses } from "./config/address-range.ts";
import { type AgentName, isModelAgent, modelNamed } from "./config/agent-profiles.ts";
import { type Bucket, readBucket } from "./config/bucket.ts";
import { misspelt } from "./config/misspelt.ts";
import { type ModelConfig, readModels } from "./config/models.ts";
import { addresses, listening, outgoing } from "./config/network.ts";
import { type Prices, prices } from "./config/prices.ts";
import { environmentReader, type Reader } from "./config/reader.ts";
import { isLoopback, mail, singleSignOn, teams } from "./config/sign-in.ts";
import { isSameSite, sites } from "./config/sites.ts";
import { data, files } from "./config/storage.ts";
import { ConfigError } from "./config/variable.ts";
import { variableGroups } from "./config/variables.ts";
import { agents, callLimits, oauth, processing } from "./config/work.ts";
import { nearest } from "./core/nearest.ts";
import { agentProfiles } from "./core/tasks/profile.ts";

export { ConfigError } from "./config/variable.ts";

/** What the environment says, checked and whole; `docs/configuration.md` explains each variable. */
export interface Config {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly adminPort: number | null;
  /** No URL ends with a slash. */
  readonly baseUrl: string;
  readonly consentUrl: string;
  /** Neither CONSENT_URL nor BASE_URL is set: the address is made from HOST and PORT. */
  readonly isAddressGuessed: boolean;
  readonly appUrl: string;
  /** What websites are served below; lower case. */
  readonly sitesDomain: string;
  /** Lower case; null believes no header. */
  readonly trustProxy: string | null;
  readonly corsOrigins: readonly string[];
  /** Absolute; not made yet. */
  readonly dataDir: string;
  /** All processes have this one folder. */
  readonly isDataDirShared: boolean;
  readonly database: "sqlite" | "postgresql";
  readonly databaseUrl: string;
  /** 32 bytes in base64; null means the file in the data folder. */
  readonly encryptionKey: string | null;
  /** Where the bytes of files are kept; null means a folder in the data folder. */
  readonly bucket: Bucket | null;
  readonly deletedTaskDays: number;
  /** Exports for a SIEM may hold contents. */
  readonly siemPayloads: boolean;
  readonly webhookLogDays: number;
  /** Lower case. */
  readonly ownerEmail: string;
  /** What every rate limit is multiplied by; null lifts them all. */
  readonly rateFactor: number | null;
  readonly watchLimit: number;
  /** Connections at a time. */
  readonly maxConnections: number;
  /** Connections of one address at a time. */
  readonly maxConnectionsPerAddress: number;
  /** For how long a call is held at most. */
  readonly waitSeconds: number;
  /** Bytes. */
  readonly bodyLimit: number;
  /** Bytes of all bodies that are read at a time: at least twice `bodyLimit`. */
  readonly bodyMemory: number;
  /** Bytes of one file. */
  readonly fileLimit: number;
  /** Bytes of one account. */
  readonly fileQuota: number;
  /** 0: a repeated refresh is refused. */
  readonly refreshReplaySeconds: number;
  readonly agentProfiles: Readonly<Record<string, AgentName>>;
  /** By the name that AGENT_PROFILES gives them. */
  readonly models: Readonly<Record<string, ModelConfig>>;
  readonly prices: Prices;
  /** What a space can spend as long as it has no budget. */
  readonly credits: number;
  /** The words of a command line; null: no commands are run. */
  readonly sandboxCommand: readonly string[] | null;
  readonly runConcurrency: number;
  readonly queueDepth: number;
  readonly webhookAllow: readonly AllowedAddresses[];
  readonly fetchAllow: readonly AllowedAddresses[];
  readonly connectorAllow: readonly AllowedAddresses[];
  /** Programs and their arguments, by the names that connectors take. */
  readonly connectorCommands: Readonly<Record<string, readonly string[]>>;
  readonly role: "api" | "worker" | "all";
  readonly noticeSeconds: number;
  readonly drainSeconds: number;
  readonly logLevel: string;
  /** The OpenID Connect provider; null: there is none. */
  readonly singleSignOn: SingleSignOn | null;
  /** What follows the @ of a delegated profile's address; lower case. */
  readonly delegateDomain: string;
  /** How invitations are mailed; null: they are printed. */
  readonly mail: { readonly url: string; readonly from: string; readonly demandTls: boolean } | null;
}

/** A provider of single sign-on, and who this installation is to it. */
export interface SingleSignOn {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Lower case; empty: any. */
  readonly domains: readonly string[];
  readonly label: string;
}

/**
 * Reads the configuration, once, from the environment. An empty variable counts as
 * unset; `misspeltSettings` names unknown ones that may be mistakes.
 *
 * @throws ConfigError with every problem there is.
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  const reader = environmentReader(env);
  const config = { ...network(reader), ...storage(reader), ...work(reader), ...people(reader) };
  checkTogether(config, reader);
  if (reader.problems.length > 0) throw new ConfigError(reader.problems);
  return deepFreeze(config);
}

/** What to warn of: variables that are not settings, and look as if they were meant to be. Values are not shown. */
export const misspeltSettings = (env: Readonly<Record<string, string | undefined>> = process.env): readonly string[] =>
  misspelt(Object.keys(env), settingNames);

const settingNames: readonly string[] = Object.values(variableGroups).flatMap((group) => Object.keys(group));

function network({ read, readOr, isRead }: Reader) {
  const host = readOr("HOST", listening.HOST, "");
  const port = readOr("PORT", listening.PORT, 0);
  const baseUrl = readOr("BASE_URL", addresses.BASE_URL, defaultBaseUrl(host, port));
  const consentUrl = readOr("CONSENT_URL", addresses.CONSENT_URL, baseUrl);
  return {
    host,
    port,
    adminPort: read("ADMIN_PORT", listening.ADMIN_PORT),
    maxConnections: readOr("MAX_CONNECTIONS", listening.MAX_CONNECTIONS, 0),
    maxConnectionsPerAddress: readOr("MAX_CONNECTIONS_PER_ADDRESS", listening.MAX_CONNECTIONS_PER_ADDRESS, 0),
    baseUrl,
    consentUrl,
    isAddressGuessed: !isRead("CONSENT_URL") && !isRead("BASE_URL"),
    appUrl: readOr("APP_URL", addresses.APP_URL, consentUrl),
    sitesDomain: readOr("SITES_DOMAIN", sites.SITES_DOMAIN, ""),
    delegateDomain: readOr("DELEGATE_DOMAIN", teams.DELEGATE_DOMAIN, domainOf(baseUrl)),
    trustProxy: read("TRUST_PROXY", addresses.TRUST_PROXY),
    corsOrigins: readOr("CORS_ORIGINS", addresses.CORS_ORIGINS, []),
    webhookAllow: readOr("WEBHOOK_ALLOW", outgoing.WEBHOOK_ALLOW, []),
    fetchAllow: readOr("FETCH_ALLOW", outgoing.FETCH_ALLOW, []),
    connectorAllow: readOr("CONNECTOR_ALLOW", outgoing.CONNECTOR_ALLOW, []),
    connectorCommands: readOr("CONNECTOR_COMMANDS", outgoing.CONNECTOR_COMMANDS, {}),
  };
}

function storage(reader: Reader) {
  const { read, readOr } = reader;
  const dataDir = readOr("DATA_DIR", data.DATA_DIR, "");
  const databaseUrl = readOr("DATABASE_URL", data.DATABASE_URL, `file:${join(dataDir, "platform.db")}`);
  return {
    dataDir,
    isDataDirShared: readOr("DATA_DIR_SHARED", data.DATA_DIR_SHARED, false),
    database: databaseUrl.startsWith("file:") ? ("sqlite" as const) : ("postgresql" as const),
    databaseUrl,
    encryptionKey: read("ENCRYPTION_KEY", data.ENCRYPTION_KEY),
    bucket: readBucket(reader),
    deletedTaskDays: readOr("DELETED_TASK_DAYS", data.DELETED_TASK_DAYS, 0),
    siemPayloads: readOr("SIEM_PAYLOADS", data.SIEM_PAYLOADS, false),
    webhookLogDays: readOr("WEBHOOK_LOG_DAYS", data.WEBHOOK_LOG_DAYS, 0),
    ownerEmail: readOr("OWNER_EMAIL", data.OWNER_EMAIL, ""),
  };
}

function work(reader: Reader) {
  const { read, readOr } = reader;
  return {
    rateFactor: read("RATE_LIMITS", callLimits.RATE_LIMITS),
    watchLimit: readOr("WATCH_LIMIT", callLimits.WATCH_LIMIT, 0),
    waitSeconds: readOr("WAIT_SECONDS", callLimits.WAIT_SECONDS, 0),
    bodyLimit: readOr("BODY_LIMIT", callLimits.BODY_LIMIT, 0),
    bodyMemory: readOr("BODY_MEMORY", callLimits.BODY_MEMORY, Number.POSITIVE_INFINITY),
    fileLimit: readOr("FILE_LIMIT", files.FILE_LIMIT, 0),
    fileQuota: readOr("FILE_QUOTA", files.FILE_QUOTA, 0),
    refreshReplaySeconds: readOr("OAUTH_REFRESH_REPLAY_SECONDS", oauth.OAUTH_REFRESH_REPLAY_SECONDS, 0),
    agentProfiles: readOr("AGENT_PROFILES", agents.AGENT_PROFILES, {}),
    models: readModels(reader),
    prices: readOr("PRICES", prices.PRICES, {}),
    credits: readOr("CREDITS", prices.CREDITS, 0),
    sandboxCommand: read("SANDBOX_COMMAND", agents.SANDBOX_COMMAND),
    runConcurrency: readOr("RUN_CONCURRENCY", agents.RUN_CONCURRENCY, 0),
    queueDepth: readOr("QUEUE_DEPTH", agents.QUEUE_DEPTH, 0),
    role: readOr("ROLE", processing.ROLE, "all"),
    noticeSeconds: readOr("NOTICE_SECONDS", processing.NOTICE_SECONDS, 0),
    drainSeconds: readOr("DRAIN_SECONDS", processing.DRAIN_SECONDS, 0),
    logLevel: readOr("LOG_LEVEL", processing.LOG_LEVEL, "info"),
  };
}

function people({ read, readOr, refuse, isRead }: Reader) {
  const issuer = read("OIDC_ISSUER", singleSignOn.OIDC_ISSUER);
  const clientId = read("OIDC_CLIENT_ID", singleSignOn.OIDC_CLIENT_ID);
  const clientSecret = read("OIDC_CLIENT_SECRET", singleSignOn.OIDC_CLIENT_SECRET);
  const domains = readOr("OIDC_DOMAINS", singleSignOn.OIDC_DOMAINS, []);
  const label = readOr("OIDC_LABEL", singleSignOn.OIDC_LABEL, "");
  const url = read("SMTP_URL", mail.SMTP_URL);
  const from = read("MAIL_FROM", mail.MAIL_FROM);
  if (issuer !== null && !isRead("OIDC_CLIENT_ID")) refuse("OIDC_CLIENT_ID", singleSignOn.OIDC_CLIENT_ID, "");
  if (issuer !== null && !isRead("OIDC_CLIENT_SECRET")) refuse("OIDC_CLIENT_SECRET", singleSignOn.OIDC_CLIENT_SECRET, "");
  if (url !== null && !isRead("MAIL_FROM")) refuse("MAIL_FROM", mail.MAIL_FROM, "");
  return {
    singleSignOn: issuer === null || clientId === null || clientSecret === null ? null : { issuer, clientId, clientSecret, domains, label },
    mail: url === null || from === null ? null : { url, from, demandTls: !isLoopback(new URL(url).hostname) },
  };
}

/** Rules that join variables. */
function checkTogether(config: Config, { refuse, note, isRead }: Reader): void {
  for (const [name, url] of [
    ["BASE_URL", config.baseUrl],
    ["CONSENT_URL", config.consentUrl],
  ] as const) {
    // What CONSENT_URL takes from BASE_URL is told once; what HOST makes of it is told as BASE_URL's.
    if (!isProtected(url) && (name === "BASE_URL" || isRead(name))) refuse(name, addresses[name], url);
  }
  const unknown = Object.values(config.agentProfiles).find(
    (agent) => isModelAgent(agent) && !Object.hasOwn(config.models, modelNamed(agent)),
  );
  if (unknown !== undefined) note("AGENT_PROFILES", `AGENT_PROFILES names ${unknown}, which MODELS_FILE does not have`);
  for (const profile of Object.keys(config.agentProfiles)) {
    if (!agentProfiles.includes(profile)) note("AGENT_PROFILES", unknownProfile(profile));
  }
  const { sitesDomain, consentUrl } = config;
  if (sitesDomain !== "" && URL.canParse(consentUrl) && isSameSite(sitesDomain, consentUrl))
    refuse("SITES_DOMAIN", sites.SITES_DOMAIN, sitesDomain);
  const onPostgres = config.database === "postgresql";
  if (config.role !== "all" && onPostgres && config.bucket === null && !config.isDataDirShared && !isRead("S3_BUCKET")) {
    const text = `ROLE=${config.role} needs files that all processes can read: set S3_BUCKET, or DATA_DIR_SHARED=true when DATA_DIR is one folder for all processes`;
    note("DATA_DIR_SHARED", text);
  }
  if (config.role !== "all" && !onPostgres) refuse("ROLE", processing.ROLE, config.role);
  if (onPostgres && config.encryptionKey === null && !isRead("ENCRYPTION_KEY")) refuse("ENCRYPTION_KEY", data.ENCRYPTION_KEY, "");
  if (config.bodyMemory < 2 * config.bodyLimit) {
    note("BODY_MEMORY", `BODY_MEMORY must be at least twice BODY_LIMIT (they are ${config.bodyMemory} and ${config.bodyLimit} bytes)`);
  }
  if (config.adminPort !== null && config.adminPort === config.port) refuse("ADMIN_PORT", listening.ADMIN_PORT, `${config.adminPort}`);
}

function unknownProfile(profile: string): string {
  const meant = nearest(profile, agentProfiles);
  const hint = meant === undefined ? "" : `; did you mean ${meant}?`;
  return `AGENT_PROFILES names the profile ${profile}, which is none of ${agentProfiles.join(", ")}${hint}`;
}

/** Tokens, codes and sessions travel there: in clear only within this machine (contract/oauth.md 12, RFC 6749 3.1, 3.2). */
function isProtected(url: string): boolean {
  if (!URL.canParse(url)) return true; // refused already
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/** A name that an e-mail address can have; a number is none. */
function domainOf(url: string): string {
  const host = URL.canParse(url) ? new URL(url).hostname : "";
  return host === "" || host.length > 200 || isIP(host.replace(/^\[|\]$/g, "")) > 0 ? "localhost" : host;
}

/** An address that means every address of the machine is none to call. */
function defaultBaseUrl(host: string, port: number): string {
  const named = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${isIPv6(named) ? `[${named}]` : named}:${port}`;
}

function deepFreeze<T extends object>(value: T): Readonly<T> {
  for (const part of Object.values(value)) if (typeof part === "object" && part !== null) deepFreeze(part);
  return Object.freeze(value);
}
