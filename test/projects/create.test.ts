import { setImmediate as turn } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import { projectsMax } from "../../src/core/projects/project.ts";
import { ProjectService } from "../../src/gen/proto/project/v2/project_service_pb.ts";
import { describeOnEach, nodesOf, openTestStore, type TestStore } from "../support/database.ts";
import { faulty } from "../support/faults.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { quarterPast, stillClock } from "../support/still-clock.ts";
import { rpcWires } from "../support/wires.ts";

/** What was counted, a little later: time for others to count the same, where nothing keeps them from it. */
async function dawdling(count: Promise<number>): Promise<number> {
  const counted = await count;
  for (let n = 0; n < 20; n++) await turn();
  return counted;
}

const shortId = /^[2-9A-HJ-NP-Za-km-z]{22}$/;

describeOnEach("project.create", (database) => {
  // Half a second past a full one: the contract's times are whole seconds.
  const clock = stillClock(quarterPast + 500);
  let opened: TestStore;
  let service: Service;
  let ann: Person;

  beforeAll(async () => {
    opened = await openTestStore(database, { clock });
    const store = faulty(opened.store, "projects", (rows) => ({ count: (spaceId) => dawdling(rows.count(spaceId)) }));
    service = await openService({ nodes: nodesOf(database), idle: true, clock, over: { store, url: opened.url } });
    ann = await service.person();
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await opened[Symbol.asyncDispose]();
  });

  test("answers the project with its instruction", async () => {
    const { status, body } = await ann.v2("project.create", { name: "Garden", instruction: "Answer in verse." });
    expect(status).toBe(200);
    expect(body).toEqual({
      ok: true,
      request_id: expect.any(String),
      project: { id: expect.stringMatching(shortId), name: "Garden", instruction: "Answer in verse.", created_at: quarterPast / 1000 },
    });
  });

  test.each([
    ["left out", {}],
    ["null", { instruction: null }],
    ["empty", { instruction: "" }],
  ])("leaves the instruction out of its answer when it was %s", async (_what, given) => {
    const { body } = await ann.v2("project.create", { name: "Garden", ...given });
    expect(Object.keys(body["project"]).toSorted()).toEqual(["created_at", "id", "name"]);
  });

  test.each(rpcWires)("answers alike over %s", async (wire) => {
    const projects = ann.client(ProjectService, wire);
    const { project } = await projects.createProject({ name: "Garden", instruction: "Answer in verse." });
    expect(project).toMatchObject({ name: "Garden", instruction: "Answer in verse.", createdAt: BigInt(quarterPast / 1000) });
    expect(project?.id).toMatch(shortId);
    const bare = await projects.createProject({ name: "Garden", instruction: "" });
    expect(bare.project).not.toHaveProperty("instruction");
  });

  test.each([
    ["of 255 characters", "x".repeat(255)],
    ["of 255 characters beyond UTF-16's first plane", "🌱".repeat(255)],
    ["with blanks at its ends", "  Garden\t\n"],
    ["in several scripts", "Gärten 庭園 حديقة \u{1F469}\u200D\u{1F33E}"],
    ["that looks like a query", "'; DROP TABLE project; -- %_\\"],
    ["with the last character that is none", "\uffff\u0001"],
  ])("keeps a name %s as it is", async (_what, name) => {
    const instruction = name.repeat(3);
    const { body } = await ann.v2("project.create", { name, instruction });
    expect(body["project"]).toMatchObject({ name, instruction });
    const { body: list } = await ann.v2("project.list");
    expect(list["data"].find(({ id }: { id: string }) => id === body["project"].id)).toEqual(body["project"]);
  });

  test("keeps an instruction of 20,000 characters", async () => {
    const instruction = "🌱".repeat(20_000);
    const { body } = await ann.v2("project.create", { name: "Garden", instruction });
    expect(body["project"].instruction).toBe(instruction);
  });

  test("makes another project each time, also of the same name", async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => ann.v2("project.create", { name: "Twin" })));
    expect(new Set(replies.map(({ body }) => body["project"].id)).size).toBe(20);
  });

  test("is refused on every wire once its space holds a thousand, and lets exactly that many in when fifty come at once", async () => {
    const owner = await service.person();
    const colleague = await service.person({ with: owner });
    await fill(owner, projectsMax - 20);
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, n) => (n % 2 ? owner : colleague).v2("project.create", { name: "Last" })),
    );
    const told = replies.map(({ status, body }) => `${status} ${body.error?.code ?? "ok"}`);
    expect(told.filter((text) => text === "200 ok")).toHaveLength(20);
    expect(told.filter((text) => text === "429 resource_exhausted")).toHaveLength(30);
    expect(await service.store.projects.count(owner.spaceId)).toBe(projectsMax);

    const { status, body } = await owner.v2("project.create", { name: "One more" });
    expect([status, body.error]).toEqual([429, { code: "resource_exhausted", message: "a space holds at most 1000 projects" }]);
    for (const wire of rpcWires) {
      const error = ConnectError.from(
        await colleague
          .client(ProjectService, wire)
          .createProject({ name: "One more" })
          .catch((thrown: unknown) => thrown),
      );
      expect([error.code, error.rawMessage]).toEqual([Code.ResourceExhausted, "a space holds at most 1000 projects"]);
    }
    expect((await (await service.person({ as: owner })).v2("project.create", { name: "Elsewhere" })).status).toBe(200);
    expect((await ann.v2("project.create", { name: "Elsewhere" })).status).toBe(200);
  });

  /** Projects without a call each. */
  function fill({ accountId, spaceId }: Person, count: number): Promise<void> {
    return service.store.change(async (tx) => {
      for (let n = 0; n < count; n++) {
        await tx.projects.insert({ id: systemIds.short(), accountId, spaceId, name: `${n}`, instruction: "", createdAt: n });
      }
    });
  }
});
