import { describe, expect, test } from "vitest";
import { type Clock, systemClock } from "../../../src/core/clock.ts";
import type { InstalledConnector } from "../../../src/core/connectors/connector.ts";
import { noTokens, type OAuthCredentials, openCredentials, sealCredentials } from "../../../src/core/connectors/credentials.ts";
import { renewals, SignInNeeded } from "../../../src/core/connectors/renew.ts";
import { type ConnectorSignIns, ServerFault } from "../../../src/core/connectors/server.ts";
import { systemIds } from "../../../src/core/ids.ts";
import { cipher } from "../../support/cipher.ts";
import { describeOnEach, storeOfSuite } from "../../support/database.ts";
import { patientClock } from "../../support/patient-clock.ts";

const tokens = (access: string) => ({ access, refresh: `refresh-${access}`, expiresAt: null });
const signedIn = (access: string): OAuthCredentials => ({ ...noTokens, tokens: tokens(access) });

describeOnEach("tokens that are renewed", (kind) => {
  const suite = storeOfSuite(kind);

  async function installed(credentials: OAuthCredentials): Promise<InstalledConnector> {
    const [id, uid, accountId] = [systemIds.short(), systemIds.uuid(), systemIds.uuid()];
    const words = { name: "Garden", description: "", category: "", type: "mcp", state: "ready", spaceId: "north" } as const;
    const server = { transport: "http", url: "https://garden.example/mcp", auth: "oauth", header: "" } as const;
    const bare = { isDefault: false, tools: [], toolsAt: null, policy: {}, createdAt: 1, updatedAt: 1 };
    const connector = { id, uid, accountId, server, credentials: sealCredentials(cipher, id, credentials), ...words, ...bare };
    await suite.store.change((tx) => tx.connectors.insert(connector));
    return connector;
  }
  const now = async ({ id, accountId, spaceId }: InstalledConnector) => {
    const found = await suite.store.connectors.find({ accountId: accountId ?? "", spaceId }, id);
    if (!found) throw new Error("none");
    return { state: found.state, has: openCredentials(cipher, found) };
  };

  /** Processes over one database, and an authorization server whose refresh tokens are good once. */
  function processes(count: number, { clock = systemClock, refuse = () => false }: { clock?: Clock; refuse?: () => boolean } = {}) {
    const spent: string[] = [];
    const refresh: ConnectorSignIns["refresh"] = async ({ tokens: had }) => {
      if (refuse() || spent.includes(had?.refresh ?? "")) throw new ServerFault("refused");
      spent.push(had?.refresh ?? "");
      // Others get their turn while it answers.
      for (let turns = 0; turns < 100; turns += 1) await new Promise((resolve) => setImmediate(resolve));
      return signedIn(`${had?.access}+`);
    };
    const signIns = { refresh } as ConnectorSignIns; // the others are not called
    const all = Array.from({ length: count }, () => renewals({ store: suite.store, clock, cipher, signIns }));
    return { all, spent };
  }

  test("are asked for once by all uses of all processes at once, and all have the new ones", async () => {
    for (let round = 0; round < 5; round += 1) {
      const connector = await installed(signedIn("a"));
      const { all, spent } = processes(4);
      const got = await Promise.all([...all, ...all, ...all].map((renewed) => renewed(connector, "a")));
      expect(spent).toEqual(["refresh-a"]);
      expect(got.map(({ tokens: has }) => has?.access)).toEqual(Array(12).fill("a+"));
      expect(await now(connector)).toEqual({ state: "ready", has: signedIn("a+") });
    }
  });

  test("are asked for by another once whoever began has died", async () => {
    const clock = patientClock();
    const { all, spent } = processes(1, { clock });
    const connector = await installed({ ...signedIn("a"), renewingUntil: clock.now() + 45_000 });
    expect((await all[0]?.(connector, "a"))?.tokens?.access).toBe("a+");
    expect(spent).toEqual(["refresh-a"]);
    // It has waited until then.
    expect(clock.pauses.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThanOrEqual(45_000);
  });

  test("expire when that is refused, once for all", async () => {
    const connector = await installed(signedIn("a"));
    const { all } = processes(3, { refuse: () => true });
    const got = await Promise.allSettled([...all, ...all].map((renewed) => renewed(connector, "a")));
    for (const one of got) expect(one).toMatchObject({ status: "rejected", reason: expect.any(SignInNeeded) });
    expect((await now(connector)).state).toBe("expired");
  });

  describe("beside a sign-in", () => {
    test.each([true, false])("do not end what was signed in to meanwhile, refused: %s", async (refused) => {
      const connector = await installed(signedIn("a"));
      const anew = sealCredentials(cipher, connector.id, signedIn("anew"));
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
      const { promise: over, resolve: end } = Promise.withResolvers<void>();
      const refresh: ConnectorSignIns["refresh"] = async () => {
        begin();
        await over;
        if (refused) throw new ServerFault("refused");
        return signedIn("a+");
      };
      const signIns = { refresh } as ConnectorSignIns; // the others are not called
      const used = renewals({ store: suite.store, clock: patientClock(), cipher, signIns })(connector, "a").catch(() => null);
      await begun;
      await suite.store.change((tx) => tx.connectors.update(connector.id, { credentials: anew, state: "ready" }));
      end();
      await used;
      expect(await now(connector)).toEqual({ state: "ready", has: signedIn("anew") });
    });
  });

  test("stay as they are when the authorization server cannot be reached, and can be asked for at once again", async () => {
    const connector = await installed(signedIn("a"));
    let fails = true;
    const refresh: ConnectorSignIns["refresh"] = async () => {
      if (fails) throw new ServerFault("unreachable");
      return signedIn("a+");
    };
    const signIns = { refresh } as ConnectorSignIns; // the others are not called
    const renewed = renewals({ store: suite.store, clock: patientClock(), cipher, signIns });
    await expect(renewed(connector, "a")).rejects.toMatchObject({ kind: "unreachable" });
    expect(await now(connector)).toEqual({ state: "ready", has: signedIn("a") });
    fails = false;
    expect((await renewed(connector, "a")).tokens?.access).toBe("a+");
  });
});
