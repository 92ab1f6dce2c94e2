import { Readable } from "node:stream";
import type { ModelConfig } from "../../../../src/config/models.ts";
import { invalidArgument } from "../../../../src/core/failure.ts";
import type { FetchFile } from "../../../../src/core/files/fetch-files.ts";
import type { JsonObject } from "../../../../src/core/json.ts";
import { evaluate, type PermissionLevel } from "../../../../src/core/permissions/evaluate.ts";
import { readRules } from "../../../../src/core/permissions/rule.ts";
import { profilesOf } from "../../../../src/core/tasks/profile.ts";
import type { Decision, Turn } from "../../../../src/runtime/agent.ts";
import type { TurnWait, WaitRequest } from "../../../../src/runtime/agent-subtasks.ts";
import { connectorTools } from "../../../../src/runtime/agents/model/connector-tool.ts";
import type { ToolsFor } from "../../../../src/runtime/agents/model/tool.ts";
import { subtaskTools } from "../../../../src/runtime/agents/model/tools/subtasks.ts";
import { modelTools } from "../../../../src/runtime/agents/model/tools/tools.ts";
import { workspaceInMemory } from "../../../support/agent-files.ts";
import type { Script } from "../../../support/model/script.ts";
import { type ModelServer, openModelServer } from "../../../support/model/server.ts";
import { configOf, deploy, type ModelRun, type RunOptions, runModel, type Stored } from "../model-run.ts";
import type { Act, Session } from "./session.ts";

/** The runs of a session, in order, and what they have done outside. */
export interface Played {
  readonly runs: readonly ModelRun[];
  readonly requests: ModelServer["requests"];
  /** The effects, in order. */
  readonly done: readonly string[];
}

/** Plays a session with a service that answers by the script. */
export async function playSession(session: Session, script: Script): Promise<Played> {
  await using server = await openModelServer(session.api, script);
  const done: string[] = [];
  const runs: ModelRun[] = [];
  for (const options of stagesOf(session, server, done)) runs.push(await runModel(options(runs.at(-1))));
  return { runs, requests: server.requests, done };
}

type Stage = (before: ModelRun | undefined) => RunOptions;

/** The options of each run of a session, which depend on the run before. */
export function stagesOf(session: Session, server: ModelServer, done: string[]): readonly Stage[] {
  const { turn = {}, config = {}, policy, showImages, others = {}, permissions = [] } = session;
  const shared = { toolsFor: toolsOf(session, done), turn: { workspace: workspaceInMemory(), ...turn } };
  const task: PermissionLevel[] = [...permissions];
  let [now, members] = [shared.turn as NonNullable<RunOptions["turn"]>, config];
  let [number, decisions, waits]: [number, Decision[], TurnWait[]] = [0, [], []];
  let messages: readonly string[] = [];
  return session.acts.map(
    (given): Stage =>
      (before) => {
        const act = actOf(given);
        [now, members] = [
          { ...now, ...act.turn },
          { ...members, ...act.config },
        ];
        let stored: Stored = before ?? { events: [], rows: [] };
        if (act.say !== undefined) {
          [number, messages, decisions, waits] = [number + 100, [act.say], [], []];
          stored = { ...stored, events: [] };
        }
        if (act.decide !== undefined) decisions = [...decisions, decisionOn(before, act)];
        if (act.waited)
          waits = [...waits, { mode: "all", reason: "ended", results: async () => act.waited ?? [] }];
        if (act.lost)
          stored = before?.states.find(({ rows }) => rows.at(-1)?.parts[0]?.type === "begun") ?? stored;
        if (act.input?.["always_allow"]) task.push(allowed(before));
        const permit: Turn["permit"] = async (use, more = []) => evaluate([...task, ...more], use);
        const asked = { number, messages, decisions, permit, ...subtasksOf(waits) };
        return {
          config: configOf(session.api, server, { contextTokens: 200_000, ...members }),
          ...shared,
          turn: { ...asked, ...now },
          stored,
          ...(policy && { policy }),
          ...(showImages && { showImages }),
          others: Object.fromEntries(
            Object.entries(others).map(([name, other]) => [
              name,
              configOf(session.api, server, other as Partial<ModelConfig>),
            ]),
          ),
        };
      },
  );
}

