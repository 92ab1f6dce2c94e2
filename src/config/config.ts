import { isIP, isIPv6 } from "node:net";
import { join } from "node:path";
import { findNearest } from "../core/nearest.ts";
import { isReservedProfile, publicNames } from "../core/tasks/profile.ts";
import { type A2aAgentConfig, readA2aAgents } from "./a2a-agents.ts";
import type { AllowedAddresses } from "./address-range.ts";
import { type AdminConfig, readAdmin } from "./admin.ts";
import { type AgentName, a2aName, isA2aAgent, isModelAgent, modelName, type ProfileAgent } from "./agent-profiles.ts";
import { type Bucket, readBucket } from "./bucket.ts";
import { type ModelConfig, readModels } from "./models.ts";
import { addresses, listening, outgoing } from "./network.ts";
import { readPdf } from "./pdf.ts";
import { type Prices, prices } from "./prices.ts";
import { chooseRateFactor } from "./rate-factor.ts";
import { type RetentionConfig, retention } from "./retention.ts";
import { readSandbox, type SandboxSettings } from "./sandbox.ts";
import { readPeople, type SingleSignOn, teams } from "./sign-in.ts";
import { console, isSameSite, sites } from "./sites.ts";
import { collectSettings, type Settings, settingNamesOf } from "./sources.ts";
import { readTranscription, type TranscriptionConfig } from "./speech.ts";
import { data, files } from "./storage.ts";
import { type Network, readTelemetry, type TelemetryConfig, telemetry } from "./telemetry.ts";
import { ConfigError, findMisspelt, type Reader, settingsReader, type Variable } from "./variable.ts";
import { variableGroups } from "./variables.ts";
import { a2a, agents, type CallLog, callLimits, oauth, processing, responses } from "./work.ts";

export { ConfigError } from "./variable.ts";

