import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { roles } from "../../src/core/accounts/account.ts";
import { myBrowserId } from "../../src/core/connectors/catalogue.ts";
import { ConnectorService } from "../../src/gen/proto/settings/v1/connector_service_pb.ts";
import { outcomeOf, settingsRig } from "../settings/settings-rig.ts";
import { describeOnOne, rowsIn } from "../support/database.ts";
import { type McpTestServer, openMcpServer } from "../support/mcp-server.ts";
import type { Person } from "../support/service.ts";
import { tokenOf } from "../support/token.ts";

const github = "bbb0df76-66bd-4a24-ae4f-2aac4750d90b";
const gmail = "9444d960-ab7e-450f-9cb9-b9467fb0adda";
const linear = "982c169d-0c89-4dbd-95fd-30b49cc2f71e";
const notion = "9c27c684-2f4f-4d33-8fcf-51664ea15c00";
let server: McpTestServer;
beforeAll(async () => {
  server = await openMcpServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const httpAt = (url: string, value?: string) => ({
  case: "http" as const,
  value: {
    url,
    auth: value === undefined ? { case: undefined } : { case: "header" as const, value: { name: "", value } },
  },
});

describeOnOne("installed connectors", (database) => {
  const rig = settingsRig(database, { env: { CONNECTOR_ALLOW: "loopback" } });
  const browser = async (who: Person) => (await who.session()).client(ConnectorService);
  const install = async (who: Person, more: object = {}) => {
    const made = await (await browser(who)).installConnector({
      name: "Garden",
      server: httpAt(server.url, "Bearer s3cret-garden"),
      ...more,
    });
    if (!made.connector) throw new Error("none");
    return made.connector;
  };

  test("list their tools at once and their credential never", async () => {
    const ann = await rig.person();
    const made = await install(ann);
    expect(made).toMatchObject({
      name: "Garden",
      type: "mcp",
      state: "ready",
      auth: "header",
      url: server.url,
      isDefault: false,
      forSpace: false,
    });
    expect(made.tools.map(({ name, policy }) => [name, policy])).toEqual([
      ["water", "ask"],
      ["fail", "ask"],
    ]);
    const { data } = await ann.client(ConnectorService).listInstalled({});
    expect(
      JSON.stringify(data, (_, value) => (typeof value === "bigint" ? String(value) : value)),
    ).not.toContain("s3cret");
    const [row] = await rowsIn(rig.db.url, `SELECT * FROM connector WHERE id = '${made.id}'`);
    const kept = Object.values(row ?? {}).map((value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : String(value),
    );
    expect(kept.join(" ")).not.toContain("s3cret");
    const audit = await rig.auditRow("settings.v1.ConnectorService/InstallConnector", made.id);
    expect(audit).toMatchObject({ subject: made.id });
    expect(JSON.stringify(audit)).not.toContain("s3cret");
    expect(JSON.stringify(rig.service.logged)).not.toContain("s3cret");
  });

  test("are listed by connector.list: own and the space's; to an app only the granted ones, to other users none", async () => {
    const ann = await rig.person();
    const bo = await rig.person({ with: ann });
    const outsider = await rig.person();
    await install(ann, { uid: github, name: "", forSpace: true });
    await install(bo, { uid: gmail, name: "" });
    const ids = async (who: Pick<Person, "v2">) =>
      (await who.v2("connector.list")).body["data"].map(({ id }: { id: string }) => id).toSorted();
    expect(await ids(ann)).toEqual([github]);
    expect(await ids(bo)).toEqual([gmail, github].toSorted());
    expect(await ids(outsider)).toEqual([]);
    const token = await tokenOf(rig.service, bo, {
      scopes: ["create_task", "use_connectors"],
      connectorUids: [gmail],
    });
    expect(await ids(token)).toEqual([gmail]);
    const without = await tokenOf(rig.service, bo, { scopes: ["create_task"] });
    expect(await ids(without)).toEqual([]);
    const { body } = await bo.v2("connector.list");
    expect(body["data"][0]).toEqual({
      id: gmail,
      name: "Gmail",
      type: "byok",
      description: "",
      category: "",
    });
  });

  test("have a type that names the kind of their server (spec/api.md 7.8)", async () => {
    const ann = await rig.person();
    const rows = [
      { uid: myBrowserId, name: "", server: { case: undefined }, type: "builtin" },
      { uid: linear, name: "", server: { case: undefined }, type: "builtin" },
      { uid: github, name: "", server: httpAt(server.url, "Bearer key"), type: "byok" },
      { uid: gmail, name: "", server: httpAt(server.url), type: "mcp" },
      { uid: "", name: "Own, by a key", server: httpAt(server.url, "Bearer key"), type: "mcp" },
      {
        uid: notion,
        name: "",
        server: { case: "http", value: { url: server.url, auth: { case: "oauth", value: {} } } },
        type: "mcp",
      },
    ];
    const made = new Map<string, string>();
    for (const { type, ...more } of rows) {
      const { uid, ...installed } = await install(ann, more);
      expect(installed.type).toBe(type);
      made.set(uid, type);
    }
    const listed: { id: string; type: string }[] = (await ann.v2("connector.list")).body["data"];
    expect(new Map(listed.map(({ id, type }) => [id, type]))).toEqual(made);
  });

  test("of the space are managed by owner, super admin and admin", async () => {
    const ann = await rig.person();
    const shared = await install(ann, { forSpace: true });
    for (const role of roles) {
      const other = await rig.person({ with: ann, role: role === "owner" ? "admin" : role });
      const may = role === "owner" || role === "super_admin" || role === "admin";
      const session = await browser(other);
      const policies = session.setConnectorPolicy({
        id: shared.id,
        policies: [{ tool: "water", policy: "allow" }],
      });
      if (may) expect((await policies).connector?.tools[0]?.policy).toBe("allow");
      else expect(await outcomeOf(policies)).toContain("PermissionDenied");
      if (may) continue;
      expect(await outcomeOf(session.installConnector({ uid: github, forSpace: true }))).toContain(
        "PermissionDenied",
      );
      expect(await outcomeOf(session.removeConnector({ id: shared.id }))).toContain("PermissionDenied");
      expect(await outcomeOf(session.setDefault({ id: shared.id, isDefault: true }))).toContain(
        "PermissionDenied",
      );
      expect(await outcomeOf(session.refreshTools({ id: shared.id }))).toContain("PermissionDenied");
      expect(await outcomeOf(other.client(ConnectorService).removeConnector({ id: shared.id }))).toContain(
        "PermissionDenied",
      );
    }
  });

  test("of others look the same as absent ones", async () => {
    const ann = await rig.person();
    const colleague = await rig.person({ with: ann, role: "admin" });
    const outsider = await rig.person();
    const { id } = await install(ann);
    for (const who of [colleague, outsider]) {
      const session = await browser(who);
      for (const call of [
        () => session.setConnectorPolicy({ id, policies: [] }),
        () => session.setDefault({ id, isDefault: true }),
        () => session.refreshTools({ id }),
        () => session.beginAuthorization({ id }),
        () => session.removeConnector({ id }),
      ])
        expect(await outcomeOf(call())).toContain("NotFound");
    }
  });

  test("are removed by a key too, with the credential of their server", async () => {
    const ann = await rig.person();
    const { id } = await install(ann);
    await ann.client(ConnectorService).removeConnector({ id });
    expect((await ann.client(ConnectorService).listInstalled({})).data).toEqual([]);
    const [row] = await rowsIn(rig.db.url, `SELECT credentials, server FROM connector WHERE id = '${id}'`);
    expect(row).toEqual({ credentials: null, server: '{"transport":"none"}' });
    expect(await outcomeOf(ann.client(ConnectorService).removeConnector({ id }))).toContain("NotFound");
    await install(ann);
  });

  test("are installed by a general key, which cannot sign in or change policies (spec/decisions.md 65)", async () => {
    const ann = await rig.person();
    const client = ann.client(ConnectorService);
    const { connector } = await client.installConnector({
      name: "Garden",
      server: httpAt(server.url, "Bearer s3cret-garden"),
    });
    expect(connector?.tools.map(({ name }) => name)).toEqual(["water", "fail"]);
    const id = connector?.id ?? "";
    expect(await outcomeOf(client.setConnectorPolicy({ id, policies: [] }))).toContain("PermissionDenied");
    expect(await outcomeOf(client.beginAuthorization({ id }))).toContain("PermissionDenied");
    expect(await outcomeOf(client.installConnector({ uid: github, forSpace: true }))).toBe(
      "PermissionDenied: for_space: requires a session, not a key",
    );
    expect(await outcomeOf(client.installConnector({ uid: github, isDefault: true }))).toContain(
      "is_default: requires a session",
    );
    const audited = await rig.auditRow("settings.v1.ConnectorService/InstallConnector", id);
    expect(audited).toMatchObject({ credential: expect.stringMatching(/^key:/) });
    const { client: app } = await tokenOf(rig.service, ann, { scopes: ["use_connectors"] });
    expect(await outcomeOf(app(ConnectorService).installConnector({ uid: github }))).toContain(
      "PermissionDenied",
    );
  });

  test("are tested without a change, and the answer has no text of the server (spec/api.md 8.45)", async () => {
    const ann = await rig.person();
    const client = ann.client(ConnectorService);
    await using broken = await openMcpServer();
    const { id, tools } = await install(ann, { server: httpAt(broken.url, "Bearer s3cret-garden") });
    const { $typeName, latencyMs, ...good } = await client.testConnector({ id });
    expect([good, latencyMs >= 0]).toEqual([{ reachable: true, tools: tools.length }, true]);
    broken.guard = () => false;
    broken.more.push("harvest");
    expect(await client.testConnector({ id })).toMatchObject({
      reachable: false,
      failure: "refused",
      tools: 0,
    });
    await broken[Symbol.asyncDispose]();
    expect(await client.testConnector({ id })).toMatchObject({
      ...{ reachable: false, failure: "unreachable" },
      message: "The connector's server refused the connection: no program listens at its address.",
    });
    expect((await client.listInstalled({})).data.find((each) => each.id === id)?.tools).toHaveLength(
      tools.length,
    );
    expect(await rig.auditRow("settings.v1.ConnectorService/TestConnector", id)).toMatchObject({
      outcome: "done",
    });
    const { id: bare } = await install(ann, { uid: github, name: "", server: { case: undefined } });
    expect(await outcomeOf(client.testConnector({ id: bare }))).toBe(
      "FailedPrecondition: the connector has no server",
    );
    const outsider = await rig.person({ with: ann });
    expect(await outcomeOf(outsider.client(ConnectorService).testConnector({ id }))).toBe(
      "NotFound: connector not found",
    );
  });

  test("exist once for each id", async () => {
    const ann = await rig.person();
    await install(ann, { uid: github, name: "" });
    expect(await outcomeOf(install(ann, { uid: github }))).toContain("AlreadyExists");
    await install(ann, { uid: github, forSpace: true });
    expect(await outcomeOf(install(ann, { uid: github, forSpace: true }))).toContain("AlreadyExists");
  });

  test("list their tools again and keep the policies", async () => {
    const ann = await rig.person();
    const { id } = await install(ann);
    const session = await browser(ann);
    await session.setConnectorPolicy({ id, policies: [{ tool: "water", policy: "deny" }] });
    server.more.push("harvest");
    const { connector } = await session.refreshTools({ id });
    server.more.length = 0;
    expect(connector?.tools.map(({ name, policy }) => [name, policy])).toEqual([
      ["water", "deny"],
      ["fail", "ask"],
      ["harvest", "ask"],
    ]);
  });

  test("are the connectors of new tasks while they are defaults", async () => {
    const ann = await rig.person();
    const { id, uid } = await install(ann);
    const session = await browser(ann);
    const ofNewTask = async () => {
      const { body } = await ann.v2("task.create", { message: { content: "Hello" } });
      return (await rig.service.store.taskResources.find(body["task_id"]))?.connectors ?? [];
    };
    expect(await ofNewTask()).toEqual([]);
    expect((await session.setDefault({ id, isDefault: true })).connector).toMatchObject({
      id,
      isDefault: true,
    });
    expect(await ofNewTask()).toEqual([uid]);
    await session.setDefault({ id, isDefault: false });
    expect(await ofNewTask()).toEqual([]);
  });

  test("are defaults of projects, for the project's owner only", async () => {
    const ann = await rig.person();
    const outsider = await rig.person();
    const { body } = await ann.v2("project.create", { name: "Garden" });
    const projectId = body["project"]["id"];
    const session = await browser(ann);
    expect(await outcomeOf(session.setProjectConnectors({ projectId, uids: [github] }))).toContain(
      "InvalidArgument",
    );
    await install(ann, { uid: github, name: "" });
    await session.setProjectConnectors({ projectId, uids: [github] });
    expect((await ann.client(ConnectorService).getProjectConnectors({ projectId })).uids).toEqual([github]);
    expect(await outcomeOf(outsider.client(ConnectorService).getProjectConnectors({ projectId }))).toContain(
      "NotFound",
    );
    expect(
      await outcomeOf((await browser(outsider)).setProjectConnectors({ projectId, uids: [] })),
    ).toContain("NotFound");
  });

  describe("are refused", () => {
    test.each([
      ["plain http elsewhere", { server: httpAt("http://garden.example/mcp") }],
      ["another scheme", { server: httpAt("file:///etc/passwd") }],
      ["user information", { server: httpAt("https://a:b@garden.example/mcp") }],
      ["an internal server", { server: httpAt("https://10.0.0.1/mcp") }],
      ["a command, where none is allowed", { server: { case: "command" as const, value: "sh" } }],
      ["no server and no id of the catalogue", { server: { case: undefined } }],
      ["an id that the catalogue does not have", { uid: "00000000-0000-4000-8000-000000000000" }],
      [
        "a header of the transport",
        {
          server: {
            case: "http" as const,
            value: {
              url: "https://a.example",
              auth: { case: "header" as const, value: { name: "Host", value: "x" } },
            },
          },
        },
      ],
      [
        "a header of two lines",
        {
          server: {
            case: "http" as const,
            value: {
              url: "https://a.example",
              auth: { case: "header" as const, value: { name: "", value: "a\r\nb" } },
            },
          },
        },
      ],
      ["My Browser with a server, which apps would use with another scope", { uid: myBrowserId }],
      ["a name that reverses text", { name: "a\u202eb" }],
    ])("for %s", async (_reason, more) => {
      const ann = await rig.person();
      expect(await outcomeOf(install(ann, more))).toContain("InvalidArgument");
    });
  });
});
