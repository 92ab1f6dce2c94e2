import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Clock } from "../../../src/core/clock.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Tool } from "../../../src/runtime/agents/model/tool.ts";
import { deliver } from "../../../src/runtime/agents/model/tools/deliver.ts";
import { edit } from "../../../src/runtime/agents/model/tools/edit.ts";
import { proposeSchedule } from "../../../src/runtime/agents/model/tools/propose-schedule.ts";
import { read, write } from "../../../src/runtime/agents/model/tools/workspace.ts";
import { putPeople, sampleMember } from "../../store/samples.ts";
import { describeOnEach, rowsIn } from "../../support/database.ts";
import { sample } from "../../support/depth.ts";
import { Killed, storeKilledAt } from "../../support/faults.ts";
import { textOf } from "../../support/model/cache.ts";
import type { Answering, ModelRequest, Reply } from "../../support/model/script.ts";
import { type ModelServer, openModelServer } from "../../support/model/server.ts";
import { stillClock } from "../../support/still-clock.ts";
import { askUser, deploy } from "./model-run.ts";
import { calls, planOf, use } from "./sessions/session.ts";
import { storedTasks } from "./stored-task.ts";

/** A session in a real store: what a person does when the task rests, and what the model answers. */
interface KilledSession {
  readonly name: string;
  /** The decisions and messages of a person, in order. */
  readonly acts: readonly (JsonObject | string)[];
  readonly answers: readonly Answering[];
  readonly contextTokens?: number;
}

const note = (text: string) => use("write", { path: "note.md", content: text });
const summary = "## Goal\nNotes.\n## Next step\nGo on.";

const sessions: readonly KilledSession[] = [
  {
    name: "works on files and delivers them",
    acts: ["And now?"],
    answers: [
      { text: "I plan.", calls: [planOf(0), note("one owl")] },
      { calls: [use("edit", { path: "note.md", old: "one", new: "two" }), use("read", { path: "note.md" })] },
      { calls: [planOf(3), use("deliver", { files: [{ path: "note.md" }] })] },
      { text: "Two owls." },
      { text: "Still two." },
    ],
  },
  {
    name: "waits for decisions",
    acts: [{ accept: true }, { accept: false }, { accept: true, always_allow: true }],
    answers: [
      { text: "I deploy.", calls: [use("deploy_site", { site: "a" }), use("deploy_site", { site: "b" })] },
      calls("deploy_site", { site: "b" }),
      calls("deploy_site", { site: "c" }),
      calls("deploy_site", { site: "d" }),
      { text: "All but b are deployed." },
    ],
  },
  {
    name: "asks, and proposes a schedule",
    acts: ["At noon.", { accept: true }],
    answers: [
      calls("ask_user", { question: "When?" }, "I ask."),
      calls("propose_schedule", { name: "Owls", message: "Count.", cron: "0 12 * * *" }),
      { text: "It runs at noon." },
    ],
  },
  {
    name: "fills its context",
    acts: ["What was in it?"],
    answers: [
      ...Array.from(
        { length: 7 },
        (_, nth): Answering => ({
          calls: [note(`${nth} ${"owl ".repeat(700)}`)],
          usage: { input: 2_000 + 1_300 * nth, output: 100 },
        }),
      ),
      { text: summary, usage: { input: 10_000, output: 100 } },
      { text: "Written.", usage: { input: 4_000, output: 10 } },
      { text: "Owls.", usage: { input: 4_100, output: 10 } },
    ],
    contextTokens: 12_000,
  },
];

/** A request as text, without the ids of schedules, which are random. */
const sentText = (body: JsonObject): string => textOf(body).replaceAll(/(schedule_id\W+)\w+/g, "$1");

/** Answers the nth request that was not seen before; one that is repeated has its answer again. */
function answersByRequest(answers: readonly Answering[]): (request: ModelRequest) => Reply {
  const known = new Map<string, Reply>();
  return ({ body }) => {
    const text = sentText(body);
    if (text.includes("Interrupted by a restart")) return { text: "It may have happened." };
    const answer = known.get(text) ?? answers[known.size] ?? { status: 418 };
    known.set(text, answer);
    return answer;
  };
}

let server: ModelServer;
beforeAll(async () => {
  server = await openModelServer("openai");
});
afterAll(() => server[Symbol.asyncDispose]());