/** The validated settings of the environment; `docs/reference/configuration.md` explains each variable. */
export interface Config {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** The port for operators; null: none. */
  readonly admin: AdminConfig | null;
  /** No URL ends with a slash. */
  readonly baseUrl: string;
  readonly consentUrl: string;
  /** Neither CONSENT_URL nor BASE_URL is set: the address is made from HOST and PORT. */
  readonly isAddressGuessed: boolean;
  readonly appUrl: string;
  /** The parent domain of websites; lower case. */
  readonly sitesDomain: string;
  /** Serves the web application. */
  readonly console: boolean;
  /** Builds the site of the documentation: `./atp serve` of a checkout sets it, not an operator. */
  readonly buildsDocs: boolean;
  /** Lower case; null: no header is trusted. */
  readonly trustProxy: string | null;
  readonly corsOrigins: readonly string[];
  /** Answers tell browsers to use https only. Never where CONSENT_URL is http. */
  readonly hsts: boolean;
  /** A URI for reports of vulnerabilities; null: the server's own page. */
  readonly securityContact: string | null;
  /** An absolute path; the folder may not exist yet. */
  readonly dataDir: string;
  /** All processes share this folder. */
  readonly isDataDirShared: boolean;
  readonly database: "sqlite" | "postgresql";
  /** The address where a session has its own connection. */
  readonly databaseUrl: string;
  /** The address of a standby for reads of many rows; null: none. */
  readonly databaseReadUrl: string | null;
  /** The address of a pooler to the same database, for calls and tasks; null: none. */
  readonly poolerUrl: string | null;
  /** 32 bytes in base64; null: the key is in a file in the data folder. */
  readonly encryptionKey: string | null;
  /** 32 bytes in base64: the key that `encryptionKey` replaces, while it is rotated. */
  readonly previousEncryptionKey: string | null;
  /** The bucket for the bytes of files; null: they are in a folder of the data folder. */
  readonly bucket: Bucket | null;
  readonly deletedTaskDays: number;
  /** Exports for a SIEM may include contents. */
  readonly siemPayloads: boolean;
  readonly webhookLogDays: number;
  /** In days; 0: for ever. */
  readonly retention: RetentionConfig;
  /** Lower case. */
  readonly ownerEmail: string;
  /** The factor on every rate limit; null: no rate limits. */
  readonly rateFactor: number | null;
  readonly watchLimit: number;
  /** The form of answers of the Responses API; `auto`: by the header of the key. */
  readonly responsesStatus: "auto" | "openai" | "platform";
  /** The maximum number of open connections. */
  readonly maxConnections: number;
  /** The maximum number of open connections of one address. */
  readonly maxConnectionsPerAddress: number;
  /** The longest time in seconds that a call is held. */
  readonly waitSeconds: number;
  /** Bytes. */
  readonly bodyLimit: number;
  /** Bytes of all request bodies in memory: at least twice `bodyLimit`. */
  readonly bodyMemory: number;
  /** The largest file in bytes. */
  readonly fileLimit: number;
  /** The most bytes of files per account. */
  readonly fileQuota: number;
  /** 0: a repeated refresh is refused. */
  readonly refreshReplaySeconds: number;
  /** The command line may sign in with the browser. */
  readonly cliSignIn: boolean;
  /** Clients can register themselves. */
  readonly registration: boolean;
  /** The profiles with a public card for A2A, the main one first; empty: there are no public cards. */
  readonly a2aProfiles: readonly string[];
  readonly agentProfiles: Readonly<Record<string, AgentName>>;
  /** The labels that a worker needs for the tasks of a profile; profiles without labels are absent. */
  readonly profileLabels: Readonly<Record<string, readonly string[]>>;
  /** By the name that AGENT_PROFILES uses. */
  readonly models: Readonly<Record<string, ModelConfig>>;
  /** Agents of other systems, by the name that AGENT_PROFILES uses. */
  readonly a2aAgents: Readonly<Record<string, A2aAgentConfig>>;
  /** The service that transcribes voice parts; null: they are not transcribed. */
  readonly transcription: TranscriptionConfig | null;
  /** The Chromium that makes PDFs, and the id of its user (null: that of the server); null: no PDFs are made. */
  readonly pdf: { readonly path: string; readonly uid: number | null } | null;
  readonly prices: Prices;
  /** The credits that a run without reservations holds in each budget. */
  readonly budgetStep: number;
  /** The credits reported for a space without a budget. */
  readonly credits: number;
  /** Null: no commands are run. */
  readonly sandbox: SandboxSettings | null;
  readonly runConcurrency: number;
  readonly queueDepth: number;
  readonly webhookAllow: readonly AllowedAddresses[];
  readonly fetchAllow: readonly AllowedAddresses[];
  readonly connectorAllow: readonly AllowedAddresses[];
  readonly clientAllow: readonly AllowedAddresses[];
  /** Programs and their arguments, by the names that connectors use. */
  readonly connectorCommands: Readonly<Record<string, readonly string[]>>;
  readonly role: "api" | "worker" | "all";
  readonly noticeSeconds: number;
  readonly drainSeconds: number;
  readonly logLevel: string;
  readonly callLog: CallLog;
  /** A statement that takes longer is logged; null: none is. */
  readonly slowStatementMs: number | null;
  /** The collector of traces; null: none. */
  readonly telemetry: TelemetryConfig | null;
  /** Callers whose `sampled` flag counts. */
  readonly traceTrust: readonly Network[];
  /** The OpenID Connect provider; null: none. */
  readonly singleSignOn: SingleSignOn | null;
  /** The domain of delegated profiles' addresses; lower case. */
  readonly delegateDomain: string;
  /** People can ask for a sign-in link by mail. */
  readonly signInLinks: boolean;
  /** The mail server for invitations and sign-in links; null: links are printed. */
  readonly mail: { readonly url: string; readonly from: string; readonly demandTls: boolean } | null;
}

