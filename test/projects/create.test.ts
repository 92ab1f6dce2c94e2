import { setImmediate as turn } from "node:timers/promises";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { projectsMax } from "../../src/core/projects/project.ts";
import { ProjectService } from "../../src/gen/proto/project/v2/project_service_pb.ts";
import { sampleProject } from "../store/samples.ts";
import { describeOnOne, openTestStore, type TestStore } from "../support/database.ts";
import { storeWithFaults } from "../support/faults.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { quarterPast, stillClock } from "../support/still-clock.ts";
import { rpcWires } from "../support/wires.ts";

/** Returns the count a little later, so that concurrent calls could read the same count without a lock. */
async function slowCount(count: Promise<number>): Promise<number> {
  const counted = await count;
  for (let n = 0; n < 20; n++) await turn();
  return counted;
}

const shortId = /^[2-9A-HJ-NP-Za-km-z]{22}$/;

describeOnOne("project.create", (database) => {
  // Half a second after a full one: the specification's times are whole seconds.
  const clock = stillClock(quarterPast + 500);
  let opened: TestStore;
  let service: Service;
  let ann: Person;

  beforeAll(async () => {
    opened = await openTestStore(database, { clock });
    const store = storeWithFaults(opened.store, "projects", (rows) => ({
      count: (spaceId) => slowCount(rows.count(spaceId)),
    }));
    service = await openService({ idle: true, clock, over: { store, url: opened.url } });
    ann = await service.person();
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await opened[Symbol.asyncDispose]();
  });

  test("returns the project with its instruction", async () => {
    const { status, body } = await ann.v2("project.create", {
      name: "Garden",
      instruction: "Answer in verse.",
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      ok: true,
      request_id: expect.any(String),
      project: {
        id: expect.stringMatching(shortId),
        name: "Garden",
        instruction: "Answer in verse.",
        created_at: quarterPast / 1000,
      },
    });
  });

  test.each([
    ["left out", {}],
    ["null", { instruction: null }],
    ["empty", { instruction: "" }],
  ])("omits the instruction from its answer when it was %s", async (_what, given) => {
    const { body } = await ann.v2("project.create", { name: "Garden", ...given });
    expect(Object.keys(body["project"]).toSorted()).toEqual(["created_at", "id", "name"]);
  });

  test.each(rpcWires)("gives the same answer over %s", async (wire) => {
    const projects = ann.client(ProjectService, wire);
    const { project } = await projects.createProject({ name: "Garden", instruction: "Answer in verse." });
    expect(project).toMatchObject({
      name: "Garden",
      instruction: "Answer in verse.",
      createdAt: BigInt(quarterPast / 1000),
    });
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
    ["with the last noncharacter", "\uffff\u0001"],
  ])("keeps a name %s unchanged", async (_what, name) => {
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

  test("makes another project each time, also with the same name", async () => {
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => ann.v2("project.create", { name: "Twin" })),
    );
    expect(new Set(replies.map(({ body }) => body["project"].id)).size).toBe(20);
  });

  test("is refused on every wire once its space has a thousand, and fifty concurrent calls create exactly the remaining ones", async () => {
    const owner = await service.person();
    const colleague = await service.person({ with: owner });
    await fill(owner, projectsMax - 20);
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        (n % 2 ? owner : colleague).v2("project.create", { name: "Last" }),
      ),
    );
    const outcomes = replies.map(({ status, body }) => `${status} ${body.error?.code ?? "ok"}`);
    expect(outcomes.filter((text) => text === "200 ok")).toHaveLength(20);
    expect(outcomes.filter((text) => text === "429 resource_exhausted")).toHaveLength(30);
    expect(await service.store.projects.count(owner.spaceId)).toBe(projectsMax);

    const { status, body } = await owner.v2("project.create", { name: "One more" });
    expect([status, body.error]).toMatchObject([
      429,
      { code: "resource_exhausted", message: "a space holds at most 1000 projects" },
    ]);
    for (const wire of rpcWires) {
      const error = ConnectError.from(
        await colleague
          .client(ProjectService, wire)
          .createProject({ name: "One more" })
          .catch((thrown: unknown) => thrown),
      );
      expect([error.code, error.rawMessage]).toEqual([
        Code.ResourceExhausted,
        "a space holds at most 1000 projects",
      ]);
    }
    expect(
      (await (await service.person({ as: owner })).v2("project.create", { name: "Elsewhere" })).status,
    ).toBe(200);
    expect((await ann.v2("project.create", { name: "Elsewhere" })).status).toBe(200);
  });

  /** Inserts projects without calls. */
  function fill({ accountId, spaceId }: Person, count: number): Promise<void> {
    return service.store.change(async (tx) => {
      for (let n = 0; n < count; n++) {
        await tx.projects.insert(sampleProject({ accountId, spaceId, createdAt: n }));
      }
    });
  }
});
