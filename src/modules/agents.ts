import { RefusedDestination } from "../adapters/egress/agent.ts";
import { fetchFile } from "../adapters/egress/fetch-file.ts";
import { guardedFetch } from "../adapters/egress/guarded-fetch.ts";
import { lazy } from "../async/lazy.ts";
import { findPackage } from "../async/optional-packages.ts";
import { a2aName, isA2aAgent, isModelAgent, modelName } from "../config/agent-profiles.ts";
import type { ModelConfig } from "../config/models.ts";
import { currentName, isBuiltIn } from "../core/permissions/tool-names.ts";
import { defaultFetch, type FetchPolicy } from "../core/tasks/fetch-policy.ts";
import { publicNames } from "../core/tasks/profile.ts";
import { taskSites } from "../core/websites/website.ts";
import type { Agent, Turn } from "../runtime/agent.ts";
import { requestTools } from "../runtime/agents/model/addresses.ts";
import type { ToolsFor } from "../runtime/agents/model/tool.ts";
import { offlineAgent } from "../runtime/agents/offline/offline.ts";
import { guardedDispatcher, type LiveModels, liveSearch } from "./models.ts";
import type { ProcessContext } from "./process-context.ts";
import { createSiteUrl } from "./sites.ts";

/**
 * The agent of each profile by AGENT_PROFILES; a profile of the public API that is not in it uses the offline
 * agent. Null for profiles of remote workers.
 */
export async function createAgents(
  context: ProcessContext,
  live: LiveModels,
  otherTools: readonly ToolsFor[],
): Promise<(profile: string) => Agent | null> {
  const [ofModel, others] = await Promise.all([modelAgents(context, live, otherTools), a2aAgents(context)]);
  return (profile) => {
    const name = live.agentProfiles[profile] ?? (publicNames.includes(profile) ? "offline" : null);
    if (name === null) return missingAgent;
    if (name === "remote") return null;
    if (isA2aAgent(name)) return others.get(a2aName(name)) ?? missingAgent;
    const model = isModelAgent(name) ? live.models[modelName(name)] : undefined;
    return model ? ofModel(model) : offlineAgent;
  };
}

/** For tasks of a profile that AGENT_PROFILES has no more. */
const missingAgent: Agent = async function* ({ profile }) {
  return {
    kind: "fail",
    errorType: "internal",
    content: `The profile ${profile} no longer exists. Send a message with another agent_profile.`,
  };
};

/** The most bytes that an agent of another system sends in a run. */
const a2aBytesMax = 256 * 1_048_576;

/** The agents of other systems. Their client is loaded only if one is configured. */
async function a2aAgents({ config, clock, resolve }: ProcessContext): Promise<ReadonlyMap<string, Agent>> {
  const agents = Object.entries(config.a2aAgents);
  if (agents.length === 0) return new Map();
  const [{ a2aAgent }, { AgentFault }] = await Promise.all([
    import("../runtime/agents/a2a/a2a.ts"),
    import("../runtime/agents/a2a/fault.ts"),
  ]);
  const fetchOne = fetchFile(config.fetchAllow, clock, resolve);
  return new Map(
    agents.map(([name, { allow, ...agent }]) => {
      const connect = (accountId: string, signal: AbortSignal) => {
        const guarded = guardedFetch(allow, resolve, {
          bytesMax: a2aBytesMax,
          accountId,
          signal,
          onTooMuch: () => undefined,
        });
        const refused = (thrown: unknown) => {
          const isRefused = [thrown, thrown instanceof Error ? thrown.cause : undefined].some(
            (fault) => fault instanceof RefusedDestination,
          );
          if (!isRefused) throw thrown;
          throw new AgentFault("its address is not public, and `allow` does not have it", { isLost: false });
        };
        return {
          ...guarded,
          fetch: (url: string, init: RequestInit) => guarded.fetch(url, init).catch(refused),
        };
      };
      return [name, a2aAgent({ ...agent, name, connect, fetchFile: fetchOne })];
    }),
  );
}