/**
 * Reads the configuration from the environment and the files that it names. An empty variable counts as
 * unset; `findMisspeltSettings` names unknown ones that may be mistakes.
 *
 * @throws ConfigError with every problem.
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>> = process.env): Config {
  const { values, problems } = collectSettings(env, variables);
  const reader = settingsReader(values, problems);
  const parts = {
    ...network(reader),
    ...storage(reader),
    ...work(reader),
    ...readPeople(reader),
    buildsDocs: env["ATP_BUILD_DOCS"] === "1",
  };
  const config = { ...parts, rateFactor: parts.rateFactor === "auto" ? chooseRateFactor(parts) : parts.rateFactor };
  checkTogether(config, reader);
  if (reader.problems.length > 0) throw new ConfigError(reader.problems);
  return deepFreeze(config);
}

export interface ShownSetting {
  readonly name: string;
  /** The text of the setting or of its default; null when it has none, and for a secret. */
  readonly value: string | null;
  readonly isSecret: boolean;
  readonly source: "environment" | "file" | "default";
}

/** All settings in the order of `docs/reference/configuration.md`. Values are not checked, and those of secrets are left out. */
export function showSettings(env: Settings): readonly ShownSetting[] {
  const { values, inFile } = collectSettings(env, variables);
  return Object.entries(variables).map(([name, { secret = false, fallback }]) => {
    const value = values[name] || undefined;
    const source = value === undefined ? "default" : inFile.has(name) ? "file" : "environment";
    return { name, value: secret ? null : (value ?? fallback), isSecret: secret, source };
  });
}

/** Warnings about unknown variables that look like misspelt settings. Values are not shown. */
export const findMisspeltSettings = (env: Readonly<Record<string, string | undefined>> = process.env): readonly string[] =>
  findMisspelt(Object.keys(env), settingNames);

const variables: Readonly<Record<string, Variable<unknown>>> = Object.assign({}, ...Object.values(variableGroups));

const settingNames = settingNamesOf(variables);

function network(reader: Reader) {
  const { read, isSet } = reader;
  const [server, urls, targets] = [read(listening), read(addresses), read(outgoing)];
  const baseUrl = urls.BASE_URL ?? defaultBaseUrl(server.HOST, server.PORT);
  const consentUrl = urls.CONSENT_URL ?? baseUrl;
  return {
    host: server.HOST,
    port: server.PORT,
    admin: readAdmin(server, reader),
    maxConnections: server.MAX_CONNECTIONS,
    maxConnectionsPerAddress: server.MAX_CONNECTIONS_PER_ADDRESS,
    baseUrl,
    consentUrl,
    isAddressGuessed: !isSet("CONSENT_URL") && !isSet("BASE_URL"),
    appUrl: urls.APP_URL ?? consentUrl,
    sitesDomain: read(sites).SITES_DOMAIN,
    console: read(console).CONSOLE,
    delegateDomain: read(teams).DELEGATE_DOMAIN ?? domainOf(baseUrl),
    trustProxy: urls.TRUST_PROXY,
    corsOrigins: urls.CORS_ORIGINS ?? [],
    hsts: urls.HSTS && consentUrl.startsWith("https:"),
    securityContact: urls.SECURITY_CONTACT,
    webhookAllow: targets.WEBHOOK_ALLOW ?? [],
    fetchAllow: targets.FETCH_ALLOW ?? [],
    connectorAllow: targets.CONNECTOR_ALLOW ?? [],
    clientAllow: targets.CLIENT_ALLOW ?? [],
    connectorCommands: targets.CONNECTOR_COMMANDS ?? {},
  };
}

