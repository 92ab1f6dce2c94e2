import { afterAll, beforeAll } from "vitest";
import type { ModelConfig } from "../../../src/config/models.ts";
import type { Caller } from "../../../src/core/accounts/caller.ts";
import type { Clock } from "../../../src/core/clock.ts";
import { systemIds } from "../../../src/core/ids.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Store } from "../../../src/core/store.ts";
import { eventId } from "../../../src/core/tasks/event.ts";
import { firstEvents } from "../../../src/core/tasks/lifecycle.ts";
import { taskSteps } from "../../../src/core/tasks/steps.ts";
import type { Task } from "../../../src/core/tasks/task.ts";
import { confirmations } from "../../../src/core/use-cases/confirm-action.ts";
import { schedules } from "../../../src/core/use-cases/manage-schedules.ts";
import { tasks } from "../../../src/core/use-cases/manage-tasks.ts";
import type { Agent } from "../../../src/runtime/agent.ts";
import { modelAgent } from "../../../src/runtime/agents/model/model.ts";
import { languageModel } from "../../../src/runtime/agents/model/provider.ts";
import type { Tool, ToolsFor } from "../../../src/runtime/agents/model/tool.ts";
import { releaseClaim } from "../../../src/runtime/claims.ts";
import { runTask } from "../../../src/runtime/run.ts";
import { ann, putTask } from "../../store/samples.ts";
import { type AgentFiles, agentFiles, filesOver } from "../../support/agent-files.ts";
import { cipher } from "../../support/cipher.ts";
import { claimTasks, unpublished as publishTask } from "../../support/claims.ts";
import { type DatabaseKind, openTestStore, type TestStore } from "../../support/database.ts";
import { checkTask, taskInStore } from "../../support/invariants.ts";
import type { ModelApi, ModelServer } from "../../support/model/server.ts";
import { patientClock } from "../../support/patient-clock.ts";
import { anyRequest, configOf, mark, plainImages } from "./model-run.ts";

const caller: Caller = {
  ...ann,
  role: null,
  locale: "en",
  credential: { kind: "key", keyKind: "general", id: "key", scopes: null },
};

const never = new AbortController().signal;

/** One run of a task. */
interface StoredRun {
  readonly api: ModelApi;
  readonly server: ModelServer;
  readonly tools: readonly Tool[] | ToolsFor;
  readonly config?: Partial<ModelConfig>;
  /** The agent that runs, made of the model agent. */
  readonly agentOf?: (model: Agent) => Agent;
  /** The store of the process that runs it; by default that of the suite. */
  readonly store?: Store;
  readonly signal?: AbortSignal;
}

/** Tasks of the model agent in a real store, whose runs a test begins. */
export interface StoredTasks {
  readonly db: TestStore;
  readonly files: AgentFiles;
  readonly clock: Clock;
  put(members?: Partial<Task>): Promise<string>;
  taskRow(id: string): Promise<Task>;
  send(id: string, text: string): Promise<unknown>;
  /** Decides the pending action. */
  decide(id: string, input: JsonObject): Promise<void>;
  events(id: string): ReturnType<Store["events"]["list"]>;
  /** Claims the task and runs it until it rests, or until its process is lost. */
  run(id: string, how: StoredRun): Promise<void>;
  /** Ends the claim of a lost process. */
  release(id: string): Promise<void>;
  /** The transcript, without times, and what differs between tasks. */
  rowsOf(id: string): Promise<readonly object[]>;
}

/** Opens a store for the tests of a suite. */
export function storedTasks(kind: DatabaseKind, clock: Clock = patientClock()): StoredTasks {
  let open: { readonly db: TestStore; readonly files: AgentFiles } | undefined;
  const opened = () => {
    if (!open) throw new Error("the suite has not begun");
    return open;
  };
  beforeAll(async () => {
    const db = await openTestStore(kind, { clock });
    open = { db, files: agentFiles(db.store, clock) };
  });
  afterAll(async () => {
    open?.files.remove();
    await open?.db[Symbol.asyncDispose]();
  });
  const steps = taskSteps(clock);
  const backlog = { add: () => undefined };
  const operations = tasks({ clock, ids: systemIds, backlog, steps, keepsEvents: false, publishTask });
  const manageSchedules = schedules({ clock, ids: systemIds, tasks: operations });
  const decisions = { clock, cipher, backlog, steps, publishTask, schedules: manageSchedules };
  const { confirm } = confirmations(decisions);

  async function taskRow(id: string): Promise<Task> {
    const task = await opened().db.store.tasks.byId(id);
    if (!task) throw new Error("no such task");
    return task;
  }

  return {
    clock,
    get db() {
      return opened().db;
    },
    get files() {
      return opened().files;
    },
    taskRow,
    put: async (members = {}) =>
      (await putTask(opened().db.store, { createdAt: clock.now(), ...members }, firstEvents("Go"))).id,
    events: (id) => opened().db.store.events.list(id, { order: "asc", limit: 1_000, verbose: true }),
    send: (id, text) =>
      opened().db.store.change((tx) =>
        operations.send(tx, caller, id, { texts: [text], references: [] }, {}),
      ),
    async decide(id, input) {
      const { store } = opened().db;
      const pending = await store.actions.pending(id);
      await store.change((tx) => confirm(tx, caller, id, eventId(id, pending?.seq ?? 0), input));
    },
    async release(id) {
      const task = await taskRow(id);
      await opened().db.store.change((tx) => releaseClaim(tx, [task], clock.now()));
    },
    async rowsOf(id) {
      const rows = await Array.fromAsync(opened().files.readTranscript(id));
      const same = rows.map(
        ({ taskId: _, spaceId: _space, seq: _seq, createdAt: _at, activeMs: _ms, ...row }) => row,
      );
      return JSON.parse(JSON.stringify(same).replaceAll(/"Time":"[^"]*"/g, '"Time":""'));
    },
    async run(
      id,
      { api, server, tools, config: more = {}, agentOf = (agent) => agent, store: of, signal = never },
    ) {
      const { db, files } = opened();
      const store = of ?? db.store;
      const config = configOf(api, server, more);
      const model = modelAgent({
        config,
        policy: anyRequest,
        model: languageModel(config, "/nowhere"),
        toolsFor: typeof tools === "function" ? tools : () => tools,
        showImages: plainImages,
        random: (bytes) => new Uint8Array(bytes),
        markOf: () => mark,
        log: () => undefined,
      });
      const before = await taskRow(id);
      const [claimed] = await store.change((tx) => claimTasks(tx, [before], "n1", clock.now()));
      if (!claimed) throw new Error("not claimed");
      await runTask(claimed, signal, {
        ...{ store, clock, ids: systemIds, cipher, log: () => undefined },
        ...(of ? filesOver(of, files.blobs, clock) : files),
        agentFor: () => agentOf(model),
      });
      checkTask(await taskInStore(db.store, id));
    },
  };
}

/** An agent whose run is lost after this many groups of new events. */
export const losingAgent = (agent: Agent, groups: number): Agent =>
  async function* (turn) {
    const work = agent(turn);
    let passed = turn.written.length;
    for (let left = groups; left > 0; ) {
      const step = await work.next();
      if (step.done) return step.value;
      yield step.value;
      if (passed > 0) passed -= step.value.events.length;
      else left -= 1;
    }
    await work.return({ kind: "abandon" });
    return { kind: "abandon" };
  };
