import { expect, test } from "vitest";
import { eventId } from "../../src/core/tasks/event.ts";
import { describeOnPostgres } from "../support/database.ts";
import { type CheckedTask, checkTask, taskInStore } from "../support/invariants.ts";
import { until, untilStatus } from "../support/until.ts";
import type { V2Reply } from "../support/wires.ts";
import { atOnce, callCount, raceRig } from "./race-rig.ts";

const countOf = ({ events }: CheckedTask, text: string): number =>
  events.filter((event) => event.type === "assistant_message" && event.text === text).length;
const isConfirmed = ({ status, body }: V2Reply): boolean => status === 200 && body["confirmed"] === true;
const schemaOf = (name: string) => ({
  type: "object",
  properties: { [name]: { type: "integer" } },
  required: [name],
  additionalProperties: false,
});

describeOnPostgres("a decision", (kind) => {
  const rig = raceRig(kind);

  /** A task that waits for an approval, and the call that approves it. */
  async function waiting(rest: string) {
    const id = await rig.create(`[[confirm terminalExecute]] ${rest}`);
    const { lastSeq } = await untilStatus(rig.store, id, "waiting");
    const event_id = eventId(id, lastSeq - 1);
    return {
      id,
      confirm: (input: object = { accept: true }) => rig.call("task.confirmAction", id, { event_id, input }),
    };
  }
  const states = async (id: string) => (await rig.store.actions.after(id, 0)).map(({ state }) => state);

  test(`requested ${callCount} times at once takes effect exactly once`, async () => {
    const { id, confirm } = await waiting("[[say After]]");
    const replies = await atOnce((i) =>
      confirm(i % 2 === 0 ? { accept: true } : { accept: true, always_allow: true }),
    );
    expect(replies.filter(isConfirmed)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 412)).toHaveLength(callCount - 1);
    await untilStatus(rig.store, id, "stopped");
    const seen = await taskInStore(rig.store, id);
    checkTask(seen);
    expect(countOf(seen, "After")).toBe(1);
    expect(seen.events.filter(({ type }) => type === "tool_used")).toHaveLength(2);
    expect(await states(id)).toEqual(["accepted"]);
  });

  test(`against a stop, ${callCount} times: the task ends stopped, and its action was decided or dismissed, never both`, async () => {
    const outcomes = await atOnce(async (i) => {
      const { id, confirm } = await waiting("[[forever]]");
      const stop = () => rig.call("task.stop", id);
      const [confirmed, stopped] = await (i % 2 === 0
        ? Promise.all([confirm(), stop()])
        : Promise.all([stop(), confirm()]).then((both) => both.reverse()));
      expect(stopped?.status).toBe(200);
      expect(await rig.waitUntilSettled(id)).toMatchObject({ status: "stopped", nodeId: null });
      checkTask(await taskInStore(rig.store, id));
      return {
        confirmed: confirmed !== undefined && isConfirmed(confirmed),
        status: confirmed?.status,
        states: await states(id),
      };
    });
    for (const { confirmed, status, states } of outcomes) {
      expect(states).toEqual([confirmed ? "accepted" : "dismissed"]);
      expect(status).toBe(confirmed ? 200 : 412);
    }
  });

  test(`against a message, ${callCount} times: the rest of the turn runs if the action was decided, and the message is answered in both cases`, async () => {
    const outcomes = await atOnce(async (i) => {
      const { id, confirm } = await waiting("[[say After]]");
      const send = () => rig.send(id, "[[say Message]]");
      const [first, second] = await Promise.all(i % 2 === 0 ? [confirm(), send()] : [send(), confirm()]);
      const [confirmed, sent] = i % 2 === 0 ? [first, second] : [second, first];
      expect(sent?.status).toBe(200);
      await until(
        rig.store,
        id,
        ({ status, messageSeq, consumedSeq }) => status === "stopped" && messageSeq <= consumedSeq,
      );
      const seen = await taskInStore(rig.store, id);
      checkTask(seen);
      return { seen, confirmed: confirmed !== undefined && isConfirmed(confirmed), states: await states(id) };
    });
    for (const { seen, confirmed, states } of outcomes) {
      expect(countOf(seen, "Message"), `${seen.id}: answered once`).toBe(1);
      expect(countOf(seen, "After"), `${seen.id}: the rest runs only when it was allowed`).toBe(
        confirmed ? 1 : 0,
      );
      expect(states).toEqual([confirmed ? "accepted" : "dismissed"]);
    }
  });

  test(`of ${callCount} answers to a question at once: each message is stored once, and the question is no longer pending`, async () => {
    const id = await rig.create("[[ask Which?]] [[say Left]]");
    await untilStatus(rig.store, id, "waiting");
    const sent = await atOnce((i) => rig.send(id, `[[say Answer ${i}]]`));
    expect(sent.map(({ status }) => status)).toEqual(sent.map(() => 200));
    await until(
      rig.store,
      id,
      ({ status, messageSeq, consumedSeq }) => status === "stopped" && messageSeq <= consumedSeq,
    );
    const seen = await taskInStore(rig.store, id);
    checkTask(seen);
    expect(countOf(seen, "Left")).toBe(1);
    for (let i = 0; i < callCount; i += 1) expect(countOf(seen, `Answer ${i}`), `answer ${i}`).toBe(1);
    expect(await states(id)).toEqual(["dismissed"]);
  });

  test(`replacing the schema against the finish, ${callCount} times: each stop has one value, and the last matches the newest schema`, async () => {
    const results = await atOnce(async (i) => {
      const { body } = await rig.person.v2("task.create", {
        message: { content: `[[sleep ${i / 2_000}]] Hello` },
        structured_output_schema: schemaOf("old"),
      });
      const id = String(body["task_id"]);
      const sent = await rig.call("task.sendMessage", id, {
        message: { content: "More" },
        structured_output_schema: schemaOf("new"),
      });
      expect(sent.status).toBe(200);
      await until(
        rig.store,
        id,
        ({ status, messageSeq, consumedSeq }) => status === "stopped" && messageSeq <= consumedSeq,
      );
      checkTask(await taskInStore(rig.store, id));
      const events = await rig.store.events.list(id, { order: "asc", limit: 1_000, verbose: true });
      expect((await rig.store.tasks.byId(id))?.hasOutputSchema, "it fires once").toBe(false);
      return {
        stops: events.filter(
          ({ type, payload }) =>
            type === "status_update" && "agentStatus" in payload && payload.agentStatus === "stopped",
        ).length,
        values: events.flatMap((event) => (event.type === "structured_output_result" ? [event.payload] : [])),
      };
    });
    for (const { stops, values } of results) {
      expect(values).toHaveLength(stops);
      const names = values.map(({ value }) => Object.keys(value).join());
      expect(names).toEqual(stops === 1 ? ["new"] : ["old", "new"]);
      expect(values.every(({ success }) => success)).toBe(true);
    }
  });
});
