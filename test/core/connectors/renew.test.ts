import { describe, expect, test } from "vitest";
import { type Clock, systemClock } from "../../../src/core/clock.ts";
import type { InstalledConnector } from "../../../src/core/connectors/connector.ts";
import { renewals, SignInNeeded } from "../../../src/core/connectors/renew.ts";
import {
  type ConnectorSignIns,
  noTokens,
  type OAuthCredentials,
  openCredentials,
  ServerFault,
  sealCredentials,
} from "../../../src/core/connectors/server.ts";
import { systemIds } from "../../../src/core/ids.ts";
import { sampleConnector } from "../../store/samples.ts";
import { cipher } from "../../support/cipher.ts";
import { describeOnOne, storeOfSuite } from "../../support/database.ts";
import { patientClock } from "../../support/patient-clock.ts";

const tokens = (access: string) => ({ access, refresh: `refresh-${access}`, expiresAt: null });
const signedInCredentials = (access: string): OAuthCredentials => ({ ...noTokens, tokens: tokens(access) });

describeOnOne("renewed tokens", (kind) => {
  const suite = storeOfSuite(kind);

  async function installConnector(credentials: OAuthCredentials): Promise<InstalledConnector> {
    const [id, accountId] = [systemIds.short(), systemIds.uuid()];
    const server = {
      transport: "http",
      url: "https://garden.example/mcp",
      auth: "oauth",
      header: "",
    } as const;
    const connector = sampleConnector({
      id,
      accountId,
      server,
      credentials: sealCredentials(cipher, id, credentials),
    });
    await suite.store.change((tx) => tx.connectors.insert(connector));
    return connector;
  }
  const readConnector = async ({ id, accountId, spaceId }: InstalledConnector) => {
    const found = await suite.store.connectors.find({ accountId: accountId ?? "", spaceId }, id);
    if (!found) throw new Error("none");
    return { state: found.state, credentials: openCredentials(cipher, found) };
  };

  /** Processes with one database, and an authorization server that accepts each refresh token once. */
  function createProcesses(
    count: number,
    { clock = systemClock, refuse = () => false }: { clock?: Clock; refuse?: () => boolean } = {},
  ) {
    const spentTokens: string[] = [];
    const refresh: ConnectorSignIns["refresh"] = async ({ tokens: old }) => {
      if (refuse() || spentTokens.includes(old?.refresh ?? "")) throw new ServerFault("refused");
      spentTokens.push(old?.refresh ?? "");
      // Other calls run while it answers.
      for (let turns = 0; turns < 100; turns += 1) await new Promise((resolve) => setImmediate(resolve));
      return signedInCredentials(`${old?.access}+`);
    };
    const signIns = { refresh } as ConnectorSignIns; // the other methods are not called
    const renewFunctions = Array.from({ length: count }, () =>
      renewals({ store: suite.store, clock, cipher, signIns }),
    );
    return { renewFunctions, spentTokens };
  }

  test("are requested once by concurrent uses in all processes, and every use receives the new ones", async () => {
    for (let round = 0; round < 5; round += 1) {
      const connector = await installConnector(signedInCredentials("a"));
      const { renewFunctions, spentTokens } = createProcesses(4);
      const results = await Promise.all(
        [...renewFunctions, ...renewFunctions, ...renewFunctions].map((renew) => renew(connector, "a")),
      );
      expect(spentTokens).toEqual(["refresh-a"]);
      expect(results.map(({ tokens: renewed }) => renewed?.access)).toEqual(Array(12).fill("a+"));
      expect(await readConnector(connector)).toEqual({
        state: "ready",
        credentials: signedInCredentials("a+"),
      });
    }
  });

  test("are requested by another process once the one that began has died", async () => {
    const clock = patientClock();
    const { renewFunctions, spentTokens } = createProcesses(1, { clock });
    const connector = await installConnector({
      ...signedInCredentials("a"),
      renewingUntil: clock.now() + 45_000,
    });
    expect((await renewFunctions[0]?.(connector, "a"))?.tokens?.access).toBe("a+");
    expect(spentTokens).toEqual(["refresh-a"]);
    // It waited until that time.
    expect(clock.pauses.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThanOrEqual(45_000);
  });

  test("expire for every use when the refresh is refused", async () => {
    const connector = await installConnector(signedInCredentials("a"));
    const { renewFunctions } = createProcesses(3, { refuse: () => true });
    const results = await Promise.allSettled(
      [...renewFunctions, ...renewFunctions].map((renew) => renew(connector, "a")),
    );
    for (const one of results)
      expect(one).toMatchObject({ status: "rejected", reason: expect.any(SignInNeeded) });
    expect((await readConnector(connector)).state).toBe("expired");
  });

  describe("during a sign-in", () => {
    test.each([true, false])("do not replace the new sign-in's tokens, refused: %s", async (refused) => {
      const connector = await installConnector(signedInCredentials("a"));
      const newCredentials = sealCredentials(cipher, connector.id, signedInCredentials("renewed"));
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
      const { promise: over, resolve: end } = Promise.withResolvers<void>();
      const refresh: ConnectorSignIns["refresh"] = async () => {
        begin();
        await over;
        if (refused) throw new ServerFault("refused");
        return signedInCredentials("a+");
      };
      const signIns = { refresh } as ConnectorSignIns; // the other methods are not called
      const renewal = renewals({ store: suite.store, clock: patientClock(), cipher, signIns })(
        connector,
        "a",
      ).catch(() => null);
      await begun;
      await suite.store.change((tx) =>
        tx.connectors.update(connector.id, { credentials: newCredentials, state: "ready" }),
      );
      end();
      await renewal;
      expect(await readConnector(connector)).toEqual({
        state: "ready",
        credentials: signedInCredentials("renewed"),
      });
    });
  });

  test("stay the same when the authorization server cannot be reached, and can be requested again immediately", async () => {
    const connector = await installConnector(signedInCredentials("a"));
    let fails = true;
    const refresh: ConnectorSignIns["refresh"] = async () => {
      if (fails) throw new ServerFault("unreachable");
      return signedInCredentials("a+");
    };
    const signIns = { refresh } as ConnectorSignIns; // the other methods are not called
    const renew = renewals({ store: suite.store, clock: patientClock(), cipher, signIns });
    await expect(renew(connector, "a")).rejects.toMatchObject({ kind: "unreachable" });
    expect(await readConnector(connector)).toEqual({ state: "ready", credentials: signedInCredentials("a") });
    fails = false;
    expect((await renew(connector, "a")).tokens?.access).toBe("a+");
  });
});
