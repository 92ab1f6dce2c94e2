import { expect, test } from "vitest";
import { describeOnEach, openTestStore } from "../../support/database.ts";
import { putPeople, sampleMember, sampleProject } from "../samples.ts";

describeOnEach("accounts", (kind) => {
  test("people, spaces and teams are read as they were written", async () => {
    await using database = await openTestStore(kind);
    const { accounts } = database.store;
    expect(await accounts.firstTeam()).toBeNull();
    await putPeople(database.store);
    expect(await accounts.byEmail("bo@example.com")).toEqual({
      id: "bo",
      email: "bo@example.com",
      name: null,
      locale: "fr",
      createdAt: 1000,
    });
    expect(await accounts.byEmail("nobody@example.com")).toBeNull();
    expect(await accounts.teamByName("North")).toEqual({
      id: "north-team",
      spaceId: "north",
      name: "North",
      createdAt: 1000,
    });
    expect(await accounts.teamByName("north")).toBeNull();
    expect(await accounts.personalSpace("ann")).toEqual({ id: "home", kind: "personal" });
    expect(await accounts.personalSpace("bo")).toBeNull();
  });

  test("the first team is the oldest", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await putPeople(store);
    await store.change(async ({ accounts }) => {
      await accounts.insertSpace({ id: "old", kind: "team", createdAt: 1, accountId: null });
      await accounts.insertTeam({ id: "old", spaceId: "old", name: "Old", createdAt: 1 });
    });
    expect(await store.accounts.firstTeam()).toMatchObject({ name: "Old" });
  });

  test.each([
    "insertAccount",
    "insertTeam",
    "insertSpace",
  ] as const)("%s refuses a second one with the same id", async (method) => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await putPeople(store);
    const doubled = store.change(async ({ accounts }) => {
      if (method === "insertAccount")
        await accounts.insertAccount({
          id: "other",
          email: "ann@example.com",
          name: null,
          locale: "en",
          createdAt: 1,
        });
      if (method === "insertTeam")
        await accounts.insertTeam({ id: "other", spaceId: "home", name: "North", createdAt: 1 });
      if (method === "insertSpace")
        await accounts.insertSpace({ id: "other", kind: "personal", createdAt: 1, accountId: "ann" });
    });
    await expect(doubled).rejects.toMatchObject({ reason: "internal" });
  });

  test("a team has one active owner, even if the code does not check it", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await putPeople(store);
    await store.change((tx) =>
      tx.accounts.insertMember(sampleMember({ id: "past", accountId: "bo", status: "removed" })),
    );
    expect(await store.accounts.owner("north-team")).toBeNull();
    await store.change((tx) => tx.accounts.insertMember(sampleMember({ id: "owner" })));
    expect(await store.accounts.owner("north-team")).toEqual(sampleMember({ id: "owner" }));
    const second = store.change((tx) => tx.accounts.insertMember(sampleMember({ accountId: "bo" })));
    await expect(second).rejects.toMatchObject({ reason: "internal" });
  });

  test("an account is in a team once; a tombstone does not count, and is listed last", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await putPeople(store);
    const add = (id: string, members: Parameters<typeof sampleMember>[0]) =>
      store.change((tx) => tx.accounts.insertMember(sampleMember({ id, role: "member", ...members })));
    await add("first", { status: "removed", createdAt: 1 });
    await add("second", { status: "removed", createdAt: 2 });
    expect(await store.accounts.member("north-team", "ann")).toMatchObject({ id: "second" });
    await add("third", { status: "inactive", createdAt: 0 });
    expect(await store.accounts.member("north-team", "ann")).toMatchObject({ id: "third" });
    await expect(add("fourth", {})).rejects.toMatchObject({ reason: "internal" });
    expect(await store.accounts.member("north-team", "bo")).toBeNull();
  });

  test.each(["lock", "lockSpace"] as const)("a count under %s is exact in a race", async (method) => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await putPeople(store);
    const most = 5;
    const add = (id: string) =>
      store.change(async (tx) => {
        await tx.accounts[method](method === "lock" ? "ann" : "north");
        if ((await tx.projects.count("north")) >= most) return false;
        await tx.projects.insert(sampleProject({ id }));
        return true;
      });
    const added = await Promise.all(Array.from({ length: 20 }, (_, n) => add(`p${n}`)));
    expect(added.filter(Boolean)).toHaveLength(most);
    expect(await store.projects.count("north")).toBe(most);
  });
});
