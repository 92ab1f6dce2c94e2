import { isIP, isIPv6 } from "node:net";
import { join } from "node:path";
import { readA2aAgents } from "./a2a-agents.ts";
import { readAdmin } from "./admin.ts";
import type { ProfileAgent } from "./agent-profiles.ts";
import { readBucket } from "./bucket.ts";
import { readModels } from "./models.ts";
import { addresses, listening, outgoing } from "./network.ts";
import { readPdf } from "./pdf.ts";
import { permissions } from "./permissions.ts";
import { prices } from "./prices.ts";
import { chooseRateFactor } from "./rate-factor.ts";
import { retention } from "./retention.ts";
import { checkTogether } from "./rules.ts";
import { readSandbox } from "./sandbox.ts";
import { readSearch } from "./search.ts";
import type { Config } from "./shape.ts";
import { isLoopback, readPeople, teams } from "./sign-in.ts";
import { console, sites } from "./sites.ts";
import { collectSettings, type Settings, settingNamesOf } from "./sources.ts";
import { readTranscription } from "./speech.ts";
import { data, files } from "./storage.ts";
import { readTelemetry, telemetry } from "./telemetry.ts";
import { ConfigError, findMisspelt, type Reader, settingsReader, type Variable } from "./variable.ts";
import { variableGroups } from "./variables.ts";
import { a2a, agents, callLimits, oauth, processing, responses } from "./work.ts";

export type { Config } from "./shape.ts";
export { ConfigError } from "./variable.ts";

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
  const config = {
    ...parts,
    rateFactor: parts.rateFactor === "auto" ? chooseRateFactor(parts) : parts.rateFactor,
  };
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

/**
 * All settings in the order of `docs/reference/configuration.md`. Values are not checked, and those of
 * secrets are left out.
 */
export function showSettings(env: Settings): readonly ShownSetting[] {
  const { values, inFile } = collectSettings(env, variables);
  return Object.entries(variables).map(([name, { secret = false, fallback }]) => {
    const value = values[name] || undefined;
    const source = value === undefined ? "default" : inFile.has(name) ? "file" : "environment";
    return { name, value: secret ? null : (value ?? fallback), isSecret: secret, source };
  });
}

/** Warnings about unknown variables that look like misspelt settings. Values are not shown. */
export const findMisspeltSettings = (
  env: Readonly<Record<string, string | undefined>> = process.env,
): readonly string[] => findMisspelt(Object.keys(env), settingNames);

const variables: Readonly<Record<string, Variable<unknown>>> = Object.assign(
  {},
  ...Object.values(variableGroups),
);

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
    modelAllow: targets.MODEL_ALLOW ?? (isLoopback(server.HOST) ? [{ kind: "loopback" as const }] : []),
    connectorCommands: targets.CONNECTOR_COMMANDS ?? {},
  };
}

function storage(reader: Reader) {
  const [values, kept] = [reader.read(data), reader.read(retention)];
  const chosenUrl = values.DATABASE_URL ?? `file:${join(values.DATA_DIR, "platform.db")}`;
  const [databaseUrl, poolerUrl] =
    values.DATABASE_DIRECT_URL === null ? [chosenUrl, null] : [values.DATABASE_DIRECT_URL, chosenUrl];
  if (poolerUrl?.startsWith("file:"))
    reader.noteProblem(
      "DATABASE_DIRECT_URL",
      "DATABASE_DIRECT_URL needs a DATABASE_URL that begins with postgresql://, the address of a pooler",
    );
  if (values.DATABASE_READ_URL !== null && databaseUrl.startsWith("file:"))
    reader.noteProblem(
      "DATABASE_READ_URL",
      "DATABASE_READ_URL needs a DATABASE_URL that begins with postgresql://",
    );
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
    ...profilesIn(runs.AGENT_PROFILES ?? {}),
    models: readModels(reader),
    a2aAgents: readA2aAgents(reader),
    transcription: readTranscription(reader),
    search: readSearch(reader),
    pdf: readPdf(reader),
    permissions: read(permissions).PERMISSIONS,
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

const profilesIn = (
  agents: Readonly<Record<string, ProfileAgent>>,
): Pick<Config, "agentProfiles" | "profileLabels"> => ({
  agentProfiles: Object.fromEntries(Object.entries(agents).map(([profile, { agent }]) => [profile, agent])),
  profileLabels: Object.fromEntries(
    Object.entries(agents).flatMap(([profile, { labels }]) =>
      labels.length === 0 ? [] : [[profile, labels]],
    ),
  ),
});

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
