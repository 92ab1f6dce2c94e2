import { expect, test } from "vitest";
import { ProjectService } from "../../src/gen/proto/project/v2/project_service_pb.ts";
import { ConnectorService } from "../../src/gen/proto/settings/v1/connector_service_pb.ts";
import { openReceiver } from "../egress/receiver.ts";
import { openMcpServer } from "../support/mcp-server.ts";
import { modelsFile } from "../support/model/rig.ts";
import { openModelServer } from "../support/model/server.ts";
import { openOtlpReceiver } from "../support/otlp-receiver.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { tokenOf } from "../support/token.ts";
import { until } from "../support/until.ts";
import { rpcWires } from "../support/wires.ts";
import { createWorker } from "../workers/worker-rig.ts";

/** Part of every text that a user sends. */
const content = "zeppelin";
const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/**
 * Calls of every wire, with each kind of credential, in requests and in refusals. Returns the secrets that it
 * made.
 */
async function useEverything(
  service: Service,
  ann: Person,
  { hook, mcp }: { readonly hook: string; readonly mcp: string },
) {
  const get = (path: string, headers: Readonly<Record<string, string>>) =>
    fetch(`${service.url}${path}`, { headers: { ...headers, traceparent } });
  const session = await ann.session();
  const worker = await createWorker(service, ann, ["manus-1.6-max"]);
  const token = await tokenOf(service, ann, { scopes: ["create_task"] });
  const bearer = token.headers["authorization"] ?? "";
  for (const wire of rpcWires)
    for (const caller of [ann, token])
      await caller
        .client(ProjectService, wire)
        .listProjects({})
        .catch(() => undefined);
  await session.client(ProjectService).createProject({ name: content, instruction: content });
  await worker.poll({});
  const client = session.client(ConnectorService);
  const header = { case: "header" as const, value: { name: "", value: "Bearer connector-sesame" } };
  const { connector } = await client.installConnector({
    name: "Our garden",
    server: { case: "http", value: { url: mcp, auth: header } },
  });
  await client.setConnectorPolicy({
    id: connector?.id ?? "",
    policies: [{ tool: "water", policy: "allow" }],
  });
  const { body: webhook } = await ann.v2("webhook.create", { url: `${hook}/${content}?token=${content}` });
  const { body: task } = await ann.v2(
    "task.create",
    { message: { content: `Find the ${content}.`, connectors: [connector?.uid] }, title: content },
    { headers: { traceparent, "idempotency-key": `key-${content}`, "x-request-id": "mine" } },
  );
  await until(service.store, task["task_id"], ({ status }) => status === "stopped");
  const { body: file } = await ann.v2("file.upload", { filename: `${content}.txt` });
  const link = new URL(file["upload_url"]).pathname;
  await fetch(`${service.url}${link}`, { method: "PUT", body: content, headers: { traceparent } });
  const form = {
    grant_type: "refresh_token",
    refresh_token: token.refreshToken,
    client_id: token.clientId,
    client_secret: "app-sesame",
  };
  await fetch(`${service.url}/oauth/token`, {
    method: "POST",
    body: new URLSearchParams(form),
    headers: { traceparent },
  });
  await get(`/v2/${content}?api_key=${ann.key}`, {
    authorization: `Bearer ${ann.key}`,
    cookie: "session=cookie-sesame",
  });
  await get(`/v1/tasks?q=${content}`, { API_KEY: ann.key });
  await get("/v1/responses/none", { authorization: bearer });
  await get(`/scim/v2/Users?filter=${content}`, { authorization: "Bearer scim-sesame" });
  await get(`/export/json?key=${ann.key}`, ann.headers);
  return [
    ...[
      ann.key,
      worker.secret,
      bearer.replace("Bearer ", ""),
      token.refreshToken,
      session.headers.cookie.split("=").at(-1) ?? "",
    ],
    ...[link.split("/").at(-1) ?? "", String(webhook["signing_secret"])],
    ...["connector-sesame", "app-sesame", "cookie-sesame", "scim-sesame"],
  ];
}

test("no line of the log, also at debug, no exported line and no span has a secret or content", async () => {
  await using collector = await openOtlpReceiver();
  let received = 0;
  // It accepts the test request of a new webhook only.
  await using hook = await openReceiver(async (request, response) => {
    for await (const _ of request);
    received += 1;
    response.writeHead(received === 1 ? 200 : 503).end(content);
  });
  await using mcp = await openMcpServer();
  await using model = await openModelServer("openai");
  using file = modelsFile("openai", model);
  model.play([
    { status: 500 },
    { calls: [{ name: "our_garden_water", input: { bed: content } }] },
    { text: content },
  ]);
  const settings = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: "x-token=otlp-sesame",
    OTEL_LOGS_EXPORTER: "otlp",
  };
  const profiles = "manus-1.6=model:scripted,manus-1.6-max=remote";
  const env = {
    ...file.env,
    ...settings,
    AGENT_PROFILES: profiles,
    LOG_LEVEL: "debug",
    SLOW_STATEMENT_MS: "1",
  };
  await using service = await openService({
    env: { ...env, CONNECTOR_ALLOW: "loopback", WEBHOOK_ALLOW: "loopback" },
  });
  const ann = await service.person();
  const secrets = await useEverything(service, ann, { hook: hook.url, mcp: mcp.url });
  await expect.poll(() => received).toBeGreaterThan(1);
  await service.drain();
  await service[Symbol.asyncDispose]();

  const log = service.logged.map((line) => JSON.stringify(line)).join("\n");
  const exported = collector.requests.map(({ text }) => text).join("\n");
  for (const secret of [content, "sk-scripted", "otlp-sesame", ...secrets]) {
    expect(secret.length).toBeGreaterThan(7);
    expect(log).not.toContain(secret);
    expect(exported).not.toContain(secret);
  }
  // The story has reached what it is about.
  const names = new Set(collector.spans.map(({ name }) => name));
  for (const name of ["run", "change", "chat scripted", "webhook.deliver", "execute_tool our_garden_water"])
    expect(names).toContain(name);
  const wires = new Set(
    collector.spans.map(({ attributes }) => attributes["atp.wire"]).filter((wire) => wire !== undefined),
  );
  expect([...wires].toSorted()).toEqual([
    "connect",
    "files",
    "grpc",
    "grpc-web",
    "oauth",
    "responses",
    "scim",
    "v1",
    "v2",
  ]);
  const debug = new Set(service.logged.flatMap((line) => (line.level === "debug" ? [line.text] : [])));
  expect([...debug].toSorted()).toEqual(["change", "delivery attempt", "jobs were taken"]);
  expect(collector.lines.length).toBeGreaterThan(50);
});