/** A clock that does not move: short pauses end at once, longer ones last. */
const still = stillClock();
const clock: Clock = {
  ...still,
  sleep: async (ms, signal) => (ms < 5_000 ? signal?.throwIfAborted() : still.sleep(ms, signal)),
};

describeOnEach("a process that is killed at a write", (kind) => {
  const tasks = storedTasks(kind, clock);
  beforeAll(async () => {
    await putPeople(tasks.db.store);
    await tasks.db.store.change(({ accounts }) => accounts.insertMember(sampleMember()));
  });

  /** Plays a session whose nth write, of all its runs, kills the process. */
  async function play(
    session: KilledSession,
    answer: (request: ModelRequest) => Reply,
    nth: number,
    when: "before" | "after",
  ) {
    const done: string[] = [];
    const { approval: _, ...deployer } = deploy(done);
    const tools: readonly Tool[] = [write, edit, read, deliver, proposeSchedule, askUser, deployer];
    const id = await tasks.put({ interactive: true });
    const acts = [...session.acts];
    const before = server.requests.length;
    let [left, kills] = [nth, 0];
    for (;;) {
      const { status } = await tasks.taskRow(id);
      if (status === "running") {
        const { store, writes, killed } = storeKilledAt(tasks.db.store, left, when);
        const config = { contextTokens: session.contextTokens ?? 100_000 };
        server.play(answer);
        try {
          await tasks.run(id, { api: "openai", server, tools, config, store, signal: killed });
        } catch (thrown) {
          if (!(thrown instanceof Killed)) throw thrown;
          kills += 1;
          await tasks.release(id);
        }
        left = kills > 0 ? Number.POSITIVE_INFINITY : left - writes();
        continue;
      }
      const act = acts.shift();
      // After an effect that may have happened, the model does not make the calls that the others wait for.
      if (act === undefined || (typeof act === "object" && status !== "waiting")) break;
      await (typeof act === "string" ? tasks.send(id, act) : tasks.decide(id, act));
    }
    const rows = await tasks.rowsOf(id);
    const files = await tasks.events(id);
    return {
      rows: JSON.stringify(rows, (key, value) =>
        key === "seq" || key === "credits" ? undefined : value,
      ).replaceAll(/(schedule_id\W+)\w+/g, "$1"),
      requests: [...new Set(server.requests.slice(before).map(({ body }) => sentText(body)))],
      uses: files.flatMap(({ type, payload }) =>
        type === "tool_used" ? [[payload.tool, payload.status]] : [],
      ),
      schedules: (await rowsIn(tasks.db.url, "SELECT id FROM schedule")).length,
      ...{ done, writes: nth - left, kills },
    };
  }

  describe.each(sessions)("of a task that $name", (session) => {
    test("ends with the same transcript and the same requests, byte for byte, and each effect once", async () => {
      const answer = answersByRequest(session.answers);
      const whole = await play(session, answer, 1_000_000, "after");
      const { writes, schedules } = whole;
      expect(whole.kills).toBe(0);
      expect(writes).toBeGreaterThan(3);
      const all = Array.from({ length: writes }, (_, at) => at + 1).flatMap((nth) =>
        (["before", "after"] as const).map((when) => ({ nth, when })),
      );
      const step = Math.ceil(all.length / sample(all.length, 2));
      let last = schedules;
      for (const { nth, when } of all.filter((_, index) => index % step === 0)) {
        const killed = await play(session, answer, nth, when);
        expect(killed.kills, `${when} write ${nth} of ${writes}`).toBe(1);
        expect(new Set(killed.done).size, "no effect twice").toBe(killed.done.length);
        expect(killed.schedules - last).toBe(session.name.includes("schedule") ? 1 : 0);
        last = killed.schedules;
        const interrupted = killed.rows.includes('"end":"interrupted"');
        // The model reads that it may have happened, so it makes other calls.
        if (interrupted) continue;
        const { kills: _, writes: _writes, schedules: _schedules, ...same } = killed;
        expect(same, `${when} write ${nth} of ${writes}`).toEqual({
          rows: whole.rows,
          requests: whole.requests,
          uses: whole.uses,
          done: whole.done,
        });
      }
    });
  });
});
