import { expect, test } from "vitest";
import { describeOnEach, openTestStore } from "../../support/database.ts";
import { ann } from "../samples.ts";

// The column is fetch_mode: `fetch` is a keyword of PostgreSQL.
describeOnEach("the settings of a profile", (kind) => {
  test("are created and changed, with the requests that its agents may send", async () => {
    await using db = await openTestStore(kind);
    const row = { spaceId: ann.spaceId, profile: "train" };
    const set = (fetch: "ask" | "off", updatedAt: number) =>
      db.store.change((tx) =>
        tx.agentProfiles.set({ ...row, updatedAt }, { fetch, fetchHosts: ["docs.example.com"] }),
      );
    await set("ask", 1);
    expect(await db.store.agentProfiles.list(ann.spaceId)).toMatchObject([
      { ...row, fetch: "ask", updatedAt: 1 },
    ]);
    await set("off", 2);
    expect(await db.store.agentProfiles.list(ann.spaceId)).toMatchObject([
      { ...row, fetch: "off", fetchHosts: ["docs.example.com"], updatedAt: 2 },
    ]);
  });
});