const actOf = (act: Act) =>
  typeof act === "string" ? { say: act } : typeof act === "boolean" ? { decide: act } : act;

function decisionOn(
  before: ModelRun | undefined,
  { decide = false, input = {} }: Exclude<Act, string | boolean>,
): Decision {
  const asked = before?.outcome;
  if (asked?.kind !== "confirm")
    throw new Error(`the run before asked for no decision: ${JSON.stringify(asked)}`);
  const { action, params = {} } = asked;
  return { kind: action, accepted: decide, input, params };
}

/** The rule of `always_allow`. */
function allowed(before: ModelRun | undefined): PermissionLevel {
  const call = before?.rows.flatMap(({ parts }) => parts.filter((part) => part.type === "tool-call")).at(-1);
  const rules = readRules([{ tool: call?.toolName ?? "", pattern: "*", decision: "allow" }], "");
  return { source: "task", rules };
}

/** The subtasks of a turn, numbered from 1. */
function subtasksOf(waits: readonly TurnWait[]): Pick<Turn, "subtask" | "subtasks" | "waits" | "waitFor"> {
  let begun = 0;
  return {
    waits,
    async subtask(request) {
      begun += 1;
      return { id: `subtask-${begun}`, ...request };
    },
    subtasks: {
      begun: [],
      list: async () => [],
      open: async () => null,
      result: async () => null,
      haveUntrusted: async () => true,
      async take(id) {
        const all = (await Promise.all(waits.map(({ results }) => results()))).flat();
        const files = all.find((subtask) => subtask.id === id)?.files ?? [];
        return files.map(({ filename }) => ({ path: `subtasks/${id}/${filename}` }));
      },
    },
    async waitFor(request: WaitRequest, nth = 0) {
      const over = waits[nth];
      return over
        ? { mode: over.mode, reason: over.reason, subtasks: await over.results() }
        : { kind: "wait", ...request };
    },
  };
}

/** All tools of the agent, over the pages and connectors of the session. */
function toolsOf(session: Session, done: string[]): ToolsFor {
  const garden = connectorTools({ call: useGarden(done) });
  return (turn) => [
    ...modelTools({
      fetchFile: fetchFrom(session.pages ?? {}),
      searchWeb: () =>
        session.pages
          ? async () =>
              Object.keys(session.pages ?? {}).map((url) => ({
                title: "Owls",
                url,
                date: null,
                text: "Owls.",
              }))
          : null,
      sandbox: null,
      siteOf: async () => ({ label: "owls", url: "https://owls.site.test/", cap: null, hasTeam: true }),
      log: () => undefined,
    })(turn),
    deploy(done),
    ...(session.tools?.() ?? []),
    ...subtaskTools(profilesOf([]))(session.name === "subtasks" ? turn : {}),
    ...garden(turn),
  ];
}

const fetchFrom =
  (pages: Readonly<Record<string, string>>): FetchFile =>
  async (url, { check }) => {
    await check?.(new URL(url), null);
    const page = pages[url];
    if (page === undefined) throw invalidArgument("file_url", "it answered 404");
    return { bytes: Readable.from([Buffer.from(page)]), contentType: "text/html", filename: null, url };
  };

/** A connector that asks for each use, and wants one more sign-in. */
function useGarden(done: string[]): Parameters<typeof connectorTools>[0]["call"] {
  let signedIn = false;
  return async (_task, { tool, input, approved }) => {
    const connector = { uid: "garden", name: "Garden", tools: [] };
    if (input["bed"] === "sign-in" && !signedIn) {
      signedIn = true;
      return { kind: "expired", connector };
    }
    if (approved === null) return { kind: "ask", connector, definition: `definition-of-${tool}` };
    done.push(`${tool} ${JSON.stringify(input satisfies JsonObject)}`);
    return { kind: "answer", answer: { value: `Did ${tool}.`, isError: false } };
  };
}
