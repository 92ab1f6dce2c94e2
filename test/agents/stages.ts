import { systemIds } from "../../src/core/ids.ts";
import type { Agent } from "../../src/runtime/agent.ts";
import { modelAgent } from "../../src/runtime/agents/model/model.ts";
import { languageModel } from "../../src/runtime/agents/model/provider.ts";
import { offlineAgent } from "../../src/runtime/agents/offline/offline.ts";
import { openLease } from "../../src/runtime/lease.ts";
import { startRuns } from "../../src/runtime/runs.ts";
import { anyRequest, configOf, plainImages } from "../runtime/model/model-run.ts";
import { agentFiles } from "../support/agent-files.ts";
import { cipher } from "../support/cipher.ts";
import { type ModelApi, openModelServer } from "../support/model/server.ts";
import type { TaskRig } from "../support/task-rig.ts";
import { createWorker } from "../workers/worker-rig.ts";
import { repliesOf, toolsOf } from "./model-actor.ts";
import { directivesOf, gatedClock } from "./offline-actor.ts";
import { runScript } from "./remote-actor.ts";
import { type Act, type Gate, gate, type Script } from "./script.ts";

/** An agent that is ready to follow a script. */
export interface ScriptedAgent extends AsyncDisposable {
  /** The message that begins a turn. */
  readonly message: (acts: readonly Act[]) => string;
  /** The tools whose waiting it reports itself: one event more than other agents, for each approval. */
  readonly reportsPending: ReadonlySet<string>;
  readonly gate: Gate;
}

export type AgentName = "offline" | "remote" | `model (${ModelApi})`;

/** Prepares an agent for a script, over a platform that runs no tasks itself. */
export function openScriptedAgent(agent: AgentName, rig: TaskRig, script: Script): Promise<ScriptedAgent> {
  if (agent === "offline") return offlineStage(rig);
  return agent === "remote"
    ? remoteStage(rig, script)
    : modelStage(agent === "model (openai)" ? "openai" : "anthropic", rig, script);
}

const plain = (): string => "Go on";

async function offlineStage(rig: TaskRig): Promise<ScriptedAgent> {
  const turnGate = gate();
  const runner = await startRunner(rig, offlineAgent, turnGate);
  return { message: directivesOf, reportsPending: new Set(), gate: turnGate, ...runner };
}

async function modelStage(api: ModelApi, rig: TaskRig, { turns }: Script): Promise<ScriptedAgent> {
  const turnGate = gate();
  const server = await openModelServer(api, repliesOf(turns));
  const config = configOf(api, server);
  const tools = toolsOf(() => turnGate);
  const random = (bytes: number) => new Uint8Array(bytes);
  const agent = modelAgent({
    config,
    policy: anyRequest,
    model: languageModel(config, "/nowhere"),
    toolsFor: () => tools,
    showImages: plainImages,
    random,
    markOf: () => "mark",
    log: () => undefined,
  });
  const runner = await startRunner(rig, agent, turnGate);
  return {
    message: plain,
    reportsPending: new Set(tools.map(({ name }) => name)),
    gate: turnGate,
    async [Symbol.asyncDispose]() {
      await runner[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

async function remoteStage(rig: TaskRig, { turns }: Script): Promise<ScriptedAgent> {
  const turnGate = gate();
  const stop = new AbortController();
  const worker = await createWorker(rig.service, rig.ann);
  const working = runScript(worker, turns, turnGate, stop.signal);
  return {
    message: plain,
    reportsPending: new Set(),
    gate: turnGate,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await working;
    },
  };
}

/** Runs tasks next to a platform, with the test's agent. */
async function startRunner(
  { service: { store } }: TaskRig,
  agent: Agent,
  turnGate: Gate,
): Promise<AsyncDisposable> {
  const clock = gatedClock(() => turnGate);
  const files = agentFiles(store, clock);
  const lease = await openLease(store, clock, systemIds, true);
  const parts = { ...files, store, clock, ids: systemIds, cipher, log: () => undefined };
  const runs = startRuns({ ...parts, lease, concurrency: 4, agentFor: () => agent });
  const forget = store.feed.onJob((kind) => void (kind === "run" && runs.wake()));
  return {
    async [Symbol.asyncDispose]() {
      forget();
      await runs.drain();
      files.remove();
    },
  };
}
