import { Ajv } from "ajv";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { describeOnOne } from "../support/database.ts";
import { holdingClock } from "../support/holding-clock.ts";
import { taskRig } from "../support/task-rig.ts";
import { until } from "../support/until.ts";

const closed = (properties: JsonObject): JsonObject => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const total = closed({ total: { type: "number" } });
/** Nullable in the form that clients use (spec/clients.md 19). */
const named = closed({
  name: { type: ["string", "null"] },
  tags: { type: "array", items: { type: "string" } },
});

describeOnOne("structured output", (database) => {
  const clock = holdingClock();
  const rig = taskRig({ database, clock });
  const withSchema = (schema: JsonObject) => ({ structured_output_schema: schema });
  const types = async (id: string) => (await rig.events(id, { verbose: false })).map(({ type }) => type);
  const results = async (id: string) =>
    (await rig.events(id)).flatMap((event) =>
      event["type"] === "structured_output_result" ? [event["structured_output_result"]] : [],
    );

  test("is a separate event after `stopped`, with all three members, in the default list (spec/api.md 9.5)", async () => {
    const id = await rig.runToEnd("The total: 7", withSchema(total));
    expect((await types(id)).slice(-3)).toEqual([
      "assistant_message",
      "status_update",
      "structured_output_result",
    ]);
    expect(await results(id)).toStrictEqual([{ success: true, value: { total: 7 }, error: null }]);
  });

  test("conforms to schemas with type arrays", async () => {
    const id = await rig.runToEnd("Ann likes gardens", withSchema(named));
    const [{ value } = { value: null }] = await results(id);
    expect(new Ajv({ strict: false }).compile(named)(value)).toBe(true);
  });

  test("is written once: a later finish without a schema writes none", async () => {
    const id = await rig.runToEnd("The total: 7", withSchema(total));
    await rig.send(id, "And again");
    await rig.reach(id, "stopped");
    expect(await results(id)).toHaveLength(1);
  });

  test("a schema of a message replaces the pending one, and a message without one keeps it", async () => {
    const id = await rig.create("[[forever]]", withSchema(total));
    await rig.ann.v2("task.stop", { task_id: id });
    expect(await results(id)).toEqual([]);
    await rig.send(id, "[[fail internal]]", withSchema(closed({ count: { type: "integer" } })));
    await rig.reach(id, "error");
    expect(await rig.row(id)).toMatchObject({ hasOutputSchema: true });
    await rig.send(id, "count: 3");
    await rig.reach(id, "stopped");
    expect(await results(id)).toStrictEqual([{ success: true, value: { count: 3 }, error: null }]);
    expect(await rig.row(id)).toMatchObject({ hasOutputSchema: false });
  });

  test("requested while the task runs, it is written only at the last finish", async () => {
    const turn = clock.hold();
    const id = await rig.create(`${turn.text} The total: 1`);
    await rig.send(id, "The total: 2", withSchema(total));
    turn.release();
    await until(rig.service.store, id, ({ status }) => status === "stopped");
    expect((await types(id)).filter((type) => type === "status_update")).toHaveLength(2);
    expect(await results(id)).toHaveLength(1);
  });

  test("is the same over gRPC", async () => {
    const client = rig.ann.client(TaskService, "grpc");
    const id = await rig.runToEnd("The total: 7", withSchema(total));
    const { messages } = await client.listMessages({ taskId: id, limit: 1 });
    expect(messages[0]?.payload).toMatchObject({
      case: "structuredOutputResult",
      value: { success: true, value: { total: 7 } },
    });
  });

  test.each([
    [{ type: "string" }, 'structured_output_schema: "type" must be "object"'],
    [{ type: "object" }, 'structured_output_schema: "additionalProperties" must be set to false'],
    [
      closed({ x: { type: "string", pattern: "a" } }),
      'structured_output_schema: .x: unsupported keyword "pattern"',
    ],
    [{ ...total, required: [] }, 'structured_output_schema: "required" must include all properties'],
    [closed({ x: {} }), 'structured_output_schema: .x: must have a "type" field'],
    [closed({ x: { type: "text" } }), "structured_output_schema: .x: not a valid JSON Schema"],
  ])("%j is refused immediately, on create and on sendMessage", async (schema, message) => {
    const refused = { status: 400, body: { ok: false, error: { code: "invalid_argument", message } } };
    expect(
      await rig.ann.v2("task.create", { message: { content: "hi" }, ...withSchema(schema as JsonObject) }),
    ).toMatchObject(refused);
    const id = await rig.runToEnd();
    const before = await rig.row(id);
    expect(
      await rig.ann.v2("task.sendMessage", {
        task_id: id,
        message: { content: "hi" },
        ...withSchema(schema as JsonObject),
      }),
    ).toMatchObject(refused);
    expect(await rig.row(id)).toEqual(before);
  });

  test("drops the annotations that validators write, also of a schedule and in the next turn", async () => {
    const annotated = { $schema: "https://json-schema.org/draft/2020-12/schema", title: "Total", ...total };
    const id = await rig.create("[[forever]]", withSchema(annotated));
    expect((await rig.service.store.tasks.turnInput(id)).outputSchema).toEqual(total);
    await rig.send(id, "again", withSchema(annotated));
    expect((await rig.service.store.tasks.turnInput(id)).outputSchema).toEqual(total);
    const task = { message: { content: "hi" }, ...withSchema(annotated) };
    const { body } = await rig.ann.v2("schedule.create", {
      schedule: { name: "S", cron: "0 9 * * *", task },
    });
    expect(body).toMatchObject({ schedule: { task: { structured_output_schema: total } } });
    expect(JSON.stringify(body)).not.toContain('"Total"');
  });

  test("is deleted with its task: a tombstone keeps no schema (spec/decisions.md 14)", async () => {
    const id = await rig.create("[[fail internal]]", withSchema(total));
    await rig.reach(id, "error");
    await rig.ann.v2("task.delete", { task_id: id });
    expect(await rig.service.store.tasks.turnInput(id)).toEqual({
      outputSchema: null,
      memo: null,
      turnRequest: null,
    });
  });
});
