import { expect, test } from "vitest";
import { systemClock } from "../../../src/core/clock.ts";
import { systemIds, systemRandom } from "../../../src/core/ids.ts";
import { keyDigest } from "../../../src/core/keys/api-key.ts";
import {
  createFirstAccount,
  initializeInstallation,
} from "../../../src/core/use-cases/initialize-installation.ts";
import { openStore } from "../../../src/store/open.ts";
import { databaseUrl, describeOnOne, openTestStore } from "../../support/database.ts";

const making = { now: 1_790_000_000_000, ids: systemIds, random: systemRandom };

describeOnOne("the first start", (kind) => {
  test("makes an account, its team and space, the owner's membership, and a general key", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const text = await store.change((tx) => initializeInstallation(tx, making, "Ann@Example.com"));
    const team = await store.accounts.firstTeam();
    const account = await store.accounts.byEmail("ann@example.com");
    expect(await store.accounts.owner(team?.id ?? "")).toMatchObject({
      accountId: account?.id,
      spaceId: team?.spaceId,
      role: "owner",
      status: "active",
    });
    expect(await store.keys.holder(keyDigest(text ?? ""))).toMatchObject({
      key: {
        accountId: account?.id,
        spaceId: team?.spaceId,
        kind: "general",
        expiresAt: null,
        revokedAt: null,
      },
      member: { role: "owner", status: "active" },
    });
  });

  test("happens once: a later one changes nothing, with any address", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await store.change((tx) => initializeInstallation(tx, making, "ann@example.com"));
    expect(await store.change((tx) => initializeInstallation(tx, making, "bo@example.com"))).toBeNull();
    expect(await store.accounts.byEmail("bo@example.com")).toBeNull();
  });

  test("makes no key if a command made the account before", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    expect(await store.change((tx) => createFirstAccount(tx, making, "ann@example.com"))).toMatchObject({
      role: "owner",
    });
    expect(await store.change((tx) => initializeInstallation(tx, making, "ann@example.com"))).toBeNull();
  });

  test("happens once for processes that start at the same moment", async () => {
    await using database = await databaseUrl(kind);
    const keys = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const store = await openStore({
          databaseUrl: database.url,
          clock: systemClock,
          random: systemRandom,
        });
        try {
          return await store.change((tx) => initializeInstallation(tx, making, "ann@example.com"));
        } finally {
          await store.close();
        }
      }),
    );
    expect(keys.filter((key) => key !== null)).toHaveLength(1);
  });
});