/** The agent of a model. The SDKs of models are loaded when one is first needed. */
async function modelAgents(
  context: ProcessContext,
  live: LiveModels,
  otherTools: readonly ToolsFor[],
): Promise<(model: ModelConfig) => Agent> {
  const { config, log } = context;
  const known = new WeakMap<ModelConfig, Agent>();
  const parts = lazy(() => loadParts(context, live, otherTools));
  const inFile = Object.entries(config.models);
  if (inFile.length > 0) {
    const { byDefault } = await parts();
    const open = inFile.flatMap(([name, { fetch }]) => (fetch === null ? [name] : []));
    if (byDefault === "allow" && open.length > 0) log("warn", fetchWarning, { models: open });
    warnOfOldTools(context);
  }
  return (model) => {
    const agent = known.get(model) ?? loadedAgent(async () => (await parts()).agentOf(model));
    known.set(model, agent);
    return agent;
  };
}

/** An agent that is loaded for each turn. */
const loadedAgent = (load: () => Promise<Agent>): Agent =>
  Object.assign(
    async function* (turn: Turn) {
      return yield* (await load())(turn);
    },
    { reserves: true } as const,
  );

async function loadParts(context: ProcessContext, live: LiveModels, otherTools: readonly ToolsFor[]) {
  const {
    random,
    log,
    observe,
    cipher,
    config: { dataDir },
  } = context;
  const [{ modelAgent }, { imageShower }, { languageModel }, byDefault, toolsFor] = await Promise.all([
    import("../runtime/agents/model/model.ts"),
    import("../runtime/agents/model/images/show.ts"),
    import("../runtime/agents/model/provider.ts"),
    defaultFetch(context.store),
    createTools(context, live, otherTools),
  ]);
  const showImages = imageShower(() => findPackage("@napi-rs/canvas", dataDir));
  const mac = cipher.createMac("data mark");
  const markOf = (taskId: string) =>
    Buffer.from(mac(taskId)).toString("base64url").replaceAll(/[-_]/g, "x").slice(0, 12);
  const guarded = lazy(() => guardedDispatcher(context));
  const open = (config: ModelConfig) => ({
    config,
    model: languageModel(config, dataDir, config.isGuarded ? guarded() : undefined),
  });
  const findModel = (name: string) => (live.models[name] ? open(live.models[name]) : undefined);
  function agentOf(config: ModelConfig): Agent {
    const policy = {
      mode: config.fetch ?? byDefault,
      hosts: config.fetchHosts,
      isSet: config.fetch !== null,
    };
    const permitted = permittedTools(config, policy, toolsFor);
    const environment = { policy, toolsFor: permitted, showImages, findModel, markOf, random, log, observe };
    return modelAgent({ ...open(config), ...environment });
  }
  return { agentOf, byDefault };
}

function warnOfOldTools({ config, log }: ProcessContext): void {
  for (const [model, { withoutTools }] of Object.entries(config.models))
    for (const tool of withoutTools)
      if (currentName(tool) !== tool)
        log("warn", "without_tools in MODELS_FILE names a tool that was replaced: write its new name", {
          model,
          tool,
          now: currentName(tool),
        });
}

const fetchWarning =
  "agents of these models may send requests to every address without an approval, as before 0.2.0: set fetch in MODELS_FILE to ask or allow";

/**
 * The tools of a turn, without those that are withheld from the model, and without pages where it may send no
 * request.
 */
const permittedTools =
  ({ withoutTools }: ModelConfig, { mode }: FetchPolicy, toolsFor: ToolsFor): ToolsFor =>
  (turn) =>
    toolsFor(turn).filter(
      ({ name }) =>
        (!isBuiltIn(name) || (turn.tools?.includes(name) ?? true)) &&
        !withoutTools.some((withheld) => currentName(withheld) === name) &&
        (mode !== "off" || !requestTools.includes(name)),
    );

/** The tools of model agents. A built-in tool takes precedence over one of `others` with the same name. */
async function createTools(
  { config, store, clock, random, resolve, log }: ProcessContext,
  live: Pick<LiveModels, "searches">,
  others: readonly ToolsFor[],
): Promise<ToolsFor> {
  const { modelTools } = await import("../runtime/agents/model/tools/tools.ts");
  const builtIn = modelTools({
    fetchFile: fetchFile(config.fetchAllow, clock, resolve),
    searchWeb: liveSearch(config, live, clock),
    sandbox: config.sandbox,
    siteOf: taskSites(store, createSiteUrl(config), random),
    log,
  });
  return (turn) => [...others.flatMap((tools) => tools(turn)), ...builtIn(turn)];
}