function storage(reader: Reader) {
  const [values, kept] = [reader.read(data), reader.read(retention)];
  const chosenUrl = values.DATABASE_URL ?? `file:${join(values.DATA_DIR, "platform.db")}`;
  const [databaseUrl, poolerUrl] = values.DATABASE_DIRECT_URL === null ? [chosenUrl, null] : [values.DATABASE_DIRECT_URL, chosenUrl];
  if (poolerUrl?.startsWith("file:"))
    reader.noteProblem(
      "DATABASE_DIRECT_URL",
      "DATABASE_DIRECT_URL needs a DATABASE_URL that begins with postgresql://, the address of a pooler",
    );
  if (values.DATABASE_READ_URL !== null && databaseUrl.startsWith("file:"))
    reader.noteProblem("DATABASE_READ_URL", "DATABASE_READ_URL needs a DATABASE_URL that begins with postgresql://");
  return {
    dataDir: values.DATA_DIR,
    isDataDirShared: values.DATA_DIR_SHARED,
    database: databaseUrl.startsWith("file:") ? ("sqlite" as const) : ("postgresql" as const),
    databaseUrl,
    poolerUrl,
    databaseReadUrl: values.DATABASE_READ_URL,
    encryptionKey: values.ENCRYPTION_KEY,
    previousEncryptionKey: values.ENCRYPTION_KEY_PREVIOUS,
    bucket: readBucket(reader),
    deletedTaskDays: values.DELETED_TASK_DAYS,
    siemPayloads: values.SIEM_PAYLOADS,
    webhookLogDays: values.WEBHOOK_LOG_DAYS,
    retention: {
      taskDays: kept.TASK_DAYS,
      eventDays: kept.EVENT_DAYS,
      verboseEventDays: kept.VERBOSE_EVENT_DAYS,
      archiveEventDays: kept.ARCHIVE_EVENT_DAYS,
      auditDays: kept.AUDIT_DAYS,
      usageDays: kept.USAGE_DAYS,
    },
    ownerEmail: values.OWNER_EMAIL,
  };
}

function work(reader: Reader) {
  const { read } = reader;
  const [limits, bytes, runs] = [read(callLimits), read(files), read(agents)];
  const [costs, settings] = [read(prices), read(processing)];
  return {
    rateFactor: limits.RATE_LIMITS,
    watchLimit: limits.WATCH_LIMIT,
    waitSeconds: limits.WAIT_SECONDS,
    responsesStatus: read(responses).RESPONSES_STATUS,
    bodyLimit: limits.BODY_LIMIT,
    bodyMemory: limits.BODY_MEMORY,
    fileLimit: bytes.FILE_LIMIT,
    fileQuota: bytes.FILE_QUOTA,
    refreshReplaySeconds: read(oauth).OAUTH_REFRESH_REPLAY_SECONDS,
    cliSignIn: read(oauth).CLI_SIGN_IN,
    registration: read(oauth).OAUTH_REGISTRATION,
    a2aProfiles: publicAgents(reader),
    ...profilesIn(runs.AGENT_PROFILES),
    models: readModels(reader),
    a2aAgents: readA2aAgents(reader),
    transcription: readTranscription(reader),
    pdf: readPdf(reader),
    prices: costs.PRICES,
    budgetStep: costs.BUDGET_STEP,
    credits: costs.CREDITS,
    sandbox: readSandbox(reader),
    runConcurrency: runs.RUN_CONCURRENCY,
    queueDepth: runs.QUEUE_DEPTH,
    role: settings.ROLE,
    noticeSeconds: settings.NOTICE_SECONDS,
    drainSeconds: settings.DRAIN_SECONDS,
    logLevel: settings.LOG_LEVEL,
    callLog: settings.CALL_LOG,
    slowStatementMs: settings.SLOW_STATEMENT_MS || null,
    telemetry: readTelemetry(reader),
    traceTrust: read(telemetry).TRACE_TRUST ?? [],
  };
}

/** The agents with public cards: none without `A2A=on`. */
function publicAgents({ read, require }: Reader): readonly string[] {
  const { A2A, A2A_PROFILES } = read(a2a);
  if (!A2A) return [];
  require(a2a, "A2A_PROFILES");
  return A2A_PROFILES ?? [];
}

