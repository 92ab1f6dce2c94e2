import { expect, test } from "vitest";
import { openReceiver } from "../egress/receiver.ts";
import { openLocal } from "../support/mcp-server.ts";
import { taskRig } from "../support/task-rig.ts";
import { envOf, runWith, testFolder } from "./rig.ts";

const rig = taskRig({ env: { WEBHOOK_ALLOW: "loopback" } });
const home = testFolder();

interface Found {
  readonly name: string;
  readonly verdict: string;
  readonly notes: readonly string[];
  readonly requests: readonly string[];
}

test("atp check finds that every operation and rule of the specification works", async () => {
  await using receiver = await openReceiver((_, response) => void response.end("ok"));
  const ran = await runWith(home, rig.service, ["check", "--json", "--webhook", `${receiver.url}/hook`], {
    env: envOf(rig.service, rig.ann),
  });
  const found: readonly Found[] = JSON.parse(ran.out);
  expect(found.filter(({ verdict }) => verdict !== "works")).toEqual([]);
  expect(ran.code, ran.err).toBe(0);
  const names = found.map(({ name }) => name);
  // The 33 operations of spec/api.md 0.3 and the endpoints of spec/v1.md 2.
  expect(names.filter((name) => /^\w+\.\w+$/.test(name)).length).toBe(34);
  expect(names.filter((name) => /^[A-Z]+ \/v1\//.test(name)).length).toBe(14);
  expect(found.every(({ requests }) => requests.length > 0)).toBe(true);
  expect((await rig.ann.v2("webhook.list")).body["data"]).toEqual([]);
});

test("atp check says what differs, what is missing and what it could not try, and fails", async () => {
  // A server whose tasks have no status, without v1 and without a list of skills.
  await using other = await openLocal(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const headers = {
      "x-service-api-key": String(request.headers["x-service-api-key"] ?? ""),
      "content-type": "application/json",
    };
    const isMissing = /^\/v1|skill.list/.test(request.url ?? "");
    const init = { method: request.method ?? "GET", headers, ...(body === "" ? {} : { body }) };
    const reply = await fetch(`${rig.service.url}${isMissing ? "/nowhere" : request.url}`, init);
    const text = await reply.text();
    response.writeHead(reply.status, { "content-type": "application/json" });
    response.end(
      request.url?.startsWith("/v2/task.list?limit=5") ? text.replaceAll('"status":', '"state":') : text,
    );
  });
  const args = ["check", "--json", "--against", new URL(other.url).origin, "--key", "-"];
  const ran = await runWith(home, { url: new URL(other.url).origin }, args, { input: rig.ann.key });
  const found = new Map((JSON.parse(ran.out) as readonly Found[]).map((each) => [each.name, each]));
  expect(found.get("task.list")).toMatchObject({
    verdict: "differs",
    notes: [expect.stringContaining("status")],
  });
  expect(found.get("skill.list")).toMatchObject({ verdict: "missing" });
  expect(found.get("POST /v1/tasks")).toMatchObject({ verdict: "missing" });
  expect(found.get("GET /v1/tasks/{task_id}")).toMatchObject({ verdict: "not tried" });
  expect(found.get("webhook.create")).toMatchObject({ verdict: "not tried", notes: ["needs --webhook"] });
  expect(found.get("task.create")).toMatchObject({ verdict: "works" });
  expect(ran).toMatchObject({ code: 1, err: expect.stringContaining("differ or are missing") });
});

test.each([
  "null",
  "[]",
  "<html>",
  '{"ok": true, "task": null, "data": 1, "messages": {}}',
])("atp check reads a server to the end that answers %s to everything", async (body) => {
  await using other = await openLocal(
    (_request, response) => void response.writeHead(200, { "content-type": "application/json" }).end(body),
  );
  const url = new URL(other.url).origin;
  const ran = await runWith(home, { url }, ["check", "--json", "--against", url, "--key", "sk-1"]);
  const found: readonly Found[] = JSON.parse(ran.out);
  expect(found.find(({ name }) => name === "task.create")).toMatchObject({ verdict: "differs" });
  expect(found.find(({ name }) => name === "POST /responses")).toMatchObject({ verdict: "differs" });
  expect(ran).toMatchObject({ code: 1, err: expect.stringContaining("differ or are missing") });
});

test("atp check sends a key only to the address that it is given for", async () => {
  const env = envOf(rig.service, rig.ann);
  expect(
    await runWith(home, rig.service, ["check", "--against", "https://api.example.com"], { env }),
  ).toMatchObject({ code: 2 });
  expect(await runWith(home, rig.service, ["check", "--key", "sk-1"], { env })).toMatchObject({ code: 2 });
});
