import { afterAll, expect, test } from "vitest";
import { ConnectorService } from "../../src/gen/proto/settings/v1/connector_service_pb.ts";
import { walk } from "../sign-in/provider-rig.ts";
import { describeOnOne, rowsIn } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { storedText } from "../support/stored-text.ts";
import { teamsRig } from "../teams/teams-rig.ts";
import { createWorker, remoteEnv } from "../workers/worker-rig.ts";
import { callbackUrl, fetchCallback, openOAuthConnectorRig } from "./oauth-rig.ts";

const garden = await openOAuthConnectorRig();
const { server, provider } = garden;
afterAll(() => garden[Symbol.asyncDispose]());
const roses = { bed: "roses" };
const clientSecret = "client-s3cret-canary";
const headerSecret = "Bearer header-s3cret-canary";

describeOnOne("credentials for servers of connectors", (database) => {
  const rig = teamsRig(database, { idle: false, env: { CONNECTOR_ALLOW: "loopback", ...remoteEnv } });

  async function withHeader(who: Person, more: object = {}) {
    const client = (await who.session()).client(ConnectorService);
    const auth = { case: "header" as const, value: { name: "", value: headerSecret } };
    const at = { case: "http" as const, value: { url: garden.server.url, auth } };
    const guard = server.guard;
    server.guard = undefined;
    const { connector } = await client.installConnector({ name: "By key", server: at, ...more });
    server.guard = guard;
    if (!connector) throw new Error("none");
    return { client, ...connector };
  }

  test("are never stored or shown in clear: not in a row of any table, a log, an event, an audit entry or a worker's view", async () => {
    const { owner } = await rig.team();
    const signed = await garden.installAndSignIn(rig.service, owner);
    const keyed = await withHeader(owner);
    // A sign-in in progress.
    const at = {
      url: `${garden.resourceServer.url}/mcp`,
      auth: { case: "oauth" as const, value: { clientId: "own-client", clientSecret } },
    };
    const third = await signed.client.installConnector({
      name: "Own client",
      server: { case: "http", value: at },
    });
    const { authorizationUrl } = await signed.client.beginAuthorization({ id: third.connector?.id ?? "" });
    const state = new URL(authorizationUrl).searchParams.get("state") ?? "";
    for (const id of [signed.id, keyed.id])
      await signed.client.setConnectorPolicy({ id, policies: [{ tool: "water", policy: "allow" }] });
    const worker = await createWorker(rig.service, owner);
    await owner.v2("task.create", { message: { content: "Water", connectors: [signed.uid, keyed.uid] } });
    const run = await worker.pollUntilRun();
    const call = (connectorId: string) =>
      worker.call("CallTool", {
        taskId: run.taskId,
        fence: run.fence,
        connectorId,
        tool: "water",
        input: roses,
      });
    const answers = [await call(signed.uid), await call(keyed.uid)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    await signed.client.refreshTools({ id: signed.id });
    const tokens = server.calls.flatMap(({ authorization = "" }) => authorization.replace("Bearer ", ""));
    expect(tokens.length).toBeGreaterThan(0);
    const secrets = [...tokens, ...provider.secrets, clientSecret, headerSecret.slice(7), state];
    expect(provider.secrets.length).toBeGreaterThan(2);
    const { body } = await owner.v2("task.listMessages", { task_id: run.taskId, verbose: true });
    const listed = await signed.client.listInstalled({});
    const shown = JSON.stringify([run, answers, body, listed, rig.service.logged], (_, value) =>
      typeof value === "bigint" ? String(value) : value,
    );
    const kept = await storedText(rig.db.url);
    expect(kept).toContain("Own client");
    for (const secret of secrets) {
      expect(shown).not.toContain(secret);
      expect(kept).not.toContain(secret);
      // JSON does not escape base64, but the bytes might be stored raw.
      expect(kept).not.toContain(Buffer.from(secret).toString("base64"));
    }
  });

  test("are erased with the connector, and a sign-in in progress fails", async () => {
    const { owner } = await rig.team();
    const { client, session, id } = await garden.install(owner);
    const { authorizationUrl } = await client.beginAuthorization({ id });
    const path = await walk(authorizationUrl, "gardener", callbackUrl);
    await client.removeConnector({ id });
    expect((await fetchCallback(rig.service, path, session.headers.cookie)).status).toBe(400);
    expect(
      await rowsIn(rig.db.url, `SELECT credentials, server, tools FROM connector WHERE id = '${id}'`),
    ).toEqual([{ credentials: null, server: '{"transport":"none"}', tools: "[]" }]);
    expect(
      await rowsIn(rig.db.url, `SELECT digest FROM connector_authorization WHERE connector_id = '${id}'`),
    ).toEqual([]);
  });

  test("are erased with a removed member, while those of the space stay", async () => {
    const team = await rig.team();
    const lea = await rig.member(team, "admin");
    const own = await withHeader(lea);
    const shared = await withHeader(lea, { forSpace: true });
    await rig.ok(team, "remove", { team_user_id: lea.id });
    const rows = await rowsIn(
      rig.db.url,
      `SELECT id, credentials FROM connector WHERE id IN ('${own.id}', '${shared.id}')`,
    );
    const kept = new Map(rows.map(({ id, credentials }) => [id, credentials !== null]));
    expect(kept).toEqual(
      new Map([
        [own.id, false],
        [shared.id, true],
      ]),
    );
    expect((await team.owner.client(ConnectorService).listInstalled({})).data.map(({ id }) => id)).toEqual([
      shared.id,
    ]);
  });
});
