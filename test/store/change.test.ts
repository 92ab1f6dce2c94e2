import { expect, test, vi } from "vitest";
import type { InstalledConnector } from "../../src/core/connectors/connector.ts";
import { Failure, failureOf } from "../../src/core/failure.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import type { Tx } from "../../src/core/store.ts";
import { newWebsite } from "../../src/core/websites/website.ts";
import { backoffMs } from "../../src/store/change.ts";
import { describeOnEach, openTestStore, storeOfSuite } from "../support/database.ts";
import { pendingJobs } from "../support/jobs.ts";
import { sampleApp } from "../support/oauth.ts";
import {
  ann,
  putTask,
  said,
  sampleAudit,
  sampleDelivery,
  sampleEvent,
  sampleFile,
  sampleKey,
  sampleMember,
  sampleProject,
  sampleRefusal,
  sampleReplay,
  sampleTask,
  sampleWebhook,
} from "./samples.ts";

const inNorth = { accountId: "ann", spaceId: "north" };
const sampleSession = { ...inNorth, id: "s", digest: "d", createdAt: 1, provedAt: 1, expiresAt: 2 };
const sampleSkill = {
  ...({ ...inNorth, id: "s", ownerType: "personal", projectId: null, clientId: null, name: "n", description: "", enabled: true } as const),
  ...{ blobId: "b", bytes: 1, sha256: "x", createdAt: 1, updatedAt: 1 },
};
const sampleLink = { ...inNorth, digest: "d", createdAt: 1, expiresAt: 2 };
const sampleGrant = { ...inNorth, id: "g", clientId: "c", scopes: [], connectorUids: [], generation: 1, createdAt: 1, updatedAt: 1 };
const codeOf = { ...inNorth, clientId: "c", grantId: "g", redirectUri: "https://app.example/cb", scopes: [], challenge: null };
const sampleCode = { ...codeOf, digest: "d", generation: 1, createdAt: 1, expiresAt: 2 };
const sampleWebhookKey = { id: "k", algorithm: "rsa", publicKey: "p", privateKey: new Uint8Array(1), createdAt: 1 } as const;
const sampleConnector: InstalledConnector = {
  ...{ id: "c", spaceId: "north", accountId: "ann", uid: "u", name: "n", description: "", category: "", type: "mcp", state: "ready" },
  ...{
    server: { transport: "none" },
    credentials: null,
    isDefault: false,
    tools: [],
    toolsAt: null,
    policy: {},
    createdAt: 1,
    updatedAt: 1,
  },
};
const sampleAuthorization = { digest: "d", connectorId: "c", accountId: "ann", spaceId: "north", sealed: new Uint8Array(1), expiresAt: 1 };
const samplePair = { accessId: "a", accessExpiresAt: 1, refreshDigest: "r", refreshExpiresAt: 1 };

const sampleSite = newWebsite({ ...inNorth, taskId: "t", title: "x", now: 1, ids: systemIds, random: systemRandom });
const sampleCheckpoint = { id: "c", websiteId: "w", spaceId: "north", message: "", status: "success", hash: "h", createdAt: 1 } as const;
const sampleVisit = { ...inNorth, digest: "d", kind: "ticket", websiteId: "w", expiresAt: 2 } as const;

