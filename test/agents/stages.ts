import { systemIds } from "../../src/core/ids.ts";
import type { Agent } from "../../src/runtime/agent.ts";
import { modelAgent } from "../../src/runtime/agents/model/model.ts";
import { languageModel } from "../../src/runtime/agents/model/provider.ts";
import { offlineAgent } from "../../src/runtime/agents/offline/offline.ts";
import { openLease } from "../../src/runtime/lease.ts";
import { startRuns } from "../../src/runtime/runs.ts";
import { configOf } from "../runtime/model/model-run.ts";
import { agentFiles } from "../support/agent-files.ts";
import { cipher } from "../support/cipher.ts";
import { type ModelApi, openModelServer } from "../support/model/server.ts";
import type { TaskRig } from "../support/task-rig.ts";
import { handOf } from "../workers/worker-rig.ts";
import { repliesOf, toolsOf } from "./model-actor.ts";
import { directivesOf, gatedClock } from "./offline-actor.ts";
import { work } from "./remote-actor.ts";
import { type Act, type Gate, gate, type Script } from "./script.ts";

/** An agent that is ready to do as a script has it. */
export interface Stage extends AsyncDisposable {
  /** The message that begins a turn. */
  readonly message: (acts: readonly Act[]) => string;
  /** The tools of which it tells by itself that they wait: once more than the others, for each approval. */
  readonly tellsPending: ReadonlySet<string>;
  readonly gate: Gate;
}

export type AgentName = "offline" | "remote" | `model (${ModelApi})`;

/** Sets an agent to a script, over a platform that runs nothing itself. */
export function stageOf(agent: AgentName, rig: TaskRig, script: Script): Promise<Stage> {
  if (agent === "offline") return offlineStage(rig);
  return agent === "remote" ? remoteStage(rig, script) : modelStage(agent === "model (openai)" ? "openai" : "anthropic", rig, script);
}

const plain = (): string => "Go on";

async function offlineStage(rig: TaskRig): Promise<Stage> {
  const own = gate();
  const runner = await startRunner(rig, offlineAgent, own);
  return { message: directivesOf, tellsPending: new Set(), gate: own, ...runner };
}

async function modelStage(api: ModelApi, rig: TaskRig, { turns }: Script): Promise<Stage> {
  const own = gate();
  const server = await openModelServer(api, repliesOf(turns));
  const config = configOf(api, server);
  const tools = toolsOf(() => own);
  const random = (bytes: number) => new Uint8Array(bytes);
  const agent = modelAgent({ config, model: languageModel(config), toolsFor: () => tools, random, log: () => undefined });
  const runner = await startRunner(rig, agent, own);
  return {
    message: plain,
    tellsPending: new Set(tools.map(({ name }) => name)),
    gate: own,
    async [Symbol.asyncDispose]() {
      await runner[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

async function remoteStage(rig: TaskRig, { turns }: Script): Promise<Stage> {
  const own = gate();
  const gone = new AbortController();
  const hand = await handOf(rig.service, rig.ann);
  const working = work(hand, turns, own, gone.signal);
  return {
    message: plain,
    tellsPending: new Set(),
    gate: own,
    async [Symbol.asyncDispose]() {
      gone.abort();
      await working;
    },
  };
}

/** Runs tasks beside a platform with an agent of the test's. */
async function startRunner({ service: { store } }: TaskRig, agent: Agent, own: Gate): Promise<AsyncDisposable> {
  const clock = gatedClock(() => own);
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
