import { ConfigError } from "../../src/config/variable.ts";
import { openTestMode, type TestFlags } from "../../src/modules/test-mode/open.ts";
import { firstKeys } from "../../src/start/first-key.ts";
import { type Ambient, openInstallation } from "../../src/start/installation.ts";
import { startPlatform } from "../../src/start/platform.ts";
import { type Calling, callingWith, type LogLine, newPerson, type Service } from "../support/service.ts";

/** A server of `atp serve --test` in this process. */
export interface TestModeServer extends Calling, AsyncDisposable, Pick<Service, "store" | "person"> {
  readonly url: string;
  readonly key: string;
  readonly databaseUrl: string;
  /** Warnings and errors of its log. */
  readonly problems: readonly LogLine[];
}

export async function startTestMode(
  flags: TestFlags = {},
  env: Readonly<Record<string, string>> = {},
): Promise<TestModeServer> {
  const server = await openTestMode({ PORT: "0", DRAIN_SECONDS: "1", ...env }, flags);
  const problems: LogLine[] = [];
  const log: Ambient["log"] = (level, text, fields = {}) =>
    void (level === "warn" || level === "error" ? problems.push({ level, text, fields }) : 0);
  const ambient: Ambient = { ...server.ambient, log };
  const first = firstKeys({ ...server.config, ...ambient, now: ambient.clock.now });
  const { store, cipher } = await openInstallation(server.config, ambient, first.create);
  await server.open();
  const platform = await startPlatform(server.config, store, cipher, ambient);
  await server.keep();
  const key = server.key();
  return {
    ...callingWith({ "x-service-api-key": key }, () => platform.baseUrl),
    url: platform.baseUrl,
    databaseUrl: server.config.databaseUrl,
    store,
    person: (options) =>
      newPerson(
        store,
        { ...ambient, next: () => platform.baseUrl, consentUrl: server.config.consentUrl },
        options,
      ),
    key,
    problems,
    async [Symbol.asyncDispose]() {
      await platform.drain();
      await store.close();
      await server.close();
    },
  };
}

/**
 * What test mode says about an environment that it refuses, one sentence for each setting; empty when it
 * starts.
 */
export async function refusalsOf(env: Readonly<Record<string, string>>): Promise<readonly string[]> {
  try {
    await (await openTestMode({ PORT: "0", ...env }, {})).close();
    return [];
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown;
    return thrown.problems.map(({ text }) => text);
  }
}
