import { afterAll, expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { openCredentials, sealCredentials } from "../../src/core/connectors/credentials.ts";
import { reachServers } from "../../src/core/connectors/reach.ts";
import { SignInNeeded } from "../../src/core/connectors/renew.ts";
import { ConnectorService } from "../../src/gen/proto/settings/v1/connector_service_pb.ts";
import { mcpServers } from "../../src/mcp/servers.ts";
import { connectorSignIns } from "../../src/mcp/sign-in.ts";
import { refusalOf, settingsRig } from "../settings/settings-rig.ts";
import { walk } from "../sign-in/provider-rig.ts";
import { cipher } from "../support/cipher.ts";
import { describeOnEach, rowsIn } from "../support/database.ts";
import { noNames, patient } from "../support/names.ts";
import type { Person } from "../support/service.ts";
import { backAt, callback, openSignedGarden } from "./oauth-rig.ts";

const garden = await openSignedGarden();
const { provider } = garden;
afterAll(() => garden[Symbol.asyncDispose]());

describeOnEach("connectors that are signed in to", (database) => {
  const rig = settingsRig(database, { env: { CONNECTOR_ALLOW: "loopback" } });

  const signedIn = (who: Person) => garden.signedIn(rig.service, who);
  const back = (path: string, cookie: string) => backAt(rig.service, path, cookie);

  test("are ready once the browser is back, with their tools, and nothing of the tokens is shown or kept in clear", async () => {
    const ann = await rig.person();
    const { id, client, connector } = await signedIn(ann);
    expect(connector).toMatchObject({ state: "expired", auth: "oauth", tools: [] });
    const { data } = await client.listInstalled({});
    expect(data).toMatchObject([{ id, state: "ready" }]);
    expect(data[0]?.tools.map(({ name }) => name)).toEqual(["water", "fail"]);
    expect(provider.grants.at(-1)).toBe("authorization_code");
    const [row] = await rowsIn(
      rig.db.url,
      `SELECT operation FROM audit_event WHERE subject = '${id}' AND operation = 'console/ConnectConnector'`,
    );
    expect(row).toBeDefined();
  });

  test("take what comes back once, and from the account that began", async () => {
    const ann = await rig.person();
    const { id, client, session, path } = await signedIn(ann);
    expect((await back(path, session.headers.cookie)).status).toBe(400);
    const { authorizationUrl } = await client.beginAuthorization({ id });
    const theirs = await walk(authorizationUrl, "gardener", callback);
    const bo = await (await rig.person({ with: ann })).session();
    expect((await back(theirs, bo.headers.cookie)).status).toBe(400);
    expect((await back(theirs, "")).status).toBe(303);
    expect((await back(theirs, session.headers.cookie)).status).toBe(200);
    expect((await back("/connectors/callback?state=x&code=y", session.headers.cookie)).status).toBe(400);
  });

  test("have their token renewed before it ends, once for all who wait, and expire when that is refused", async () => {
    const ann = await rig.person();
    const { id } = await signedIn(ann);
    const { store } = rig.service;
    const found = async () => {
      const connector = await store.connectors.find(ann, id);
      if (connector === null) throw new Error("none");
      return connector;
    };
    const parts = { clock: systemClock, resolve: noNames, allowed: [{ kind: "loopback" }] as const };
    // Two processes.
    const signIns = connectorSignIns({ ...parts, redirectUrl: callback });
    const [reach, elsewhere] = [1, 2].map(() => reachServers({ store, clock: systemClock, cipher, signIns }));
    if (!reach || !elsewhere) throw new Error("two");
    const servers = mcpServers({ ...parts, commands: {} });
    // A token of a minute is always about to end.
    const before = provider.grants.length;
    const connector = await found();
    const use = (by: typeof reach) => by(connector, (at) => servers.callTool(at, { tool: "water", input: { bed: "roses" } }, patient));
    expect(await Promise.all([reach, elsewhere, reach, elsewhere].map(use))).toEqual(
      Array(4).fill({ value: "Watered roses.", isError: false }),
    );
    expect(provider.grants.slice(before)).toEqual(["refresh_token"]);
    provider.refuseRefresh = true;
    const now = await found();
    const has = openCredentials(cipher, now);
    if (has?.kind !== "oauth" || has.tokens === null) throw new Error("no tokens");
    await store.change((tx) =>
      tx.connectors.update(id, {
        credentials: sealCredentials(cipher, id, { ...has, tokens: { ...has.tokens, access: "spent", refresh: "r", expiresAt: 0 } }),
      }),
    );
    const late = await found();
    await expect(reach(late, (at) => servers.listTools(at, patient))).rejects.toBeInstanceOf(SignInNeeded);
    provider.refuseRefresh = false;
    expect((await found()).state).toBe("expired");
    expect(await refusalOf((await ann.session()).client(ConnectorService).refreshTools({ id }))).toContain("FailedPrecondition");
  });
});
