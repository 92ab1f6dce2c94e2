import { beforeAll, describe, expect, test } from "vitest";
import { describeOnOne, halfFor } from "../support/database.ts";
import { share } from "../support/depth.ts";
import { type TaskRig, taskRig } from "../support/task-rig.ts";
import { until, untilStatus } from "../support/until.ts";
import type { V2Body } from "../support/wires.ts";
import { remoteEnv } from "../workers/worker-rig.ts";
import { type Move, type Script, scripts } from "./script.ts";
import { type AgentName, openScriptedAgent, type ScriptedAgent } from "./stages.ts";

/** The agents that are compared with the offline agent. */
const agents: readonly AgentName[] = ["remote", "model (openai)", "model (anthropic)"];

/**
 * An event's type, with the value that describes it. Only the offline agent's message with a file has no such
 * value, and only its result has the files too.
 */
function kindOf({ type, ...payload }: V2Body): string {
  const { agent_status, status, delivery_kind, success, attachments } = payload[type];
  if (attachments?.length > 0 && delivery_kind !== "result") return `${type} with a file`;
  const value = agent_status ?? status ?? delivery_kind ?? success;
  return value === undefined ? type : `${type} ${value}`;
}

describeOnOne("the same script", (database) => {
  const own = { offline: rigOf({}), remote: rigOf(remoteEnv) };
  function rigOf(env: Readonly<Record<string, string>>): TaskRig {
    return taskRig({ database, nodes: 1, idle: true, env });
  }

  /**
   * The events of a task that follows a script, and how often its agent itself reported that an approval is
   * pending.
   */
  async function playScript(
    agent: AgentName,
    script: Script,
  ): Promise<{ readonly kinds: readonly string[]; readonly reported: number }> {
    const rig = agent === "remote" ? own.remote : own.offline;
    await using stage = await openScriptedAgent(agent, rig, script);
    const [first = [], ...others] = script.turns;
    const id = await rig.create(stage.message(first), { interactive_mode: true, ...script.create });
    const nextTurns = others.values();
    for (const move of script.moves)
      await applyMove(rig, stage, id, move, () => stage.message(nextTurns.next().value ?? []));
    await until(rig.service.store, id, ({ status }) => status === "stopped" || status === "error");
    const events = await rig.events(id);
    const isReported = ({ type, tool_used: use }: V2Body) =>
      type === "tool_used" && use.status === "pending_confirmation" && stage.reportsPending.has(use.tool);
    return {
      kinds: events.filter((event) => !isReported(event)).map(kindOf),
      reported: events.filter(isReported).length,
    };
  }

  async function applyMove(
    rig: TaskRig,
    stage: ScriptedAgent,
    id: string,
    move: Move,
    next: () => string,
  ): Promise<void> {
    const { store } = rig.service;
    if (move === "answer") {
      await untilStatus(store, id, "waiting");
      await rig.send(id, next());
    } else if (move === "accept" || move === "refuse") {
      await untilStatus(store, id, "waiting");
      const event_id = (await rig.events(id)).at(-1)?.["status_update"].status_detail.waiting_for_event_id;
      const { body } = await rig.ann.v2("task.confirmAction", {
        task_id: id,
        event_id,
        input: { action: move === "accept" ? "accept" : "reject" },
      });
      expect(body).toMatchObject({ ok: true });
    } else {
      // It has sent an event and pauses.
      await until(store, id, ({ lastSeq }) => lastSeq >= 3);
      if (move === "stop") await rig.ann.v2("task.stop", { task_id: id });
      else await rig.send(id, next());
      stage.gate.open();
    }
  }

  describe.each(halfFor(database, scripts))("with $about", (script) => {
    let offline: readonly string[];
    beforeAll(async () => {
      offline = (await playScript("offline", script)).kinds;
    });

    test("is played to its end by the offline agent", () => {
      expect(offline.slice(0, 2)).toEqual(["user_message", "status_update running"]);
      const rests = offline.filter((kind) => /^status_update (?:waiting|stopped|error)$/.test(kind));
      expect(rests).toHaveLength(
        1 + script.moves.filter((move) => ["answer", "accept", "refuse"].includes(move)).length,
      );
    });

    // A short run plays each script with one of them.
    test.each(
      share(agents, scripts.indexOf(script), agents.length),
    )("leads to the same events when the agent is: %s", async (agent) => {
      const { kinds, reported } = await playScript(agent, script);
      expect(kinds).toEqual(offline);
      // A model agent reports a pending use before the platform reports the approval, because the decision
      // refers to that use.
      const approvals = script.turns.flat().filter(({ does }) => does === "confirm").length;
      expect(reported).toBe(agent === "remote" ? 0 : approvals);
    });
  });
});