/** Checks rules that involve several variables. */
function checkTogether(config: Config, { noteInvalid, require, noteProblem, isSet, isRefused }: Reader): void {
  for (const [name, url] of [
    ["BASE_URL", config.baseUrl],
    ["CONSENT_URL", config.consentUrl],
  ] as const) {
    // A CONSENT_URL that defaults to BASE_URL is reported once. A BASE_URL that is made from HOST is reported as BASE_URL.
    if (!isProtected(url) && (name === "BASE_URL" || isSet(name))) noteInvalid(addresses, name, url);
  }
  const unknown = Object.values(config.agentProfiles).find(
    (agent) => isModelAgent(agent) && !Object.hasOwn(config.models, modelName(agent)),
  );
  if (unknown !== undefined) noteProblem("AGENT_PROFILES", `AGENT_PROFILES names ${unknown}, which MODELS_FILE does not have`);
  const absent = Object.values(config.agentProfiles).find((agent) => isA2aAgent(agent) && !Object.hasOwn(config.a2aAgents, a2aName(agent)));
  if (absent !== undefined) noteProblem("AGENT_PROFILES", `AGENT_PROFILES names ${absent}, which A2A_AGENTS_FILE does not have`);
  for (const profile of Object.keys(config.agentProfiles)) {
    if (isReservedProfile(profile) && !publicNames.includes(profile)) noteProblem("AGENT_PROFILES", reservedProfile(profile));
  }
  const strange = config.a2aProfiles.find((name) => !publicNames.includes(name) && !Object.hasOwn(config.agentProfiles, name));
  if (strange !== undefined) noteProblem("A2A_PROFILES", `A2A_PROFILES names ${strange}, which is not a profile of AGENT_PROFILES`);
  const { sitesDomain, consentUrl } = config;
  if (!isRefused("SITES_DOMAIN") && URL.canParse(consentUrl) && isSameSite(sitesDomain, consentUrl))
    noteInvalid(sites, "SITES_DOMAIN", sitesDomain);
  const onPostgres = config.database === "postgresql";
  if (config.role !== "all" && onPostgres && config.bucket === null && !config.isDataDirShared && !isSet("S3_BUCKET")) {
    const text = `ROLE=${config.role} needs files that all processes can read: set S3_BUCKET, or DATA_DIR_SHARED=true when DATA_DIR is one folder for all processes`;
    noteProblem("DATA_DIR_SHARED", text);
  }
  if (config.role !== "all" && !onPostgres) noteInvalid(processing, "ROLE", config.role);
  if (onPostgres) require(data, "ENCRYPTION_KEY");
  if (!isRefused("BODY_MEMORY", "BODY_LIMIT") && config.bodyMemory < 2 * config.bodyLimit) {
    noteProblem(
      "BODY_MEMORY",
      `BODY_MEMORY must be at least twice BODY_LIMIT (they are ${config.bodyMemory} and ${config.bodyLimit} bytes)`,
    );
  }
  if (!isRefused("PORT") && config.admin?.port === config.port) noteInvalid(listening, "ADMIN_PORT", `${config.port}`);
}

function reservedProfile(profile: string): string {
  const suggestion = findNearest(profile, publicNames);
  const hint = suggestion === undefined ? "" : `; did you mean ${suggestion}?`;
  return `AGENT_PROFILES names the profile ${profile}, a name of the public API that is none of ${publicNames.join(", ")}${hint}`;
}

const profilesIn = (agents: Readonly<Record<string, ProfileAgent>>): Pick<Config, "agentProfiles" | "profileLabels"> => ({
  agentProfiles: Object.fromEntries(Object.entries(agents).map(([profile, { agent }]) => [profile, agent])),
  profileLabels: Object.fromEntries(
    Object.entries(agents).flatMap(([profile, { labels }]) => (labels.length === 0 ? [] : [[profile, labels]])),
  ),
});

/** These URLs carry tokens, codes and sessions: plain http is allowed on this machine only (spec/oauth.md 12, RFC 6749 3.1, 3.2). */
function isProtected(url: string): boolean {
  if (!URL.canParse(url)) return true; // refused already
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}

/** The host if it can be the domain of an e-mail address; an IP address cannot. */
function domainOf(url: string): string {
  const host = URL.canParse(url) ? new URL(url).hostname : "";
  return host === "" || host.length > 200 || isIP(host.replace(/^\[|\]$/g, "")) > 0 ? "localhost" : host;
}

/** The unspecified addresses 0.0.0.0 and :: are not addresses to call. */
function defaultBaseUrl(host: string, port: number): string {
  const named = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${isIPv6(named) ? `[${named}]` : named}:${port}`;
}

function deepFreeze<T extends object>(value: T): Readonly<T> {
  for (const part of Object.values(value)) if (typeof part === "object" && part !== null) deepFreeze(part);
  return Object.freeze(value);
}
