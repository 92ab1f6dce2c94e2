import { beforeAll, describe, expect, test } from "vitest";
import { describeOnEach } from "../support/database.ts";
import { type TaskRig, taskRig } from "../support/task-rig.ts";
import { until, untilStatus } from "../support/until.ts";
import type { V2Body } from "../support/wires.ts";
import { remoteEnv } from "../workers/worker-rig.ts";
import { type Move, type Script, scripts } from "./script.ts";
import { type AgentName, type Stage, stageOf } from "./stages.ts";

/** Those that are compared with the offline agent. */
const agents: readonly AgentName[] = ["remote", "model (openai)", "model (anthropic)"];

/** An event's type, with the word that describes it. Only the offline agent's message with a file has no word, and only its result has the files too. */
function kindOf({ type, ...payload }: V2Body): string {
  const { agent_status, status, delivery_kind, success, attachments } = payload[type];
  if (attachments?.length > 0 && delivery_kind !== "result") return `${type} with a file`;
  const word = agent_status ?? status ?? delivery_kind ?? success;
  return word === undefined ? type : `${type} ${word}`;
}

describeOnEach("the same script", (database) => {
  const own = { offline: rigOf({}), remote: rigOf(remoteEnv) };
  function rigOf(env: Readonly<Record<string, string>>): TaskRig {
    return taskRig({ database, nodes: 1, idle: true, env });
  }

  /** What a task that goes by a script comes to, and how often its agent told by itself that an approval is waited for. */
  async function played(agent: AgentName, script: Script): Promise<{ readonly kinds: readonly string[]; readonly told: number }> {
    const rig = agent === "remote" ? own.remote : own.offline;
    await using stage = await stageOf(agent, rig, script);
    const [first = [], ...others] = script.turns;
    const id = await rig.create(stage.message(first), { interactive_mode: true, ...script.create });
    const coming = others.values();
    for (const move of script.moves) await moved(rig, stage, id, move, () => stage.message(coming.next().value ?? []));
    await until(rig.service.store, id, ({ status }) => status === "stopped" || status === "error");
    const events = await rig.events(id);
    const isTold = ({ type, tool_used: use }: V2Body) =>
      type === "tool_used" && use.status === "pending_confirmation" && stage.tellsPending.has(use.tool);
    return { kinds: events.filter((event) => !isTold(event)).map(kindOf), told: events.filter(isTold).length };
  }

  async function moved(rig: TaskRig, stage: Stage, id: string, move: Move, next: () => string): Promise<void> {
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
      // It has said something, and pauses.
      await until(store, id, ({ lastSeq }) => lastSeq >= 3);
      if (move === "stop") await rig.ann.v2("task.stop", { task_id: id });
      else await rig.send(id, next());
      stage.gate.open();
    }
  }

  describe.each(scripts)("with $about", (script) => {
    let offline: readonly string[];
    beforeAll(async () => {
      offline = (await played("offline", script)).kinds;
    });

    test("is one that the offline agent plays to its end", () => {
      expect(offline.slice(0, 2)).toEqual(["user_message", "status_update running"]);
      const rests = offline.filter((kind) => /^status_update (?:waiting|stopped|error)$/.test(kind));
      expect(rests).toHaveLength(1 + script.moves.filter((move) => ["answer", "accept", "refuse"].includes(move)).length);
    });

    test.each(agents)("comes to the same events when it is played by the agent: %s", async (agent) => {
      const { kinds, told } = await played(agent, script);
      expect(kinds).toEqual(offline);
      // A model agent tells of a use that waits, before the platform tells of the approval: its decision finds it by that.
      const approvals = script.turns.flat().filter(({ does }) => does === "confirm").length;
      expect(told).toBe(agent === "remote" ? 0 : approvals);
    });
  });
});
