import { guardedAgent } from "../adapters/egress/agent.ts";
import { searchWeb } from "../adapters/search/search.ts";
import { mutex } from "../async/limit.ts";
import { poll } from "../async/poll.ts";
import type { AgentName } from "../config/agent-profiles.ts";
import { isModelAgent, modelName } from "../config/agent-profiles.ts";
import type { Config } from "../config/config.ts";
import { type ModelConfig, readEntry } from "../config/models.ts";
import { readPrice } from "../config/prices.ts";
import { readSearchEntry, type SearchConfig, type SearchEntry } from "../config/search.ts";
import type { Clock } from "../core/clock.ts";
import type { SearchWeb } from "../core/files/search-web.ts";
import { type ModelSecrets, openModelSecrets, type StoredModel } from "../core/installation/models.ts";
import type { JsonObject } from "../core/json.ts";
import { publicNames } from "../core/tasks/profile.ts";
import type { ProcessContext } from "./process-context.ts";

/** Every process knows a change after this long at most, and the time of a read. */
const lookMs = 3_000;

type FileTables = Pick<Config, "models" | "agentProfiles" | "prices">;

interface Tables extends FileTables {
  /** The search services that operators have set. */
  readonly searches: Readonly<Record<string, SearchEntry>>;
}

/**
 * The models of this process: those of MODELS_FILE, and those that operators have set. Its members always
 * have the present values: keep no copy of them.
 */
export interface LiveModels extends Tables {
  /** What holds with these stored models. */
  with(stored: readonly StoredModel[]): Tables;
  /** Reads the stored models again. */
  refresh(): Promise<void>;
  /** Reads them now and every 3 seconds; the returned function ends it. */
  follow(): Promise<() => Promise<void>>;
}

/** The profiles that a stored model can serve. */
export const freeProfiles = ({ agentProfiles }: Pick<Config, "agentProfiles">): readonly string[] =>
  publicNames.filter((profile) => !Object.hasOwn(agentProfiles, profile));

export function liveModels(context: ProcessContext): LiveModels {
  const { config, store, clock, log, observe } = context;
  const open = storedModels(context);
  const oneByOne = mutex();
  const live = tablesOf(config, []);
  observe.servedBy(live.agentProfiles);

  const withStored = (stored: readonly StoredModel[]) =>
    tablesOf(
      config,
      stored.flatMap((row) => {
        const model = open(row);
        return model ? [[row, model] as const] : [];
      }),
    );
  const refresh = () =>
    oneByOne(async () => {
      const now = withStored(await store.models.list());
      replaceAll(live.models, now.models);
      replaceAll(live.agentProfiles, now.agentProfiles);
      replaceAll(live.prices, now.prices);
      replaceAll(live.searches, now.searches);
    });
  return {
    ...live,
    with: withStored,
    refresh,
    async follow() {
      await refresh();
      const over = new AbortController();
      const polls = poll(clock, lookMs, over.signal, log, refresh, "the look for models");
      return async () => {
        over.abort();
        await polls;
      };
    },
  };
}

type Mutable<T> = { -readonly [K in keyof T]: { -readonly [N in keyof T[K]]: T[K][N] } };

/** Those of the file win over stored ones, and AGENT_PROFILES and PRICES over what is stored with them. */
function tablesOf(
  config: FileTables,
  stored: readonly (readonly [StoredModel, ModelConfig | SearchEntry])[],
): Mutable<Tables> {
  const isUsed = ({ name }: StoredModel) => !Object.hasOwn(config.models, name);
  const used = stored.flatMap(([row, model]) =>
    isUsed(row) && !isSearch(model) ? [[row, model] as const] : [],
  );
  const served = used.flatMap(([row]) =>
    freeProfiles(config).flatMap((profile) =>
      row.profiles.includes(profile) ? [[profile, row] as const] : [],
    ),
  );
  return {
    searches: Object.fromEntries(
      stored.flatMap(([row, model]) => (isUsed(row) && isSearch(model) ? [[row.name, model]] : [])),
    ),
    models: { ...Object.fromEntries(used.map(([{ name }, model]) => [name, model])), ...config.models },
    agentProfiles: {
      ...Object.fromEntries(served.map(([profile, { name }]) => [profile, `model:${name}` as AgentName])),
      ...config.agentProfiles,
    },
    prices: {
      ...Object.fromEntries(
        served.flatMap(([profile, { price }]) => (price ? [[profile, readPrice(price)] as const] : [])),
      ),
      ...config.prices,
    },
  };
}

function replaceAll<T>(target: Record<string, T>, source: Readonly<Record<string, T>>): void {
  for (const name of Object.keys(target)) if (!Object.hasOwn(source, name)) delete target[name];
  Object.assign(target, source);
}

/** The configuration of a stored model: the same object while its row is the same. Null for one that breaks a rule. */
function storedModels({
  cipher,
  log,
}: ProcessContext): (row: StoredModel) => ModelConfig | SearchEntry | null {
  const known = new Map<string, { readonly version: string; readonly model: ReturnType<typeof open> }>();
  function open(row: StoredModel): ModelConfig | SearchEntry | null {
    try {
      return readAny(row.entry, openModelSecrets(cipher, row), (path, rule) => new Error(`${path}: ${rule}`));
    } catch (cause) {
      log("error", "a stored model cannot be used: set it again", { model: row.name, cause });
      return null;
    }
  }
  return (row) => {
    const version = JSON.stringify([row.entry, row.secrets && Buffer.from(row.secrets).toString("base64")]);
    const before = known.get(row.name);
    if (before?.version === version) return before.model;
    const model = open(row);
    known.set(row.name, { version, model });
    return model;
  };
}

export const isSearch = (model: object): model is SearchEntry => "provider" in model;

/** Reads an entry of a model, or of a search service. @throws what `refuse` throws. */
export function readAny(
  entry: JsonObject,
  { apiKey, headers }: ModelSecrets,
  refuse: (path: string, rule: string) => Error,
): ModelConfig | SearchEntry {
  const read = entry["api"] === "search" ? readSearchEntry : readEntry;
  return read({ ...entry, headers }, apiKey, refuse);
}

/** The model of a profile; undefined when its agent uses none. */
export function modelOf(
  { agentProfiles, models }: Pick<Tables, "agentProfiles" | "models">,
  profile: string,
): ModelConfig | undefined {
  const agent = agentProfiles[profile];
  return agent !== undefined && isModelAgent(agent) ? models[modelName(agent)] : undefined;
}

/** The connections to a model that an operator has set by a call: to public addresses and those of MODEL_ALLOW. */
export const guardedDispatcher = ({ config, resolve }: Pick<ProcessContext, "config" | "resolve">) =>
  guardedAgent({
    reach: { ports: [443], plain: false, allowed: config.modelAllow },
    resolve,
    by: { accountId: "models", signal: new AbortController().signal },
    isPatient: true,
  });

/** The search of the settings, otherwise the first one with a key that an operator has set; null without one. */
export function liveSearch(
  { search }: Pick<Config, "search">,
  live: Pick<LiveModels, "searches">,
  clock: Clock,
): () => SearchWeb | null {
  const known = new WeakMap<SearchConfig, SearchWeb>();
  return () => {
    const service = search ?? Object.values(live.searches).find(({ key }) => key !== null);
    if (!service) return null;
    const opened = known.get(service) ?? searchWeb(service, clock);
    known.set(service, opened);
    return opened;
  };
}