/** Every method that writes, or takes a lock. */
const writes: readonly [name: string, write: (tx: Tx) => Promise<unknown>][] = [
  ["accounts.insertAccount", (tx) => tx.accounts.insertAccount({ id: "x", email: "x", name: null, locale: "en", createdAt: 1 })],
  ["accounts.insertSpace", (tx) => tx.accounts.insertSpace({ id: "x", kind: "team", createdAt: 1, accountId: null })],
  ["accounts.insertTeam", (tx) => tx.accounts.insertTeam({ id: "x", spaceId: "north", name: "x", createdAt: 1 })],
  ["accounts.insertMember", (tx) => tx.accounts.insertMember(sampleMember())],
  ["accounts.lock", (tx) => tx.accounts.lock("ann")],
  ["accounts.lockSpace", (tx) => tx.accounts.lockSpace("north")],
  ["members.insert", (tx) => tx.members.insert({ ...sampleMember(), name: null, externalId: null })],
  ["members.update", (tx) => tx.members.update("north", "m", { name: "x" })],
  ["members.hold", (tx) => tx.members.hold(inNorth)],
  ["members.eraseAccount", (tx) => tx.members.eraseAccount("ann")],
  ["sessions.endIn", (tx) => tx.sessions.endIn("ann", "north")],
  ["keys.revokeAll", (tx) => tx.keys.revokeAll("ann", "north", 1)],
  ["codes.useUpOf", (tx) => tx.codes.useUpOf("ann", "north", 1)],
  ["families.revokeOf", (tx) => tx.families.revokeOf("ann", "north", 1)],
  ["skills.insert", (tx) => tx.skills.insert(sampleSkill)],
  ["skills.setEnabled", (tx) => tx.skills.setEnabled("s", false, 1)],
  ["skills.replace", (tx) => tx.skills.replace("s", sampleSkill)],
  ["skills.remove", (tx) => tx.skills.remove(["s"], 1)],
  ["means.set", (tx) => tx.means.set({ id: "t", spaceId: "north" }, { forced: [] })],
  ["means.erase", (tx) => tx.means.erase("t")],
  ["keys.insert", (tx) => tx.keys.insert(sampleKey())],
  ["keys.revoke", (tx) => tx.keys.revoke("k", 1)],
  ["keys.revokeOwn", (tx) => tx.keys.revokeOwn(ann, "k", 1)],
  ["keys.use", (tx) => tx.keys.use("k", 1, 1)],
  ["keys.giveEnterprise", (tx) => tx.keys.giveEnterprise("north", "ann", "bo")],
  ["accounts.setRole", (tx) => tx.accounts.setRole("m", "admin")],
  ["sessions.insert", (tx) => tx.sessions.insert(sampleSession)],
  ["sessions.renew", (tx) => tx.sessions.renew("s", 9, 9)],
  ["sessions.prove", (tx) => tx.sessions.prove("s", 1)],
  ["sessions.end", (tx) => tx.sessions.end("s")],
  ["sessions.endOthers", (tx) => tx.sessions.endOthers("ann", null)],
  ["sessions.purge", (tx) => tx.sessions.purge(9)],
  ["signIns.setPassword", (tx) => tx.signIns.setPassword("ann", "p")],
  ["signIns.bind", (tx) => tx.signIns.bind("ann", { issuer: "i", subject: "s" })],
  ["signIns.signedIn", (tx) => tx.signIns.signedIn("m", 1)],
  ["links.insert", (tx) => tx.links.insert(sampleLink)],
  ["links.use", (tx) => tx.links.use("d", 1)],
  ["links.useUp", (tx) => tx.links.useUp("ann", null, 1)],
  ["links.purge", (tx) => tx.links.purge(9)],
  ["apps.insert", (tx) => tx.apps.insert(sampleApp())],
  ["apps.lock", (tx) => tx.apps.lock("c")],
  ["apps.update", (tx) => tx.apps.update(sampleApp())],
  ["apps.remove", (tx) => tx.apps.remove("c", 1)],
  ["apps.insertSecret", (tx) => tx.apps.insertSecret({ id: "x", clientId: "c", digest: "d", last4: "last", createdAt: 1 })],
  ["apps.revokeSecret", (tx) => tx.apps.revokeSecret("c", "x", 1)],
  ["grants.lock", (tx) => tx.grants.lock(sampleGrant)],
  ["grants.update", (tx) => tx.grants.update(sampleGrant)],
  ["grants.revoke", (tx) => tx.grants.revoke("g", 1)],
  ["grants.revokeAll", (tx) => tx.grants.revokeAll("ann", "north", 1)],
  ["codes.insert", (tx) => tx.codes.insert(sampleCode)],
  ["codes.use", (tx) => tx.codes.use("d", "f", 1)],
  ["codes.purge", (tx) => tx.codes.purge(9)],
  ["families.rotate", (tx) => tx.families.rotate("f", { digest: "d", at: 1, from: "a" }, samplePair)],
  ["families.revoke", (tx) => tx.families.revoke("f", 1)],
  ["families.revokeAccess", (tx) => tx.families.revokeAccess("f", "a")],
  ["families.purge", (tx) => tx.families.purge(9)],
  ["signingKeys.lock", (tx) => tx.signingKeys.lock()],
  ["signingKeys.insert", (tx) => tx.signingKeys.insert({ id: "k", publicKey: "{}", privateKey: new Uint8Array(1), createdAt: 1 })],
  ["signingKeys.remove", (tx) => tx.signingKeys.remove("k")],
  ["webhooks.insert", (tx) => tx.webhooks.insert(sampleWebhook())],
  ["webhooks.lock", (tx) => tx.webhooks.lock({ ...inNorth, ofApps: true }, "w")],
  ["webhooks.update", (tx) => tx.webhooks.update("w", { status: "inactive" })],
  ["webhooks.bury", (tx) => tx.webhooks.bury("w", 1)],
  ["webhooks.purge", (tx) => tx.webhooks.purge(9, 1)],
  ["deliveryLog.resend", (tx) => tx.deliveryLog.resend("d", 1)],
  ["deliveryLog.recover", (tx) => tx.deliveryLog.recover("w", 0, 1)],
  ["deliveryLog.purge", (tx) => tx.deliveryLog.purge(9, 1)],
  ["deliveryLog.purgeEvents", (tx) => tx.deliveryLog.purgeEvents(9, 1)],
  ["projects.insert", (tx) => tx.projects.insert(sampleProject())],
  ["tasks.insert", (tx) => tx.tasks.insert(sampleTask(), [])],
  ["tasks.lock", (tx) => tx.tasks.lock(ann, "t")],
  ["tasks.advance", (tx) => tx.tasks.advance("t", { now: 1 })],
  ["tasks.bury", (tx) => tx.tasks.bury("t", 1, false)],
  ["events.erase", (tx) => tx.events.erase("t")],
  ["webhookEvents.insert", (tx) => tx.webhookEvents.insert([sampleEvent()], [sampleDelivery(sampleEvent())])],
  ["webhookEvents.forget", (tx) => tx.webhookEvents.forget("t")],
  ["webhookEvents.settled", (tx) => tx.webhookEvents.settled(["e"])],
  ["files.insert", (tx) => tx.files.insert(sampleFile())],
  ["files.complete", (tx) => tx.files.complete("f", { blobId: "b", bytes: 1, sha256: "s", expiresAt: 1 })],
  ["files.fail", (tx) => tx.files.fail("f", "e", 1)],
  ["files.await", (tx) => tx.files.await("f", 1)],
  ["files.unawait", (tx) => tx.files.unawait("f", 1, 1)],
  ["files.remove", (tx) => tx.files.remove(ann, "f", 1)],
  ["files.eraseOf", (tx) => tx.files.eraseOf("t")],
  ["files.expire", (tx) => tx.files.expire(1, 1)],
  ["files.closeWindows", (tx) => tx.files.closeWindows(1, 1)],
  ["files.purge", (tx) => tx.files.purge(1)],
  ["blobs.begin", (tx) => tx.blobs.begin({ id: "b", accountId: null, bytes: 0, leaseUntil: 1 }, 1)],
  ["blobs.reserve", (tx) => tx.blobs.reserve("b", 1, 1)],
  ["blobs.renew", (tx) => tx.blobs.renew("b", 1)],
  ["blobs.settle", (tx) => tx.blobs.settle("b", { reserved: 1, bytes: 1 }, 1)],
  ["blobs.keep", (tx) => tx.blobs.keep("b")],
  ["blobs.abandon", (tx) => tx.blobs.abandon("b")],
  ["blobs.drop", (tx) => tx.blobs.drop(["b"])],
  ["blobs.takeLoose", (tx) => tx.blobs.takeLoose(1, 1, 1)],
  ["blobs.erase", (tx) => tx.blobs.erase(["b"])],
  ["jobs.put", (tx) => tx.jobs.put({ kind: "run", key: "t", runAt: 1 })],
  ["jobs.take", (tx) => tx.jobs.take("run", 9e12, 9e12 + 1, 1)],
  ["jobs.done", (tx) => tx.jobs.done("run", [{ kind: "run", key: "t", runAt: 1 }])],
  ["nodes.insert", (tx) => tx.nodes.insert({ id: "n", beat: 0, startedAt: 1, address: null })],
  ["nodes.raiseBeat", (tx) => tx.nodes.raiseBeat("n")],
  ["nodes.remove", (tx) => tx.nodes.remove("n")],
  ["replays.claim", (tx) => tx.replays.claim(sampleReplay(), "h", 1)],
  ["replays.complete", (tx) => tx.replays.complete(sampleReplay(), null, null)],
  ["replays.forget", (tx) => tx.replays.forget("t")],
  ["replays.purge", (tx) => tx.replays.purge(1)],
  ["connectors.insert", (tx) => tx.connectors.insert(sampleConnector)],
  ["connectors.lock", (tx) => tx.connectors.lock(ann, "c")],
  ["connectors.update", (tx) => tx.connectors.update("c", { isDefault: true })],
  ["connectors.bury", (tx) => tx.connectors.bury("c", 1)],
  ["connectors.insertAuthorization", (tx) => tx.connectors.insertAuthorization(sampleAuthorization)],
  ["connectors.takeAuthorization", (tx) => tx.connectors.takeAuthorization("d")],
  ["connectors.purgeAuthorizations", (tx) => tx.connectors.purgeAuthorizations(9)],
  ["connectors.setDefaultsOf", (tx) => tx.connectors.setDefaultsOf({ id: "p", spaceId: "north" }, ["u"])],
  ["audit.insert", (tx) => tx.audit.insert(sampleAudit())],
  ["audit.refuse", (tx) => tx.audit.refuse([sampleRefusal()])],
  ["auditChain.makeHeads", (tx) => tx.auditChain.makeHeads(["north"])],
  ["auditChain.lockHeads", (tx) => tx.auditChain.lockHeads(["north"])],
  ["auditChain.seal", (tx) => tx.auditChain.seal([], new Map([["north", { seq: 0, hash: "" }]]))],
  ["audit.note", async (tx) => tx.audit.note({ subject: "t" })],
  ["settings.put", (tx) => tx.settings.put("k", "v")],
  ["webhookKeys.insert", (tx) => tx.webhookKeys.insert(sampleWebhookKey)],
  ["deliveries.take", (tx) => tx.deliveries.take(["d"], 1, 2)],
  ["deliveries.cancel", (tx) => tx.deliveries.cancel(["d"], 1)],
  ["deliveries.record", (tx) => tx.deliveries.record([], 1)],
  ["deliveries.giveBack", (tx) => tx.deliveries.giveBack([{ deliveryId: "d", number: 1 }], 1)],
  ["deliveries.lockFaring", (tx) => tx.deliveries.lockFaring(["w"])],
  ["deliveries.setHealth", (tx) => tx.deliveries.setHealth("w", { failingSince: null, failures: 0 }, null)],
  ["websites.insert", (tx) => tx.websites.insert(sampleSite)],
  ["websites.lock", (tx) => tx.websites.lock("w")],
  ["websites.begin", (tx) => tx.websites.begin("w", { checkpointId: "c", visibility: "public" }, 1)],
  ["websites.goLive", (tx) => tx.websites.goLive("w", "c", 1)],
  ["websites.fail", (tx) => tx.websites.fail("w", "c", 1)],
  ["websites.edit", (tx) => tx.websites.edit("w", { title: "x" }, 1)],
  ["websites.cap", (tx) => tx.websites.cap("w", null, 1)],
  ["websites.capByTeam", (tx) => tx.websites.capByTeam("w", "team", 1)],
  ["websites.eraseOf", (tx) => tx.websites.eraseOf("t", 1, false)],
  ["shares.lock", (tx) => tx.shares.lock("north", "t")],
  ["checkpoints.insert", (tx) => tx.checkpoints.insert(sampleCheckpoint, [])],
  ["checkpoints.erase", (tx) => tx.checkpoints.erase("w", "c")],
  ["siteVisits.insert", (tx) => tx.siteVisits.insert(sampleVisit)],
  ["siteVisits.redeem", (tx) => tx.siteVisits.redeem("d", "w", 1)],
  ["siteVisits.purge", (tx) => tx.siteVisits.purge(9)],
  ["webhookKeys.remove", (tx) => tx.webhookKeys.remove("rsa")],
];

