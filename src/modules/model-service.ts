import { checkedAddresses, RefusedDestination } from "../adapters/egress/agent.ts";
import { searchWeb } from "../adapters/search/search.ts";
import type { ModelConfig } from "../config/models.ts";
import { readPrice } from "../config/prices.ts";
import type { SearchEntry } from "../config/search.ts";
import { invalidArgument } from "../core/failure.ts";
import type { ModelSecrets } from "../core/installation/models.ts";
import type { JsonObject } from "../core/json.ts";
import { jsonBytes } from "../core/structured-output/bounds.ts";
import { type ModelHandlerParts, type ModelTest, modelHandlers, type UsedModel } from "../rpc/model.ts";
import { freeProfiles, guardedDispatcher, isSearch, readAny } from "./models.ts";
import type { CreateModule } from "./module.ts";
import type { ProcessContext } from "./process-context.ts";

/** The models of the installation, for operators. */
export const createModels: CreateModule = (context) => ({
  handlers: [modelHandlers(modelParts(context))],
});

const modelParts = (context: Parameters<CreateModule>[0]): ModelHandlerParts => {
  const { config, store, cipher, clock, models } = context;
  return {
    store,
    cipher,
    clock,
    inFile: Object.keys(config.models),
    freeProfiles: freeProfiles(config),
    with(stored) {
      const tables = models.with(stored);
      return { ...tables, models: { ...tables.models, ...tables.searches } };
    },
    refresh: models.refresh,
    readEntry: checkEntry,
    checkPrice(price) {
      try {
        readPrice(price);
      } catch {
        throw invalidArgument("price", "must have at most 100 credits, 1000000 for turn, and three decimals");
      }
    },
    mayReach: (baseUrl, signal) => mayReach(context, baseUrl, signal),
    test: (model, signal) => testModel(context, model, signal),
  };
};

/** The most bytes of an entry with its headers, as JSON. */
const entryMax = 16 * 1024;

function checkEntry(entry: JsonObject, secrets: ModelSecrets): UsedModel {
  if (jsonBytes({ ...entry, headers: secrets.headers }) > entryMax)
    throw invalidArgument("entry", `must have at most ${entryMax} bytes as JSON`);
  return readAny(entry, secrets, (path, rule) =>
    invalidArgument(path === "" ? "entry" : `entry.${path}`, rule),
  );
}

/** False when an address of the host is not allowed. A name without an address passes: each call looks it up. */
async function mayReach(
  { config, resolve }: ProcessContext,
  baseUrl: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { hostname, port, protocol } = new URL(baseUrl);
  const secure = protocol === "https:";
  const to = { port: Number(port) || (secure ? 443 : 80), secure };
  const reach = { ports: [443], plain: false, allowed: config.modelAllow };
  try {
    await checkedAddresses(hostname.replace(/^\[|\]$/g, ""), to, {
      reach,
      resolve,
      by: { accountId: "models", signal },
    });
    return true;
  } catch (thrown) {
    signal.throwIfAborted();
    return !(thrown instanceof RefusedDestination);
  }
}

/** Calls a model. Only classes of failures leave. */
async function testModel(context: ProcessContext, used: UsedModel, signal: AbortSignal): Promise<ModelTest> {
  const { clock } = context;
  if (isSearch(used)) return await testSearch(context, used, signal);
  const config = used as ModelConfig; // Safe cast: all models of the handlers are of `checkEntry` and `with`.
  const startedAt = clock.monotonic();
  const took = () => ({ durationMs: clock.monotonic() - startedAt });
  if (config.isGuarded && !(await mayReach(context, config.baseUrl, signal)))
    return { failure: "address", ...took() };
  const [{ languageModel }, { probeModel }, { toModelFault }] = await Promise.all([
    import("../runtime/agents/model/provider.ts"),
    import("../runtime/agents/model/probe.ts"),
    import("../runtime/agents/model/fault.ts"),
  ]);
  const connections = config.isGuarded ? guardedDispatcher(context) : undefined;
  try {
    const model = languageModel(config, context.config.dataDir, connections);
    return { ...(await probeModel({ config, model, clock, signal })), ...took() };
  } catch (thrown) {
    signal.throwIfAborted();
    const { kind, status } = toModelFault(thrown, clock.now());
    return { failure: kind === "refused_key" ? "key" : kind, status: status ?? 0, ...took() };
  } finally {
    void connections?.destroy();
  }
}

/** Searches once. The adapter says of a failure only that the service does not answer. */
async function testSearch(
  { clock }: ProcessContext,
  search: SearchEntry,
  signal: AbortSignal,
): Promise<ModelTest> {
  const startedAt = clock.monotonic();
  const result = await searchWeb(search, clock)("test", signal).then(
    () => ({ text: true }),
    () => ({ failure: "broken" }),
  );
  return { ...result, durationMs: clock.monotonic() - startedAt };
}
