import { hkdfSync } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { type Config, loadConfig, showSettings } from "../../config/config.ts";
import { isLoopback } from "../../config/sign-in.ts";
import type { Settings } from "../../config/sources.ts";
import { ConfigError, type Problem } from "../../config/variable.ts";
import { isTestFolder } from "../../store/folder.ts";
import { makeTestFolder } from "./folder.ts";

/** Settings that reach other systems or other data. A test server has none of them. */
const refused = [
  "DATABASE_URL",
  "DATABASE_DIRECT_URL",
  "DATABASE_READ_URL",
  "ENCRYPTION_KEY",
  "ENCRYPTION_KEY_PREVIOUS",
  "S3_BUCKET",
  "TRUST_PROXY",
  "SMTP_URL",
  "OIDC_ISSUER",
  "MODELS_FILE",
  "A2A_AGENTS_FILE",
  "TRANSCRIBE_URL",
  "SEARCH_URL",
  "SEARCH_PROVIDER",
  "SITES_DOMAIN",
  "CONNECTOR_COMMANDS",
  "SANDBOX_COMMAND",
  "OTEL_EXPORTER_OTLP_ENDPOINT",
];
/** Receivers, files and connectors of a test are on this machine. */
const reached = ["WEBHOOK_ALLOW", "FETCH_ALLOW", "CONNECTOR_ALLOW"];
/** The addresses of the server, each on this machine. */
const addressed = ["BASE_URL", "CONSENT_URL", "APP_URL"];

/** The settings of a test server, and its data folder. */
export interface TestSettings {
  readonly config: Config;
  /** Removes the folder at the end, if its place was not chosen by DATA_DIR. */
  readonly remove: () => void;
}

/**
 * Reads the settings for test mode and makes the data folder.
 *
 * @param seed decides ids, keys and the encryption key; the same seed gives the same ones.
 * @throws ConfigError with every setting that test mode refuses, before anything is made.
 */
export async function readTestSettings(env: Settings, seed: string): Promise<TestSettings> {
  const shown = showSettings(env);
  const given = new Map(
    shown.filter(({ source }) => source !== "default").map(({ name, value }) => [name, value]),
  );
  const problems = [...environmentProblems(env), ...settingProblems(given)];
  if (problems.length > 0) throw new ConfigError(problems);
  const dataDir = given.get("DATA_DIR") ?? null;
  const overrides = {
    DRAIN_SECONDS: given.get("DRAIN_SECONDS") ?? "1",
    ATP_BUILD_DOCS: "",
    ...Object.fromEntries(
      reached.map((name) => [name, [given.get(name), "loopback"].filter((text) => text != null).join(",")]),
    ),
    ENCRYPTION_KEY: Buffer.from(hkdfSync("sha256", seed, "", "encryption key", 32)).toString("base64"),
  };
  // Every other problem is found before the folder is made.
  const { host, port, admin } = loadConfig({ ...env, ...overrides });
  checkHost({ host, admin });
  const own = port === 0 ? { PORT: String(await freePort(host)) } : {};
  const folder = makeTestFolder(dataDir);
  return {
    config: loadConfig({ ...env, ...overrides, ...own, DATA_DIR: folder.path }),
    remove: folder.remove,
  };
}

const problem = (variable: string, text: string): Problem => ({ variable, text: `${variable}: ${text}` });

function environmentProblems(env: Settings): Problem[] {
  return env["NODE_ENV"] === "production"
    ? [problem("NODE_ENV", "test mode does not start with production: leave out --test")]
    : [];
}

function settingProblems(given: ReadonlyMap<string, string | null>): Problem[] {
  const others = refused.filter((name) => given.has(name));
  const foreign = addressed.filter((name) => !isOwnUrl(given.get(name) ?? null));
  const dataDir = given.get("DATA_DIR") ?? null;
  return [
    ...others.map((name) =>
      problem(
        name,
        "a test server reaches no other system and makes its own data: unset it, or leave out --test",
      ),
    ),
    ...foreign.map((name) =>
      problem(name, "in test mode the address must be of this machine, such as http://127.0.0.1:8080"),
    ),
    ...(dataDir !== null && !isTestFolder(dataDir, { orFree: true })
      ? [
          problem(
            "DATA_DIR",
            "in test mode the folder must not exist, or be one that --test has made: choose another one, or unset it",
          ),
        ]
      : []),
  ];
}

const isOwnUrl = (url: string | null): boolean =>
  url === null || (URL.canParse(url) && isLoopback(new URL(url).hostname));

/** Only an address counts: a name could be that of another machine. */
function checkHost({ host, admin }: Pick<Config, "host" | "admin">): void {
  const problems = [
    ...(isLoopback(host)
      ? []
      : [problem("HOST", "test mode listens on this machine only, such as 127.0.0.1")]),
    ...(admin === null || admin.isLocal
      ? []
      : [problem("ADMIN_HOST", "test mode listens on this machine only, such as 127.0.0.1")]),
  ];
  if (problems.length > 0) throw new ConfigError(problems);
}

/** The addresses in answers have the port, so it is chosen before the start. */
async function freePort(host: string): Promise<number> {
  const server = createServer();
  await once(server.listen({ host, port: 0 }), "listening");
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  server.close();
  await once(server, "close");
  return port;
}

export const databasePath = ({ dataDir }: Pick<Config, "dataDir">): string => join(dataDir, "platform.db");