/** Long enough for statements of another change, if that runs at all. */
const turns = async () => {
  for (let turn = 0; turn < 5000; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

describeOnEach("change", (kind) => {
  test("is all there once it resolves, and nothing of it once it rejects", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const write = async (tx: Tx, id: string) => {
      await tx.tasks.insert(sampleTask({ id }), [said()]);
      await tx.projects.insert(sampleProject({ id }));
      await tx.jobs.put({ kind: "run", key: id, runAt: 1 });
    };
    await store.change((tx) => write(tx, "kept"));
    const refusal = new Failure("precondition", "no");
    const refused = store.change(async (tx) => {
      await write(tx, "lost");
      throw refusal;
    });
    await expect(refused).rejects.toBe(refusal);
    expect((await store.projects.list(ann)).map(({ id }) => id)).toEqual(["kept"]);
    expect(await store.tasks.byId("lost")).toBeNull();
    expect(await store.events.list("lost", { order: "asc", limit: 9, verbose: true })).toEqual([]);
    expect(await pendingJobs(database)).toEqual(["kept"]);
  });

  test("sees its own writes", async () => {
    await using database = await openTestStore(kind);
    const seen = await database.store.change(async (tx) => {
      await tx.projects.insert(sampleProject({ id: "mine" }));
      return tx.projects.find(ann, "mine");
    });
    expect(seen).toMatchObject({ id: "mine" });
  });

  test("within a change is an error, not a deadlock; one that follows it is not within it", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await expect(store.change(() => store.change(async () => 1))).rejects.toThrow("a change within a change");
    let follow: (() => Promise<number>) | undefined;
    await store.change(async () => {
      const { resolve, promise } = Promise.withResolvers<void>();
      const later = promise.then(() => store.change(async () => 2));
      follow = () => {
        resolve();
        return later;
      };
    });
    expect(await follow?.()).toBe(2);
  });

  test("its transaction ends with it: a tx that was kept writes no more", async () => {
    await using database = await openTestStore(kind);
    let kept: Tx | undefined;
    await database.store.change(async (tx) => {
      kept = tx;
    });
    await expect(kept?.projects.insert(sampleProject({ id: "late" }))).rejects.toThrow();
    expect(await database.store.projects.find(ann, "late")).toBeNull();
  });

  test("fifty at once that read, then write what they read, lose nothing", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await putTask(store, { id: "t", title: "0" });
    await Promise.all(
      Array.from({ length: 50 }, () =>
        store.change(async (tx) => {
          const task = await tx.tasks.lock(ann, "t");
          await tx.tasks.advance("t", { now: 1, set: { title: String(Number(task?.title) + 1) } });
        }),
      ),
    );
    expect(await store.tasks.byId("t")).toMatchObject({ title: "50" });
  });

  test("changes that block each other are tried again until each went through", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await putTask(store, { id: "a" });
    await putTask(store, { id: "b" });
    let runs = 0;
    const both = (first: string, second: string) =>
      store.change(async (tx) => {
        runs += 1;
        await tx.tasks.advance(first, { now: 1, events: [said()] });
        await tx.tasks.advance(second, { now: 1, events: [said()] });
      });
    await Promise.all([both("a", "b"), both("b", "a"), both("a", "b"), both("b", "a")]);
    expect(await store.tasks.byId("a")).toMatchObject({ lastSeq: 4 });
    expect(await store.tasks.byId("b")).toMatchObject({ lastSeq: 4 });
    expect(runs).toBeGreaterThanOrEqual(4);
  });

  test("a race for something unique is run again, so that the loser finds it", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    const looked = Promise.withResolvers<void>();
    const make = (id: string, before: () => unknown, after: () => unknown) =>
      store.change(async (tx) => {
        const found = await tx.accounts.teamByName("South");
        if (found) return found.id;
        await before();
        await tx.accounts.insertSpace({ id, kind: "team", createdAt: 1, accountId: null });
        await tx.accounts.insertTeam({ id, spaceId: id, name: "South", createdAt: 1 });
        await after();
        return id;
      });
    // Both look before the first commits, unless the second is not let in before that.
    const first = make(
      "x",
      () => undefined,
      () => Promise.race([looked.promise, turns()]),
    );
    const second = make("y", looked.resolve, () => undefined);
    expect(new Set(await Promise.all([first, second])).size).toBe(1);
  });

  test("a driver's error leaves the store without its text", async () => {
    await using database = await openTestStore(kind);
    const { store } = database;
    await store.change((tx) => tx.projects.insert(sampleProject({ id: "twice" })));
    const thrown = await store.change((tx) => tx.projects.insert(sampleProject({ id: "twice" }))).catch(failureOf);
    expect(thrown).toMatchObject({ reason: "internal", message: "internal error" });
    expect((thrown as Failure).cause).toBeDefined();
    const outside = await store.projects.insert(sampleProject()).catch((refused: unknown) => refused);
    expect(outside).toMatchObject({ name: "Failure", message: "internal error" });
  });

  test("one that does not end is given up, and the next goes through", async () => {
    await using database = await openTestStore(kind, { changeMs: 100 });
    const { store } = database;
    const held = Promise.withResolvers<void>();
    let late: Promise<unknown> | undefined;
    const stuck = store.change(async (tx) => {
      await tx.projects.insert(sampleProject({ id: "stuck" }));
      late = held.promise.then(() => tx.projects.insert(sampleProject({ id: "late" })));
      await late;
    });
    await expect(stuck).rejects.toMatchObject({ reason: "unavailable" });
    await store.change((tx) => tx.projects.insert(sampleProject({ id: "next" })));
    held.resolve();
    await expect(late).rejects.toThrow();
    expect((await store.projects.list(ann)).map(({ id }) => id)).toEqual(["next"]);
  });

  test("what its work throws leaves it as it is", async () => {
    await using database = await openTestStore(kind);
    const mistake = new TypeError("mine");
    await expect(database.store.change(() => Promise.reject(mistake))).rejects.toBe(mistake);
  });

  test("work that follows a commit is done before the change resolves, and cannot undo it", async () => {
    const log = vi.fn();
    await using database = await openTestStore(kind, { log });
    const { store } = database;
    const seen: unknown[] = [];
    await store.change(async (tx) => {
      tx.afterCommit(async () => void seen.push(await store.projects.find(ann, "p")));
      tx.afterCommit(() => Promise.reject(new Error("late")));
      tx.afterCommit(() => store.change((next) => next.projects.insert(sampleProject({ id: "q" }))));
      await tx.projects.insert(sampleProject({ id: "p" }));
      expect(seen).toEqual([]);
    });
    expect(seen).toMatchObject([{ id: "p" }]);
    expect(await store.projects.find(ann, "q")).not.toBeNull();
    expect(log).toHaveBeenCalledWith("error", expect.any(String), { cause: new Error("late") });
    const never = vi.fn();
    await store.change(async (tx) => tx.afterCommit(never)).then(() => expect(never).toHaveBeenCalledTimes(1));
    const refused = store.change(async (tx) => {
      tx.afterCommit(never);
      throw new Error("no");
    });
    await expect(refused).rejects.toThrow();
    expect(never).toHaveBeenCalledTimes(1);
  });
});

describeOnEach("outside a change", (kind) => {
  const suite = storeOfSuite(kind);

  test.each(writes)("%s is refused", async (_, write) => {
    await expect(async () => write(suite.store)).rejects.toThrow(/only a change may do this|internal error/);
  });
});

test("the pause before another try grows, is never nothing and stays short", () => {
  const least = Array.from({ length: 10 }, (_, n) => backoffMs(n + 1, () => Uint8Array.of(0)));
  const most = Array.from({ length: 10 }, (_, n) => backoffMs(n + 1, () => Uint8Array.of(255)));
  expect(Math.min(...least)).toBeGreaterThan(0);
  expect(most.slice(0, 5)).toEqual([10, 20, 40, 80, 160]);
  expect(Math.max(...most)).toBe(160);
});
