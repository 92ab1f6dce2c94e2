import { expect, test } from "vitest";
import type { SubjectRef } from "../../../src/core/exports/export.ts";
import { describeOnEach, runOn, storeOfSuite } from "../../support/database.ts";
import { newId } from "../samples.ts";

interface Row {
  readonly accountId: string;
  readonly email: string;
  readonly originalEmail?: string;
  readonly status?: "active" | "inactive" | "removed";
  readonly removedAt?: number;
}

describeOnEach("the subject of an export", (kind) => {
  const suite = storeOfSuite(kind);

  async function team(
    rows: readonly Row[],
  ): Promise<{ spaceId: string; find: (ref: SubjectRef) => Promise<string | undefined> }> {
    const [spaceId, teamId] = [newId("space"), newId("team")];
    await suite.store.change(async (tx) => {
      await tx.accounts.insertSpace({ id: spaceId, kind: "team", createdAt: 1, accountId: null });
      await tx.accounts.insertTeam({ id: teamId, spaceId, name: teamId, createdAt: 1 });
      for (const { accountId, email, status = "active" } of rows)
        await tx.accounts.insertMember({
          id: newId("member"),
          teamId,
          spaceId,
          accountId,
          email,
          role: "member",
          status,
          createdAt: 1,
        });
    });
    for (const { accountId, email, originalEmail, removedAt } of rows) {
      const set = `original_email = ${originalEmail ? `'${originalEmail}'` : "NULL"}, removed_at = ${removedAt ?? "NULL"}`;
      await runOn(
        suite.url,
        `UPDATE membership SET ${set} WHERE space_id = '${spaceId}' AND account_id = '${accountId}' AND email = '${email}'`,
      );
    }
    const find = async (ref: SubjectRef) => {
      const found = await suite.store.exports.subject(spaceId, ref);
      if (found) expect(found.teamId).toBe(teamId);
      return found?.accountId;
    };
    return { spaceId, find };
  }

  test("is found by account id or address in any case, with any status", async () => {
    const { find } = await team([
      { accountId: "a", email: "Ann@x.test" },
      { accountId: "b", email: "bo@x.test", status: "inactive" },
      { accountId: "c", email: "cy@x.test", status: "removed", removedAt: 9 },
    ]);
    for (const [id, email] of [
      ["a", "ann@X.test"],
      ["b", "bo@x.test"],
      ["c", "CY@x.test"],
    ] as const) {
      expect(await find({ accountId: id })).toBe(id);
      expect(await find({ email })).toBe(id);
      expect([await find({ either: id }), await find({ either: email })]).toEqual([id, id]);
      expect(await find({ accountId: email })).toBeUndefined();
      expect(await find({ email: id })).toBeUndefined();
    }
    for (const ref of [{ accountId: "d" }, { email: "d@x.test" }, { either: "%" }, { either: "" }])
      expect(await find(ref)).toBeUndefined();
  });

  test("belongs to the team: members of other teams are not found", async () => {
    const one = await team([{ accountId: "only-one", email: "one@x.test" }]);
    const other = await team([
      { accountId: "only-other", email: "other@x.test", status: "removed", removedAt: 9 },
    ]);
    expect([await one.find({ either: "other@x.test" }), await one.find({ accountId: "only-other" })]).toEqual(
      [undefined, undefined],
    );
    expect([await other.find({ either: "one@x.test" }), await other.find({ accountId: "only-one" })]).toEqual(
      [undefined, undefined],
    );
  });

  test("by an address is the active member who has it, then who had it before a delegation, then the last one removed", async () => {
    const removed = { status: "removed" } as const;
    const tombstones: Row[] = [
      { accountId: "long-gone", email: "x@x.test", removedAt: 5, ...removed },
      {
        accountId: "gone",
        email: "delegate-1@svc.test",
        originalEmail: "X@x.test",
        removedAt: 8,
        ...removed,
      },
    ];
    const delegated: Row = {
      accountId: "delegated",
      email: "delegate-2@svc.test",
      originalEmail: "x@x.test",
    };
    const active: Row = { accountId: "living", email: "x@x.test", status: "inactive" };
    const findByAddress = async (rows: readonly Row[]) => (await team(rows)).find({ email: "x@x.test" });
    expect(await findByAddress(tombstones.slice(0, 1))).toBe("long-gone");
    expect(await findByAddress(tombstones)).toBe("gone");
    expect(await findByAddress([...tombstones, delegated])).toBe("delegated");
    expect(await findByAddress([...tombstones, delegated, active])).toBe("living");
  });

  test("who joined again under another account is found by both ids", async () => {
    const { find } = await team([
      { accountId: "old", email: "x@x.test", status: "removed", removedAt: 5 },
      { accountId: "new", email: "x@x.test" },
    ]);
    expect([
      await find({ accountId: "old" }),
      await find({ accountId: "new" }),
      await find({ email: "x@x.test" }),
    ]).toEqual(["old", "new", "new"]);
  });
});
