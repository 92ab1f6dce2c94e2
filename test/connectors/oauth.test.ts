import { afterAll, expect, test } from "vitest";
import { mcpServers } from "../../src/adapters/connectors/servers.ts";
import { connectorSignIns } from "../../src/adapters/connectors/sign-in.ts";
import { systemClock } from "../../src/core/clock.ts";
import { reachServers, SignInNeeded } from "../../src/core/connectors/renew.ts";
import { openCredentials, sealCredentials } from "../../src/core/connectors/server.ts";
import { ConnectorService } from "../../src/gen/proto/settings/v1/connector_service_pb.ts";
import { outcomeOf, settingsRig } from "../settings/settings-rig.ts";
import { walk } from "../sign-in/provider-rig.ts";
import { cipher } from "../support/cipher.ts";
import { describeOnOne, rowsIn } from "../support/database.ts";
import { noNames, patient } from "../support/names.ts";
import type { Person } from "../support/service.ts";
import { callbackUrl, fetchCallback, openOAuthConnectorRig } from "./oauth-rig.ts";

const garden = await openOAuthConnectorRig();
const { provider } = garden;
afterAll(() => garden[Symbol.asyncDispose]());

describeOnOne("connectors with OAuth", (database) => {
  const rig = settingsRig(database, { env: { CONNECTOR_ALLOW: "loopback" } });

  const signedIn = (who: Person) => garden.installAndSignIn(rig.service, who);
  const back = (path: string, cookie: string) => fetchCallback(rig.service, path, cookie);

  test("are ready after the browser's return, with their tools; tokens are never shown or stored in clear", async () => {
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

  test("accept a response once, and only for the account that began", async () => {
    const ann = await rig.person();
    const { id, client, session, path } = await signedIn(ann);
    expect((await back(path, session.headers.cookie)).status).toBe(400);
    const { authorizationUrl } = await client.beginAuthorization({ id });
    const theirs = await walk(authorizationUrl, "gardener", callbackUrl);
    const bo = await (await rig.person({ with: ann })).session();
    expect((await back(theirs, bo.headers.cookie)).status).toBe(400);
    expect((await back(theirs, "")).status).toBe(303);
    expect((await back(theirs, session.headers.cookie)).status).toBe(200);
    expect((await back("/connectors/callback?state=x&code=y", session.headers.cookie)).status).toBe(400);
  });

  test("renew their token before it expires, once for all waiting calls, and expire when the renewal is refused", async () => {
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
    const signIns = connectorSignIns({ ...parts, redirectUrl: callbackUrl });
    const [reach, elsewhere] = [1, 2].map(() => reachServers({ store, clock: systemClock, cipher, signIns }));
    if (!reach || !elsewhere) throw new Error("two");
    const servers = mcpServers({ ...parts, commands: {} });
    // A token of a minute is always about to expire.
    const before = provider.grants.length;
    const connector = await found();
    const use = (by: typeof reach) =>
      by(connector, (at) => servers.callTool(at, { tool: "water", input: { bed: "roses" } }, patient));
    expect(await Promise.all([reach, elsewhere, reach, elsewhere].map(use))).toEqual(
      Array(4).fill({ value: "Watered roses.", isError: false }),
    );
    expect(provider.grants.slice(before)).toEqual(["refresh_token"]);
    provider.refuseRefresh = true;
    const nowMs = await found();
    const has = openCredentials(cipher, nowMs);
    if (has?.kind !== "oauth" || has.tokens === null) throw new Error("no tokens");
    await store.change((tx) =>
      tx.connectors.update(id, {
        credentials: sealCredentials(cipher, id, {
          ...has,
          tokens: { ...has.tokens, access: "spent", refresh: "r", expiresAt: 0 },
        }),
      }),
    );
    const late = await found();
    await expect(reach(late, (at) => servers.listTools(at, patient))).rejects.toBeInstanceOf(SignInNeeded);
    provider.refuseRefresh = false;
    expect((await found()).state).toBe("expired");
    expect(await outcomeOf((await ann.session()).client(ConnectorService).refreshTools({ id }))).toContain(
      "FailedPrecondition",
    );
  });
});
