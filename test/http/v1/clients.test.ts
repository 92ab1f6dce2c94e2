import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FilePlatform, openFilePlatform } from "../../files/files-rig.ts";
import { openService, type Person, type Service } from "../../support/service.ts";
import { untilStatus } from "../../support/until.ts";
import { ofCall } from "./caller.ts";

/** An answer as a client reads it, member by member. */
// biome-ignore lint/suspicious/noExplicitAny: as above
const read = async (reply: Response): Promise<any> => reply.json();

/** Clients as written for v1 by its users, each with its habits (spec/clients.md 2, 3, 26 to 28). */
describe("a client of v1", () => {
  let service: Service;
  let ann: Person;
  beforeAll(async () => {
    service = await openService();
    ann = await service.person();
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test("in camelCase: creates, polls while it is running, reads the answer, continues, renames, deletes", async () => {
    const headers = { API_KEY: ann.key, "Content-Type": "application/json" };
    const send = async (method: string, path: string, body?: object) => {
      const reply = await fetch(`${service.url}/v1${path}`, {
        method,
        headers,
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      if (reply.status !== 200) throw new Error(`${reply.status}: ${(await read(reply)).message}`);
      return read(reply);
    };
    const poll = async (id: string) => {
      // It stops at any status except running, so the first one must be running or the final one.
      expect(["running", "completed"]).toContain((await send("GET", `/tasks/${id}?convert=false`)).status);
      await untilStatus(service.store, id, "stopped");
      return send("GET", `/tasks/${id}`);
    };
    const { task_id: id, task_url } = await send("POST", "/tasks", {
      ...{
        prompt: "[[say Sorted]]",
        agentProfile: "manus-1.5",
        taskMode: "agent",
        hideInTaskList: false,
        attachments: [],
      },
    });
    expect(task_url).toContain(id);
    const done = await poll(id);
    expect(done.status).toBe("completed");
    const answers = done.output.filter((message: { role: string }) => message.role === "assistant");
    expect(
      answers.flatMap(({ content }: { content: { text: string }[] }) => content.map(({ text }) => text)),
    ).toContain("Sorted");
    await send("POST", "/tasks", { taskId: id, prompt: "[[say Sorted again]]" });
    expect(JSON.stringify((await poll(id)).output)).toContain("Sorted again");
    expect(await send("PUT", `/tasks/${id}`, { title: "Letters", enableShared: true })).toMatchObject({
      task_title: "Letters",
    });
    const { data } = await send(
      "GET",
      "/tasks?query=letters&orderBy=updated_at&status=completed&status=failed&limit=10",
    );
    expect(data).toMatchObject([{ id, metadata: { task_title: "Letters" } }]);
    expect(await send("DELETE", `/tasks/${id}`)).toEqual({ id, object: "task.deleted", deleted: true });
    await expect(send("GET", `/tasks/${id}`)).rejects.toThrow("404: task not found");
  });

  test("in snake_case: answers a task that is pending, with numbers where it reads numbers", async () => {
    const headers = { "x-api-key": ann.key };
    const send = async (method: string, path: string, body?: object) =>
      read(
        await fetch(service.url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) }),
      );
    const made = await send("POST", "/v1/tasks", {
      ...{
        prompt: "[[ask Which? | Red | Blue]] [[credits 3]]",
        agent_profile: "speed",
        interactive_mode: true,
        create_shareable_link: true,
      },
    });
    expect(made.share_url).toBe(made.task_url.replace("/app/", "/share/"));
    await untilStatus(service.store, made.task_id, "waiting");
    const pending = await send("GET", `/v1/tasks/${made.task_id}`);
    expect(pending).toMatchObject({ status: "pending", model: "manus-1.6-lite-agent" });
    await send("POST", "/v1/tasks", { task_id: made.task_id, prompt: "Red" });
    await untilStatus(service.store, made.task_id, "stopped");
    const done = await send("GET", `/v1/tasks/${made.task_id}`);
    for (const member of ["created_at", "updated_at", "credit_usage"])
      expect(done[member]).toBeTypeOf("number");
    expect(
      done.output.map(({ role }: { role: string }) => role).filter((role: string) => role === "user"),
    ).toHaveLength(2);
  });

  test("with the OpenAI SDK's habits lists tasks until has_more is false, with a placeholder behind Bearer", async () => {
    const cy = await service.person();
    const headers = { API_KEY: cy.key, Authorization: "Bearer **", "X-Stainless-Lang": "python" };
    for (const prompt of ["[[forever]] 1", "[[forever]] 2", "[[forever]] 3"])
      await fetch(`${service.url}/v1/tasks`, { method: "POST", headers, body: JSON.stringify({ prompt }) });
    const titles: string[] = [];
    for (let after = ""; ; ) {
      const page = await read(await fetch(`${service.url}/v1/tasks?limit=2&order=asc${after}`, { headers }));
      titles.push(
        ...page.data.map(({ metadata }: { metadata: { task_title: string } }) => metadata.task_title),
      );
      if (!page.has_more) break;
      after = `&after=${page.last_id}`;
    }
    expect(titles).toEqual(["[[forever]] 1", "[[forever]] 2", "[[forever]] 3"]);
  });

  test("reads the error from code and message for every call", async () => {
    const headers = { API_KEY: ann.key };
    const wrong = [
      ["POST", "/v1/tasks", "{", 400, 3],
      ["POST", "/v1/tasks", '{"prompt":"x","task_id":"none"}', 404, 5],
      ["GET", "/v1/tasks/none", undefined, 404, 5],
      ["GET", "/v1/webhooks", undefined, 405, 12],
      ["PATCH", "/v1/tasks/none", "{}", 405, 12],
    ] as const;
    for (const [method, path, body, status, code] of wrong) {
      const reply = await fetch(service.url + path, {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
      });
      expect([path, reply.status, await reply.json()]).toEqual([
        path,
        status,
        { code, message: expect.stringMatching(/./), details: [], ...ofCall },
      ]);
    }
  });
});

describe("a client that uploads files", () => {
  let town: FilePlatform;
  beforeAll(async () => {
    town = await openFilePlatform("sqlite");
  });
  afterAll(() => town[Symbol.asyncDispose]());

  test("creates a slot, puts the bytes without a key, and waits until it is uploaded (spec/clients.md 8, 24)", async () => {
    const { key } = await town.service.person();
    const headers = { API_KEY: key, "Content-Type": "application/json" };
    const made = await fetch(`${town.service.url}/v1/files`, {
      method: "POST",
      headers,
      body: '{"filename":"a.csv"}',
    });
    expect(made.status).toBe(200);
    const { id, upload_url } = await read(made);
    const put = await fetch(town.reach(upload_url), {
      method: "PUT",
      body: "a,b\n1,2\n",
      headers: { "Content-Type": "text/csv" },
    });
    expect(put.status).toBe(200);
    const file = await read(await fetch(`${town.service.url}/v1/files/${id}`, { headers }));
    expect(file).toMatchObject({ id, status: "uploaded", bytes: 8 });
    const gone = await fetch(`${town.service.url}/v1/files/${id}`, { method: "DELETE", headers });
    expect([gone.status, await gone.json()]).toEqual([200, { id, object: "file.deleted", deleted: true }]);
  });
});
