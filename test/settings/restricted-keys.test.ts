import { expect, test } from "vitest";
import { isAllowedAddress } from "../../src/core/keys/restrictions.ts";
import { ApiKeyKind } from "../../src/gen/proto/settings/v1/api_key_pb.ts";
import { ApiKeyService } from "../../src/gen/proto/settings/v1/api_key_service_pb.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { mcpClient, namesOf } from "../mcp/client.ts";
import { describeOnOne, nodesOf } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { callV2, clientOf } from "../support/wires.ts";
import { outcomeOf, settingsRig } from "./settings-rig.ts";

const message = { content: "Hello" };
const noScope = (name: string, ...scopes: string[]) =>
  `this API key has no scope ${name}; its scopes are ${scopes.join(", ")}`;

describeOnOne("a restricted key", (database) => {
  const clock = stillClock();
  const env = { TRUST_PROXY: "X-Forwarded-For" };
  const rig = settingsRig(database, { clock, nodes: nodesOf(database), env });
  const browser = async (who: Person) => (await who.session()).client(ApiKeyService);

  /** Calls v2 with a key, from an address as the trusted proxy reports it. */
  async function call(
    secret: string,
    name: string,
    body: object = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    const sent = { "x-service-api-key": secret, "x-forwarded-for": "192.0.2.1", ...headers };
    return callV2(rig.service.url, name, body, { headers: sent });
  }
  async function outcome(
    secret: string,
    name: string,
    body: object = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const { status, body: answer } = await call(secret, name, body, headers);
    return status === 200 ? "let in" : `${status} ${answer["error"]?.code}: ${answer["error"]?.message}`;
  }
  async function project(who: Person): Promise<string> {
    const { body } = await who.v2("project.create", { name: "Post" });
    return body["project"].id;
  }
  async function taskIn(who: Person, projectId?: string): Promise<string> {
    const { body } = await who.v2("task.create", {
      message,
      ...(projectId === undefined ? {} : { project_id: projectId }),
    });
    return body["task_id"];
  }

  test("is made, shown and changed with its limits, which the audit log records; other keys have none (spec/api.md 8.108)", async () => {
    const ann = await rig.person();
    const keys = await browser(ann);
    const post = await project(ann);
    const limits = {
      scopes: ["task:read", "task:read"],
      projectIds: [post],
      addressRanges: ["192.0.2.1", "2001:DB8::/32"],
    };
    const { apiKey, secret } = await keys.createApiKey({ name: "ci", restrictions: limits });
    const stored = {
      scopes: ["task:read"],
      projectIds: [post],
      addressRanges: ["192.0.2.1/32", "2001:db8::/32"],
    };
    expect(apiKey?.restrictions).toMatchObject(stored);
    expect(
      JSON.parse(String((await rig.auditRow("settings.v1.ApiKeyService/CreateApiKey", apiKey?.id))["after"])),
    ).toMatchObject(stored);
    const me = await call(secret, "user.me");
    expect([me.body["scopes"], me.body["project_ids"]]).toEqual([["task:read"], [post]]);
    const { data } = await keys.listApiKeys({});
    const scopesOf = new Map(data.map(({ id, restrictions }) => [id, restrictions?.scopes]));
    expect([scopesOf.get(apiKey?.id ?? ""), scopesOf.get(ann.keyId)]).toEqual([["task:read"], undefined]);
    const { id = "" } = apiKey ?? {};
    expect(
      (await keys.restrictApiKey({ id, restrictions: { scopes: ["usage:read"] } })).apiKey?.restrictions
        ?.projectIds,
    ).toEqual([]);
    expect(await outcome(secret, "task.list")).toBe(
      `403 permission_denied: ${noScope("task:read", "usage:read")}`,
    );
    expect((await keys.restrictApiKey({ id })).apiKey?.restrictions).toBeUndefined();
    expect(await outcome(secret, "task.list")).toBe("let in");
  });

  test("is refused with a wrong limit, by the name of the field", async () => {
    const ann = await rig.person();
    const keys = await browser(ann);
    const foreign = await project(await rig.person());
    const made = (restrictions: object, kind: ApiKeyKind = ApiKeyKind.GENERAL) =>
      outcomeOf(keys.createApiKey({ name: "ci", kind, restrictions }));
    expect(await made({ scopes: ["task:read", "task:all"] })).toContain(
      "InvalidArgument: restrictions.scopes[1]: is not a scope",
    );
    expect(await made({ projectIds: [foreign] })).toContain(
      "InvalidArgument: restrictions.project_ids[0]: is not a project",
    );
    for (const range of ["10.0.0.0/33", "::/129", "example.com", "10.1", "fe80::1%eth0", "1.2.3.4/"])
      expect(await made({ addressRanges: [range] })).toContain(
        "InvalidArgument: restrictions.address_ranges[0]: must be an address",
      );
    expect(await made({ scopes: ["task:read"] }, ApiKeyKind.SIEM)).toContain(
      "restrictions.scopes: are for general keys only",
    );
    expect(await made({ projectIds: [foreign] }, ApiKeyKind.SIEM)).toContain(
      "restrictions.project_ids: are for general keys only",
    );
    expect(await made({ addressRanges: ["10.0.0.0/8"] }, ApiKeyKind.SIEM)).toBe("let in");
  });

  test("is used only from its addresses, as the trusted proxy reports them, also on /mcp and for signed addresses", async () => {
    const ann = await rig.person();
    const restrictions = { addressRanges: ["192.0.2.0/24", "2001:db8::/32"] };
    const { secret } = await (await browser(ann)).createApiKey({ name: "ci", restrictions });
    const from = (address: string) => outcome(secret, "user.me", {}, { "x-forwarded-for": address });
    for (const address of ["192.0.2.77", "2001:db8::1", "::ffff:192.0.2.9", "198.51.100.1, 192.0.2.1"])
      expect(await from(address)).toBe("let in");
    const refusal = "this API key cannot be used from this network address";
    for (const address of ["192.0.3.1", "2001:db9::1", "192.0.2.1, 198.51.100.1"])
      expect(await from(address)).toBe(`403 permission_denied: ${refusal}`);
    const { body } = await call(secret, "task.watchUrl", { task_id: await taskIn(ann) });
    const signed = new URL(body["url"]);
    const watch = await fetch(`${rig.service.url}${signed.pathname}${signed.search}`, {
      headers: { "x-forwarded-for": "198.51.100.1" },
    });
    expect([watch.status, await watch.text()]).toEqual([404, expect.stringContaining("address not found")]);
    const answer = await fetch(`${rig.service.url}/mcp`, {
      method: "POST",
      headers: {
        ...{ "x-service-api-key": secret, "x-forwarded-for": "198.51.100.1" },
        ...{ "content-type": "application/json", accept: "application/json, text/event-stream" },
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    });
    expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining(refusal)]);
    expect(isAllowedAddress(["fe80::/10"], "fe80::1%eth0")).toBe(true);
    expect(isAllowedAddress(["0.0.0.0/0", "::/0"], "unknown")).toBe(false);
  });

  test("reaches only its projects: their tasks, itself, its uploads, and nothing that shows more", async () => {
    const ann = await rig.person();
    const [post, other] = [await project(ann), await project(ann)];
    const [inside, outside, loose] = [await taskIn(ann, post), await taskIn(ann, other), await taskIn(ann)];
    const { secret } = await (await browser(ann)).createApiKey({
      name: "ci",
      restrictions: { projectIds: [post] },
    });
    for (const [name, body] of [
      ["task.detail", {}],
      ["task.listMessages", {}],
      ["task.stop", {}],
      ["task.update", { title: "x" }],
      ["task.sendMessage", { message }],
      ["task.delete", {}],
      ["task.watchUrl", {}],
    ] as const) {
      for (const id of [outside, loose])
        expect(`${name} ${await outcome(secret, name, { task_id: id, ...body })}`).toBe(
          `${name} 404 not_found: task not found`,
        );
    }
    const listed = async (body: object) => {
      const answer = (await call(secret, "task.list", body)).body;
      return answer["data"].map(({ id }: { id: string }) => id);
    };
    expect(await listed({})).toEqual([inside]);
    expect(await listed({ order_by: "updated_at", order: "asc" })).toEqual([inside]);
    expect(await listed({ project_id: other })).toEqual([]);
    expect((await call(secret, "task.list", { include_counts: true })).body["counts"].running).toBe(1);
    const projects = (await call(secret, "project.list")).body["data"];
    expect(projects.map(({ id }: { id: string }) => id)).toEqual([post]);
    for (const name of ["project.detail", "project.update", "project.delete"])
      expect(
        await outcome(secret, name, {
          project_id: other,
          ...(name === "project.update" ? { name: "x" } : {}),
        }),
      ).toContain("404 not_found");
    const needsProject = "project_id: must be one of the projects";
    expect(await outcome(secret, "task.create", { message })).toContain(needsProject);
    expect(await outcome(secret, "task.create", { message, project_id: other })).toContain("404 not_found");
    expect(await outcome(secret, "task.update", { task_id: inside, project_id: "" })).toContain(needsProject);
    expect(await outcome(secret, "task.update", { task_id: inside, project_id: other })).toContain(
      "404 not_found",
    );
    const references = { message: { ...message, task_references: [outside] }, project_id: post };
    expect(await outcome(secret, "task.create", references)).toContain("404 not_found");
    for (const name of ["project.create", "webhook.list", "usage.list", "schedule.list", "agent.list"])
      expect(await outcome(secret, name, name === "project.create" ? { name: "x" } : {})).toContain(
        "403 permission_denied",
      );
    const own = await call(secret, "file.upload", { filename: "own.txt" });
    const foreign = (await ann.v2("file.upload", { filename: "foreign.txt" })).body["file"].id;
    expect(await outcome(secret, "file.detail", { file_id: own.body["file"].id })).toBe("let in");
    for (const name of ["file.detail", "file.delete"])
      expect(await outcome(secret, name, { file_id: foreign })).toContain("404 not_found");
    const tasks = clientOf(TaskService, "connect-json", rig.service.url, {
      "x-service-api-key": secret,
      "x-forwarded-for": "192.0.2.1",
    });
    const [{ cursor = "" } = expect.fail()] = await Array.fromAsync(tasks.watchTasks({}));
    for (const id of [inside, outside, loose]) await ann.v2("task.update", { task_id: id, title: "Changed" });
    const changed = await Array.fromAsync(tasks.watchTasks({ cursor }));
    expect([
      changed.flatMap((each) => each.tasks.map(({ id }) => id)),
      changed.flatMap(({ removedIds }) => removedIds),
    ]).toEqual([[inside], []]);
  });

  test("gets no answer that another key of its account made under the same Idempotency-Key", async () => {
    const ann = await rig.person();
    const [post, other] = [await project(ann), await project(ann)];
    const idempotencyKey = { "idempotency-key": "same" };
    const first = await call(ann.key, "task.create", { message, project_id: other }, idempotencyKey);
    const { secret } = await (await browser(ann)).createApiKey({
      name: "ci",
      restrictions: { projectIds: [post] },
    });
    expect(await outcome(secret, "task.create", { message, project_id: other }, idempotencyKey)).toContain(
      "404 not_found",
    );
    const again = await call(ann.key, "task.create", { message, project_id: other }, idempotencyKey);
    expect(again.body["task_id"]).toBe(first.body["task_id"]);
  });

  test("uses connectors and writes schedules only with the scopes for that", async () => {
    const ann = await rig.person();
    const keys = await browser(ann);
    const schedule = { schedule: { name: "Daily", interval_seconds: 86_400, task: { message } } };
    const narrow = await keys.createApiKey({
      name: "a",
      restrictions: { scopes: ["task:write", "schedule:write"] },
    });
    const scopes = ["task:write", "schedule:write", "connector:use"];
    const wide = await keys.createApiKey({ name: "b", restrictions: { scopes } });
    expect(await outcome(narrow.secret, "schedule.create", schedule)).toContain(
      "403 permission_denied: this API key has no scope connector:use",
    );
    expect(await outcome(wide.secret, "schedule.create", schedule)).toBe("let in");
    const connectors = ["bbb0df76-66bd-4a24-ae4f-2aac4750d90b"];
    expect(await outcome(narrow.secret, "task.create", { message: { ...message, connectors } })).toContain(
      "not granted",
    );
    expect(await outcome(wide.secret, "task.create", { message: { ...message, connectors } })).toContain(
      "is not installed",
    );
    expect(
      await outcome(narrow.secret, "task.confirmAction", { task_id: "x", event_id: "y", input: {} }),
    ).toContain("no scope task:approve");
  });

  test("lists only the tools of its scopes on /mcp, and each call is checked", async () => {
    const ann = await rig.person();
    const keys = await browser(ann);
    const post = await project(ann);
    const { secret } = await keys.createApiKey({
      name: "m",
      restrictions: { scopes: ["task:read", "skill:read"], projectIds: [post] },
    });
    const headers = { "x-service-api-key": secret, "x-forwarded-for": "192.0.2.1" };
    const client = await mcpClient(rig.service.url, { headers });
    try {
      const names = await namesOf(client);
      expect(names).toContain("task_list");
      for (const hidden of ["skill_list", "task_stop", "schedule_list", "project_list"])
        expect(names).not.toContain(hidden);
      const { data } = await keys.listApiKeys({});
      const id = data.find(({ name }) => name === "m")?.id ?? "";
      await keys.restrictApiKey({ id, restrictions: { scopes: ["usage:read"] } });
      expect(await namesOf(client)).not.toContain("task_list");
      await expect(client.callTool({ name: "task_list", arguments: {} })).rejects.toThrow("unknown tool");
    } finally {
      await client.close();
    }
  });

  test("cannot make a key, change limits, or give itself more, with any scopes", async () => {
    const ann = await rig.person();
    const keys = await browser(ann);
    const { apiKey, secret } = await keys.createApiKey({
      name: "ci",
      restrictions: { scopes: ["key:read", "key:write"] },
    });
    const own = ann.client(ApiKeyService);
    const headers = { "x-service-api-key": secret };
    const byKey = callWith(rig.service.url, headers);
    expect(await byKey("CreateApiKey", { name: "more" })).toBe("permission_denied");
    expect(await byKey("RestrictApiKey", { id: apiKey?.id })).toBe("permission_denied");
    expect(await byKey("RenameApiKey", { id: apiKey?.id, name: "other" })).toBe("ok");
    expect(
      (await own.listApiKeys({})).data.find(({ id }) => id === apiKey?.id)?.restrictions?.scopes,
    ).toEqual(["key:read", "key:write"]);
    expect(
      await outcomeOf(
        (await browser(await rig.person({ with: ann }))).restrictApiKey({ id: apiKey?.id ?? "" }),
      ),
    ).toContain("NotFound");
  });

  test("is refused on every node from the answer of its restriction or revocation on, however many calls are under way", async () => {
    const ann = await rig.person();
    const keys = await browser(ann);
    for (const end of ["restrict", "revoke"] as const) {
      const { apiKey, secret } = await keys.createApiKey({ name: end });
      const { id = "" } = apiKey ?? {};
      let ended = false;
      const late: string[] = [];
      const caller = async (): Promise<void> => {
        for (let nth = 0; nth < 6; nth++) {
          const began = ended;
          const got = await outcome(secret, "task.list");
          if (began) late.push(got);
          else expect(got).toMatch(/let in|permission_denied/);
        }
      };
      const callers = Promise.all([caller(), caller(), caller()]);
      await (end === "revoke"
        ? keys.revokeApiKey({ id })
        : keys.restrictApiKey({ id, restrictions: { scopes: ["usage:read"] } }));
      ended = true;
      await callers;
      late.push(await outcome(secret, "task.list"), await outcome(secret, "task.list"));
      for (const got of late) expect(got).toMatch(end === "revoke" ? /^401/ : /^403 permission_denied/);
    }
  });
});

/** Calls the service of keys over Connect's JSON, and returns `ok` or the code. */
const callWith =
  (url: string, headers: Readonly<Record<string, string>>) => async (method: string, body: object) => {
    const answer = await fetch(`${url}/settings.v1.ApiKeyService/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    return answer.ok ? "ok" : ((await answer.json()) as { code: string }).code;
  };
