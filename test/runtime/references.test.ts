import { expect, test } from "vitest";
import { referencesOf } from "../../src/core/tasks/message.ts";
import { agentMessage, annAtHome, bo, putTask, userMessage } from "../store/samples.ts";
import { describeOnOne, openTestStore } from "../support/database.ts";

describeOnOne("the tasks that a task refers to", (kind) => {
  test("are opened with its owner's access at that time, and no others are", async () => {
    await using db = await openTestStore(kind);
    const put = (members = {}) => putTask(db.store, members, [userMessage("Ask"), agentMessage("Answer")]);
    const own = await put({ title: "Own" });
    const deleted = await put();
    await db.store.change((tx) => tx.tasks.tombstone(deleted.id, 1, false));
    const hidden = [deleted, await put(bo), await put(annAtHome)];
    const ids = [own, ...hidden].map(({ id }) => id);
    const references = referencesOf(db.store, { ...own, references: ids });
    const opened = await references.open(own.id);
    expect(opened).toMatchObject({ id: own.id, title: "Own", lastSeq: 2 });
    expect(await opened?.events({ order: "asc", limit: 1, verbose: true })).toMatchObject([
      { seq: 1, type: "user_message" },
    ]);
    for (const { id } of hidden) expect(await references.open(id)).toBeNull();
    const unnamed = await put();
    for (const id of [unnamed.id, "agent-default-main_task", ""])
      expect(await references.open(id)).toBeNull();
    await db.store.change((tx) => tx.tasks.tombstone(own.id, 1, false));
    expect(await references.open(own.id)).toBeNull();
  });

  test("for an app's task are only those of the app", async () => {
    await using db = await openTestStore(kind);
    const [mine, byKey, others] = [
      await putTask(db.store, { clientId: "app" }),
      await putTask(db.store),
      await putTask(db.store, { clientId: "other" }),
    ];
    const references = referencesOf(db.store, { ...mine, references: [mine.id, byKey.id, others.id] });
    expect(await references.open(mine.id)).not.toBeNull();
    for (const { id } of [byKey, others]) expect(await references.open(id)).toBeNull();
  });
});
