import type { PermissionRule } from "../core/permissions/rule.ts";
import type { A2aAgentConfig } from "./a2a-agents.ts";
import type { AllowedAddresses } from "./address-range.ts";
import type { AdminConfig } from "./admin.ts";
import type { AgentName } from "./agent-profiles.ts";
import type { Bucket } from "./bucket.ts";
import type { ModelConfig } from "./models.ts";
import type { Prices } from "./prices.ts";
import type { RetentionConfig } from "./retention.ts";
import type { SandboxSettings } from "./sandbox.ts";
import type { SearchConfig } from "./search.ts";
import type { SingleSignOn } from "./sign-in.ts";
import type { TranscriptionConfig } from "./speech.ts";
import type { Network, TelemetryConfig } from "./telemetry.ts";
import type { CallLog } from "./work.ts";

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
  readonly search: SearchConfig | null;
  /**
   * The Chromium that makes PDFs, and the id of its user (null: that of the server); null: no PDFs are made.
   */
  readonly pdf: { path: string; uid: number | null } | null;
  /** The rules of the installation for uses of tools. */
  readonly permissions: readonly PermissionRule[];
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
  /** Those of models that operators set by calls. */
  readonly modelAllow: readonly AllowedAddresses[];
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
  readonly mail: { url: string; from: string; demandTls: boolean } | null;
}
