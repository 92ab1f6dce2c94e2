import { beforeAll, describe, expect, test } from "vitest";
import type { NewEvent } from "../../../src/core/tasks/event.ts";
import { idleTask } from "../../../src/core/tasks/lifecycle.ts";
import type { Task } from "../../../src/core/tasks/task.ts";
import { describeOnOne } from "../../support/database.ts";
import type { Person } from "../../support/service.ts";
import { taskRig } from "../../support/task-rig.ts";
import { type CallV1, refusal, v1Of } from "./caller.ts";

const userSaid = (content: string): NewEvent => ({
  type: "user_message",
  payload: { content, messageType: "text" },
});
const agentSaid = (content: string): NewEvent => ({ type: "assistant_message", payload: { content } });
const item = (role: string, text: string) => ({
  id: expect.any(String),
  status: "completed",
  role,
  type: "message",
  content: [{ type: "output_text", text }],
});

/** The date of a second, as `YYYY-MM-DD` in UTC. */
const dayOf = (second: number): string => new Date(second * 1000).toISOString().slice(0, 10);

describeOnOne("tasks of v1", (database) => {
  const rig = taskRig({ database });
  let call: CallV1;
  beforeAll(() => {
    call = v1Of(rig.service, rig.ann);
  });

  /** Creates a task that no worker runs in a person's space. */
  const put = (who: Person, members: Partial<Task>, events: readonly NewEvent[] = [userSaid("Sort")]) =>
    rig.service.store.change((tx) =>
      tx.tasks.insert(
        { ...idleTask("", who, 1_790_000_000_000), agentProfile: "manus-1.6", ...members } as Task,
        events,
      ),
    );

  describe("GET /v1/tasks/{task_id} (GetConversation)", () => {
    test("returns the task with all messages, without null members and without members of other wires", async () => {
      const id = await rig.runToEnd("[[think Hm]] [[say Half way]] [[say 4]]", { title: "Sum" });
      const { status, body } = await call(`GET /v1/tasks/${id}`);
      const row = await rig.row(id);
      expect(status).toBe(200);
      expect(body).toEqual({
        id,
        object: "task",
        created_at: Math.floor(row.createdAt / 1000),
        updated_at: Math.floor(row.updatedAt / 1000),
        status: "completed",
        model: "manus-1.6-agent",
        metadata: { task_title: "Sum", task_url: expect.stringMatching(new RegExp(`^http.*/app/${id}$`)) },
        locale: "en",
        instructions: "[[think Hm]] [[say Half way]] [[say 4]]",
        output: [
          item("user", "[[think Hm]] [[say Half way]] [[say 4]]"),
          item("assistant", "Half way"),
          item("assistant", "4"),
        ].concat(body.output.slice(3)),
      });
    });

    test.each([
      ["running", "[[forever]]", "running", "running"],
      ["one that waits for an answer", "[[ask Which?]]", "waiting", "pending"],
      ["one that waits for an approval", "[[confirm terminalExecute]]", "waiting", "pending"],
      ["finished", "Hello", "stopped", "completed"],
      ["failed", "[[fail quota_limit | No more]]", "error", "failed"],
    ] as const)("has v1's status for a task that is %s", async (_, prompt, reached, word) => {
      const id = await rig.create(prompt);
      await rig.reach(id, reached);
      expect((await call(`GET /v1/tasks/${id}`)).body).toMatchObject({ id, status: word });
    });

    test("reports why a task failed, until it continues", async () => {
      const id = await rig.create("[[fail quota_limit | No more]]");
      await rig.reach(id, "error");
      const failed = await call(`GET /v1/tasks/${id}`);
      expect(failed.body).toMatchObject({
        error: "No more",
        output: [item("user", expect.any(String)), item("assistant", "No more")],
      });
      await rig.send(id, "[[forever]]");
      expect((await call(`GET /v1/tasks/${id}`)).body).not.toHaveProperty("error");
    });

    test.each([
      ["a question", "[[ask Which?]]", "waiting", "question"],
      ["an approval", "[[confirm terminalExecute]]", "waiting", "confirmation"],
    ] as const)("names what a task that waits for %s needs, until it continues", async (_, prompt, reached, reason) => {
      const id = await rig.create(prompt);
      await rig.reach(id, reached);
      expect((await call(`GET /v1/tasks/${id}`)).body.incomplete_details).toBe(reason);
      await rig.send(id, "[[forever]]");
      expect((await call(`GET /v1/tasks/${id}`)).body).not.toHaveProperty("incomplete_details");
    });

    test("says that the user stopped a task, and in which language it answers", async () => {
      const id = await rig.create("[[forever]]", { locale: "de-CH" });
      await rig.ann.v2("task.stop", { task_id: id });
      const { body } = await call(`GET /v1/tasks/${id}`);
      expect(body).toMatchObject({ status: "completed", incomplete_details: "stop", locale: "de-CH" });
      expect((await call("GET /v1/tasks?limit=1")).body.data[0]).toMatchObject({
        id,
        incomplete_details: "stop",
        locale: "de-CH",
      });
    });

    test("returns credits as a number, and only once some are spent", async () => {
      const [spent, none] = [await rig.runToEnd("[[credits 7]]"), await rig.runToEnd("Hello")];
      expect((await call(`GET /v1/tasks/${spent}`)).body.credit_usage).toBe(7);
      expect((await call(`GET /v1/tasks/${none}`)).body).not.toHaveProperty("credit_usage");
    });

    test.each(["convert=true", "convert=false", "convert="])("tolerates %s", async (query) => {
      const id = await rig.create("[[forever]]");
      expect(await call(`GET /v1/tasks/${id}?${query}`)).toMatchObject({ status: 200, body: { id } });
    });

    test("returns the 10,000 newest messages of a single task, and 100 each in a list", async () => {
      const who = await rig.service.person();
      const many = Array.from({ length: 10_005 }, (_, n) => agentSaid(`${n}`));
      await put(who, { id: "long" }, [userSaid("first"), ...many.slice(0, 4000)]);
      for (const part of [many.slice(4000, 7000), many.slice(7000)])
        await rig.service.store.change((tx) =>
          tx.tasks.advance("long", { now: 1_790_000_000_001, events: part }),
        );
      const texts = (output: { content: { text: string }[] }[]) =>
        output.map(({ content }) => content[0]?.text);
      const alone = await v1Of(rig.service, who)("GET /v1/tasks/long");
      expect(texts(alone.body.output)).toEqual(Array.from({ length: 10_000 }, (_, n) => `${n + 5}`));
      expect(alone.body).not.toHaveProperty("instructions");
      const listed = await v1Of(rig.service, who)("GET /v1/tasks");
      expect(texts(listed.body.data[0].output)).toEqual(Array.from({ length: 100 }, (_, n) => `${n + 9905}`));
    });

    test("an unknown task and another account's are the same 404", async () => {
      const foreign = await rig.create("[[forever]]", {}, await rig.service.person());
      const answers = [await call("GET /v1/tasks/nothing"), await call(`GET /v1/tasks/${foreign}`)];
      for (const { status, body } of answers)
        expect({ status, body }).toEqual({ status: 404, body: refusal(5, /^task not found$/) });
    });
  });

  describe("GET /v1/tasks (ListConversations)", () => {
    const second = 1_790_000_000;
    let bo: Person;
    let list: (query?: string) => Promise<string[]>;
    let projectId: string;

    beforeAll(async () => {
      bo = await rig.service.person();
      const ask = v1Of(rig.service, bo);
      projectId = (await ask("POST /v1/projects", { name: "Post" })).body.id;
      list = async (query = "") =>
        (await ask(`GET /v1/tasks?${query}`)).body.data.map(({ id }: { id: string }) => id);
      const at = (s: number) => ({ createdAt: (second + s) * 1000, updatedAt: (second + 100 - s) * 1000 });
      await put(bo, { id: "a1", ...at(0), status: "stopped", title: "Apples" });
      await put(bo, { id: "b2", ...at(10), status: "waiting", title: "Pears", projectId, type: "project" });
      await put(bo, { id: "c3", ...at(20), status: "error", title: "Plums", hidden: true }, [
        userSaid("And apples"),
        agentSaid("No"),
      ]);
      await put(bo, { id: "d4", ...at(30), status: "stopped", title: "Figs", projectId, type: "project" });
    });

    test("returns tasks newest first, including hidden ones, in the list's envelope", async () => {
      const { status, body } = await v1Of(rig.service, bo)("GET /v1/tasks");
      expect(status).toBe(200);
      expect(body).toEqual({
        object: "list",
        data: expect.any(Array),
        first_id: "d4",
        last_id: "a1",
        has_more: false,
      });
      expect(body.data.map(({ id }: { id: string }) => id)).toEqual(["d4", "c3", "b2", "a1"]);
      const alone = await v1Of(rig.service, bo)("GET /v1/tasks/c3");
      expect(body.data[1]).toEqual(alone.body);
    });

    test("of an empty space has neither a first nor a last id", async () => {
      const { body } = await v1Of(rig.service, await rig.service.person())("GET /v1/tasks");
      expect(body).toEqual({ object: "list", data: [], has_more: false });
    });

    test.each([
      ["order=asc", ["a1", "b2", "c3", "d4"]],
      ["order=desc", ["d4", "c3", "b2", "a1"]],
      ["orderBy=updated_at", ["a1", "b2", "c3", "d4"]],
      ["order_by=updated_at&order=asc", ["d4", "c3", "b2", "a1"]],
      ["orderBy=created_at", ["d4", "c3", "b2", "a1"]],
      ["query=apples", ["c3", "a1"]],
      ["query=APPLES&status=failed", ["c3"]],
      ["query=", ["d4", "c3", "b2", "a1"]],
      ["query=messageType", []],
      ["query=%25", []],
      ["status=completed", ["d4", "a1"]],
      ["status=pending", ["b2"]],
      ["status=failed", ["c3"]],
      ["status=error", ["c3"]],
      ["status=running", []],
      ["status=pending&status=failed", ["c3", "b2"]],
      ["status[]=pending&status[]=failed", ["c3", "b2"]],
      ["status[0]=pending&status[1]=failed", ["c3", "b2"]],
      ["status=pending,failed", ["c3", "b2"]],
      ["status=failed&status=error&status=pending&status=running&status=completed", ["d4", "c3", "b2", "a1"]],
      ["status=", ["d4", "c3", "b2", "a1"]],
      [`createdAfter=${second + 10}`, ["d4", "c3"]],
      [`created_after=${second + 10}&created_before=${second + 30}`, ["c3"]],
      [`createdBefore=${second + 10}`, ["a1"]],
      [`created_after=${dayOf(second)}`, ["d4", "c3", "b2", "a1"]],
      [`createdBefore=${dayOf(second)}`, []],
      [`created_before=${dayOf(second + 86_400)}`, ["d4", "c3", "b2", "a1"]],
      ["created_before=9007199254740991", ["d4", "c3", "b2", "a1"]],
      ["limit=2", ["d4", "c3"]],
      ["limit=1000", ["d4", "c3", "b2", "a1"]],
      ["after=c3", ["b2", "a1"]],
      ["after=c3&limit=1", ["b2"]],
      ["after=b2&order=asc", ["c3", "d4"]],
      ["after=b2&order_by=updated_at", ["c3", "d4"]],
      ["after=", ["d4", "c3", "b2", "a1"]],
      ["unknown=1&limit=1", ["d4"]],
    ])("with %s returns %j", async (query, ids) => {
      expect(await list(query)).toEqual(ids);
    });

    test.each([
      "project_id",
      "projectId",
    ])("keeps to a project by %s, and finds nothing in a foreign one", async (name) => {
      expect(await list(`${name}=${projectId}`)).toEqual(["d4", "b2"]);
      expect(await list(`${name}=unknown`)).toEqual([]);
    });

    test("pages by the last id until has_more is false, each task once", async () => {
      const listedIds: string[] = [];
      for (let after = ""; ; ) {
        const { body } = await v1Of(rig.service, bo)(`GET /v1/tasks?limit=3${after}`);
        listedIds.push(...body.data.map(({ id }: { id: string }) => id));
        expect([body.first_id, body.last_id]).toEqual([body.data[0].id, body.data.at(-1).id]);
        if (!body.has_more) break;
        after = `&after=${body.last_id}`;
      }
      expect(listedIds).toEqual(["d4", "c3", "b2", "a1"]);
    });

    test.each([
      ["limit=0", /^limit: /],
      ["limit=1001", /^limit: /],
      ["limit=ten", /^limit: must be a whole number/],
      ["limit=1.5", /^limit: must be a whole number/],
      ["limit=", /^limit: must be a whole number/],
      ["order=up", /^order: must be one of asc, desc/],
      ["orderBy=title", /^order_by: must be one of created_at, updated_at/],
      ["status=stopped", /^status(\[0\])?: must be one of running, pending, completed, failed, error/],
      ["status=failed&status=odd", /^status\[1\]: must be one of/],
      ["created_after=-1", /^created_after: /],
      ["createdBefore=soon", /^created_before: must be Unix seconds, or a date like 2026-01-31$/],
      ["createdAfter=2026-02-30", /^created_after: must be Unix seconds, or a date like 2026-01-31$/],
      ["created_before=2026-1-1", /^created_before: must be Unix seconds, or a date/],
      ["created_before=99999999999999999999", /^created_before: must be Unix seconds, or a date/],
      ["after=unknown", /^after: is not a task of this list/],
      [`query=${"a".repeat(201)}`, /^query: /],
      ["query=%00", /^query: must not contain U\+0000/],
      [`project_id=${"a".repeat(129)}`, /^project_id: /],
      [`after=${"a".repeat(129)}`, /^after: /],
    ])("refuses %s", async (query, named) => {
      const { status, body } = await v1Of(rig.service, bo)(`GET /v1/tasks?${query}`);
      expect({ status, body }).toEqual({ status: 400, body: refusal(3, named) });
    });

    test("refuses another account's task as the position to continue after", async () => {
      expect(await call("GET /v1/tasks?after=c3")).toMatchObject({
        status: 400,
        body: refusal(3, /^after: /),
      });
    });

    test("queries tasks once and messages once, however many there are", async () => {
      const ask = v1Of(rig.service, bo);
      // The platform looks at the queue each second, and for deleted tasks now and then.
      const isOfPlatform = (sql: string) => /full_profile|deleted_at </.test(sql);
      const reads = () =>
        rig.service.statements.filter((sql) => /t\.space_id|task_event/.test(sql) && !isOfPlatform(sql))
          .length;
      const cost = async (at: string) => {
        const before = reads();
        await ask(at);
        return reads() - before;
      };
      expect([
        await cost("GET /v1/tasks?limit=1"),
        await cost("GET /v1/tasks"),
        await cost("GET /v1/tasks/a1"),
      ]).toEqual([2, 2, 2]);
    });
  });
});
