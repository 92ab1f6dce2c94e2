import { describe, expect, test } from "vitest";
import { openService } from "../../support/service.ts";

describe("projects of v1", () => {
  test("are made and listed with a key in API_KEY, whatever stands behind Bearer", async () => {
    await using service = await openService();
    const person = await service.person();
    const headers = { API_KEY: person.key, Authorization: "Bearer placeholder", "Content-Type": "application/json" };
    const made = await fetch(`${service.url}/v1/projects`, {
      method: "POST",
      headers,
      body: JSON.stringify({ name: "Research", instruction: "Cite" }),
    });
    expect(made.status).toBe(200);
    const project = await made.json();
    expect(project).toEqual({
      id: expect.any(String),
      object: "project",
      name: "Research",
      instruction: "Cite",
      created_at: expect.any(Number),
    });
    expect(made.headers.get("link")).toBe('<https://platform.test/v2/project.create>; rel="successor-version"');
    expect(made.headers.get("deprecation")).toMatch(/^@\d+$/);
    const listed = await fetch(`${service.url}/v1/projects?limit=5`, { headers });
    expect(await listed.json()).toEqual({ object: "list", data: [project] });
  });

  test.each([
    { why: "no key", headers: { API_KEY: "" }, path: "/v1/projects", method: "GET", status: 401, code: 16 },
    { why: "a limit out of range", headers: {}, path: "/v1/projects?limit=1001", method: "GET", status: 400, code: 3 },
    { why: "a method it does not take", headers: {}, path: "/v1/projects", method: "PUT", status: 405, code: 12 },
    { why: "an unknown address", headers: {}, path: "/v1/nothing", method: "GET", status: 404, code: 5 },
  ])("are refused in v1's form: $why", async ({ headers, path, method, status, code }) => {
    await using service = await openService();
    const { key } = await service.person();
    const answer = await fetch(`${service.url}${path}`, { method, headers: { API_KEY: key, ...headers } });
    expect(answer.status).toBe(status);
    expect(await answer.json()).toEqual({ code, message: expect.any(String), details: [] });
  });
});
