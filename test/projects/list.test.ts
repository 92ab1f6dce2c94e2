import { afterAll, beforeAll, expect, test } from "vitest";
import { ProjectService } from "../../src/gen/proto/project/v2/project_service_pb.ts";
import { describeOnOne } from "../support/database.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { rpcWires } from "../support/wires.ts";

describeOnOne("project.list", (database) => {
  const clock = stillClock();
  let service: Service;

  beforeAll(async () => {
    service = await openService({ database, idle: true, clock });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const namesOf = async (person: Person): Promise<string[]> => {
    const { body } = await person.v2("project.list");
    return body["data"].map(({ name }: { name: string }) => name);
  };

  test("is an empty list at first, and has no paging members", async () => {
    const { status, body } = await (await service.person()).v2("project.list");
    expect([status, body]).toEqual([200, { ok: true, request_id: expect.any(String), data: [] }]);
  });

  test("shows a created project immediately, with and without an instruction", async () => {
    const ann = await service.person();
    const created = [
      (await ann.v2("project.create", { name: "Garden", instruction: "Be brief." })).body["project"],
      (await ann.v2("project.create", { name: "Pond" })).body["project"],
    ];
    const { body } = await ann.v2("project.list");
    expect(body["data"]).toHaveLength(2);
    expect(body["data"]).toEqual(expect.arrayContaining(created));
  });

  test("has the newest first, with a stable order within a millisecond", async () => {
    const ann = await service.person();
    for (const name of ["first", "second", "third"]) {
      await ann.v2("project.create", { name });
      clock.step(1);
    }
    expect(await namesOf(ann)).toEqual(["third", "second", "first"]);
    await Promise.all(Array.from({ length: 5 }, () => ann.v2("project.create", { name: "same" })));
    const ids = async () => (await ann.v2("project.list")).body["data"].map(({ id }: { id: string }) => id);
    expect(await ids()).toEqual(await ids());
    expect((await namesOf(ann)).slice(0, 5)).toEqual(Array<string>(5).fill("same"));
  });

  test("is the same by GET, by POST and over every RPC wire, for projects made on any wire", async () => {
    const ann = await service.person();
    for (const wire of rpcWires)
      await ann.client(ProjectService, wire).createProject({ name: wire, instruction: "Be brief." });
    await ann.v2("project.create", { name: "v2" });
    const { body: posted } = await ann.v2("project.list");
    const { body: listed } = await ann.v2("project.list", {}, { method: "GET" });
    expect(posted["data"]).toHaveLength(rpcWires.length + 1);
    expect(listed["data"]).toEqual(posted["data"]);
    for (const wire of rpcWires) {
      const { data } = await ann.client(ProjectService, wire).listProjects({});
      const spelled = data.map(({ id, name, instruction, createdAt }) => ({
        id,
        name,
        created_at: Number(createdAt),
        ...(instruction === undefined ? {} : { instruction }),
      }));
      expect(spelled).toEqual(posted["data"]);
    }
  });

  test("shows a project only to its account in its space, with all its keys", async () => {
    const ann = await service.person();
    await ann.v2("project.create", { name: "Ann's" });
    const colleague = await service.person({ with: ann, role: "admin" });
    await colleague.v2("project.create", { name: "a colleague's" });
    const elsewhere = await service.person({ as: ann });
    await elsewhere.v2("project.create", { name: "Ann's in another team" });
    const personal = await service.person({ as: ann, personal: true });
    const stranger = await service.person();

    expect(await namesOf(ann)).toEqual(["Ann's"]);
    expect(await namesOf(await service.person({ as: ann, with: ann }))).toEqual(["Ann's"]);
    expect(await namesOf(colleague)).toEqual(["a colleague's"]);
    expect(await namesOf(elsewhere)).toEqual(["Ann's in another team"]);
    expect(await namesOf(personal)).toEqual([]);
    expect(await namesOf(stranger)).toEqual([]);
    for (const wire of rpcWires) {
      const { data } = await stranger.client(ProjectService, wire).listProjects({});
      expect(data).toEqual([]);
    }
  });

  test("ignores the parameters of the first API version", async () => {
    const ann = await service.person();
    for (const name of ["Garden", "Pond"]) await ann.v2("project.create", { name });
    const { status, body } = await ann.v2("project.list", { limit: "1", cursor: "x" }, { method: "GET" });
    expect([status, body["data"].length]).toEqual([200, 2]);
  });
});
