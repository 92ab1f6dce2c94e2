import { beforeAll, expect, test } from "vitest";
import { applyCaps, visibilities } from "../../src/core/visibility.ts";
import { TaskStatus } from "../../src/gen/proto/task/v2/task_pb.ts";
import { describeOnOne } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import type { Person } from "../support/service.ts";
import { tokenOf } from "../support/token.ts";
import { type Headers, notFoundText, outcomeOf, sharedRig } from "./shared-rig.ts";

describeOnOne("a shared task (spec/api.md 8.37)", (database) => {
  const rig = sharedRig(database);
  let members: Headers[];
  let strangers: [who: string, headers: Headers][];

  const sessionOf = async (person: Person): Promise<Headers> => (await person.session()).headers;

  beforeAll(async () => {
    const { service, ann } = rig;
    const colleague = await service.person({ with: ann });
    const guest = await service.person({ with: ann, role: "guest" });
    const session = await sessionOf(ann);
    members = [session, await sessionOf(colleague), await sessionOf(guest)];
    const left = await service.person({ with: ann });
    const leftSession = await sessionOf(left);
    const paused = await service.person({ with: ann });
    const pausedSession = await sessionOf(paused);
    await runDirectly(
      rig.db,
      `UPDATE membership SET status = 'removed' WHERE account_id = '${left.accountId}'`,
    );
    await runDirectly(
      rig.db,
      `UPDATE membership SET status = 'inactive' WHERE account_id = '${paused.accountId}'`,
    );
    strangers = [
      ["no credential", {}],
      ["a key of the owner", ann.headers],
      ["a key of a colleague", colleague.headers],
      ["a token of the owner", (await tokenOf(service, ann, { now: rig.clock.now() })).headers],
      ["a key that is none", { "x-api-key": "sk-none" }],
      ["a session next to a key", { ...session, ...ann.headers }],
      ["a session next to a token that is none", { ...session, authorization: "Bearer none" }],
      ["a session of another origin", { ...session, origin: "https://elsewhere.example" }],
      ["a session of the origin null", { ...session, origin: "null" }],
      ["a session without an origin", { cookie: session["cookie"] ?? "" }],
      ["a cookie that is none", { ...session, cookie: "session=none" }],
      ["a session of another team", await sessionOf(await service.person())],
      ["a session of a personal space", await sessionOf(await service.person({ personal: true }))],
      ["a session of the owner in another team", await sessionOf(await service.person({ as: ann }))],
      ["a session of a member who left", leftSession],
      ["a session of a member who is not active", pausedSession],
    ];
  });

  const outcomes = (headers: Headers, id: string) => {
    const visitor = rig.visitor(headers);
    const calls = [visitor.getSharedTask({ taskId: id }), visitor.listSharedEvents({ taskId: id })];
    return Promise.all([
      ...calls.map(outcomeOf),
      outcomeOf(visitor.watchSharedTask({ taskId: id, untilSettled: true })),
    ]);
  };
  const open = ["ok", "ok", "ok"];
  const closed = [notFoundText, notFoundText, notFoundText];

  test("is open to visitors as the lower of its visibility and its cap says", async () => {
    for (const visibility of visibilities)
      for (const cap of [undefined, ...visibilities]) {
        const id = await rig.share(visibility, cap ? { cap } : {});
        await rig.advance(id, [], { status: "stopped" });
        const inEffect = applyCaps(visibility, cap ?? null);
        const seen = [await outcomes({}, id), await outcomes(members[0] ?? {}, id)];
        expect([visibility, cap, ...seen]).toEqual([
          visibility,
          cap,
          inEffect === "public" ? open : closed,
          inEffect === "private" ? closed : open,
        ]);
      }
  });

  test("with the team is open to sessions of its active members, guests included, and to no other credential", async () => {
    const id = await rig.share("team");
    await rig.advance(id, [], { status: "stopped" });
    for (const headers of members) expect(await outcomes(headers, id)).toEqual(open);
    for (const [who, headers] of strangers) expect([who, await outcomes(headers, id)]).toEqual([who, closed]);
  });

  test("with everyone is open to every visitor, also with a credential that is not valid", async () => {
    const id = await rig.share("public");
    await rig.advance(id, [], { status: "stopped" });
    for (const [who, headers] of strangers) expect([who, await outcomes(headers, id)]).toEqual([who, open]);
  });

  test("in a personal space is never shared with a team", async () => {
    const bo = await rig.service.person({ personal: true });
    const id = await rig.share("team", { who: bo });
    await runDirectly(rig.db, `UPDATE task SET share_visibility = 'team' WHERE id = '${id}'`);
    expect(await outcomes(await sessionOf(bo), id)).toEqual(closed);
  });

  test("that is private, deleted or unknown is not found, also by its owner", async () => {
    const [own, deleted] = [await rig.share("private"), await rig.share("public")];
    await rig.ann.v2("task.delete", { task_id: deleted, stop: true });
    for (const id of [own, deleted, "A".repeat(22), "agent-default-main_task", "x'; --"])
      for (const headers of [{}, members[0] ?? {}])
        expect([id, await outcomes(headers, id)]).toEqual([id, closed]);
  });

  test("is read again at each call: its owner and the team's cap close it at once", async () => {
    const id = await rig.share("public");
    const read = () => outcomeOf(rig.visitor().getSharedTask({ taskId: id }));
    const seen = [await read()];
    await rig.ann.v2("task.update", { task_id: id, share_visibility: "private" });
    seen.push(await read());
    await rig.ann.v2("task.update", { task_id: id, share_visibility: "public" });
    seen.push(await read());
    const manager = await rig.service.person({ as: rig.ann, with: rig.ann, kind: "team_asset_mgmt" });
    await manager.v2("team.asset.update_scope", {
      share_uid: id,
      permission: "SHARE_SCOPE_TEAM_ONLY",
      note: "Internal.",
    });
    seen.push(await read());
    expect(seen).toEqual(["ok", notFoundText, "ok", notFoundText]);
  });

  test("has a title, a state and times", async () => {
    const id = await rig.share("public");
    const { task } = await rig.visitor().getSharedTask({ taskId: id });
    const at = BigInt(Math.floor(rig.clock.now() / 1000));
    expect(task).toEqual({
      $typeName: "task.v2.SharedTask",
      ...{ title: "Shared", status: TaskStatus.RUNNING, createdAt: at, updatedAt: at },
    });
  });

  test("lists its visible events in pages without a gap, hidden ones left out", async () => {
    const id = await rig.share("public");
    const thought = { type: "explanation", payload: { content: "hidden" } } as const;
    for (const content of ["one", "two", "three"])
      await rig.advance(id, [thought, { type: "assistant_message", payload: { content } }, thought]);
    const texts: string[] = [];
    const pages: [count: number, next: number, more: boolean][] = [];
    for (let [afterSeq, more] = [0, true]; more; ) {
      const page = await rig.visitor().listSharedEvents({ taskId: id, afterSeq, limit: 2 });
      texts.push(
        ...page.data.map(({ content }) =>
          content.case === "assistantMessage" ? content.value.content : (content.case ?? ""),
        ),
      );
      pages.push([page.data.length, page.nextAfterSeq, page.hasMore]);
      [afterSeq, more] = [page.nextAfterSeq, page.hasMore];
    }
    const { lastSeq = 0 } = (await rig.service.store.tasks.byId(id)) ?? {};
    expect(texts.filter((text) => text !== "status")).toEqual(["userMessage", "one", "two", "three"]);
    expect(pages.at(-1)?.slice(1)).toEqual([lastSeq, false]);
    expect(await rig.visitor().listSharedEvents({ taskId: id, afterSeq: 2 ** 31 - 1 })).toMatchObject({
      data: [],
      hasMore: false,
    });
  });

  test("lists at most what 5,000 events contain in one call, and says that more follow", async () => {
    const id = await rig.share("public");
    const thought = { type: "explanation", payload: { content: "" } } as const;
    for (let added = 0; added < 6_000; added += 500) await rig.advance(id, Array(500).fill(thought));
    await rig.advance(id, [{ type: "assistant_message", payload: { content: "Done" } }]);
    const first = await rig.visitor().listSharedEvents({ taskId: id, afterSeq: 1 });
    expect([first.hasMore, first.nextAfterSeq]).toEqual([true, 5_001]);
    const second = await rig.visitor().listSharedEvents({ taskId: id, afterSeq: first.nextAfterSeq });
    expect([second.data.map(({ content }) => content.case), second.hasMore]).toEqual([
      ["assistantMessage"],
      false,
    ]);
  });
});
