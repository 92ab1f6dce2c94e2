import { describe, expect, test } from "vitest";
import { sampleProject } from "../../store/samples.ts";
import { openService } from "../../support/service.ts";
import { ofCall, refusal, v1Of } from "./caller.ts";

describe("projects of v1", () => {
  test("are created and listed with a key in API_KEY, for any text behind Bearer", async () => {
    await using service = await openService();
    const person = await service.person();
    const headers = {
      API_KEY: person.key,
      Authorization: "Bearer placeholder",
      "Content-Type": "application/json",
    };
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
    expect(made.headers.get("link")).toBe(
      '<https://platform.test/v2/project.create>; rel="successor-version"',
    );
    expect(made.headers.get("deprecation")).toMatch(/^@\d+$/);
    const listed = await fetch(`${service.url}/v1/projects?limit=5`, { headers });
    expect(await listed.json()).toEqual({ object: "list", data: [project] });
  });

  test.each([
    { why: "no key", headers: { API_KEY: "" }, path: "/v1/projects", method: "GET", status: 401, code: 16 },
    {
      why: "a limit out of range",
      headers: {},
      path: "/v1/projects?limit=1001",
      method: "GET",
      status: 400,
      code: 3,
    },
    {
      why: "a method it does not take",
      headers: {},
      path: "/v1/projects",
      method: "PUT",
      status: 405,
      code: 12,
    },
  ])("are refused in v1's form: $why", async ({ headers, path, method, status, code }) => {
    await using service = await openService();
    const { key } = await service.person();
    const answer = await fetch(`${service.url}${path}`, { method, headers: { API_KEY: key, ...headers } });
    expect(answer.status).toBe(status);
    expect(await answer.json()).toEqual({ code, message: expect.any(String), details: [], ...ofCall });
  });

  test("have no instruction by default, may share a name, and omit unknown members", async () => {
    await using service = await openService({ idle: true });
    const call = v1Of(service, await service.person());
    const bodies = [
      { name: "Post" },
      { name: "Post", instruction: "", default_instructions: "x" },
      { name: "Post", instruction: null },
    ];
    for (const body of bodies) {
      const {
        status,
        body: { warnings, ...made },
      } = await call("POST /v1/projects", body);
      expect(warnings).toEqual(
        "default_instructions" in body ? ['unknown member "default_instructions"'] : undefined,
      );
      expect(status).toBe(200);
      expect(Object.keys(made).toSorted()).toEqual(["created_at", "id", "name", "object"]);
    }
  });

  test("are listed newest first, 100 by default", async () => {
    await using service = await openService({ idle: true });
    const person = await service.person();
    const { accountId, spaceId } = person;
    await service.store.change(async (tx) => {
      for (let n = 0; n < 105; n += 1)
        await tx.projects.insert(sampleProject({ id: `p${n}`, accountId, spaceId, createdAt: 1000 * n }));
    });
    const sizes = await Promise.all(
      ["", "?limit=1", "?limit=104", "?limit=1000"].map((query) =>
        v1Of(service, person)(`GET /v1/projects${query}`),
      ),
    );
    expect(sizes.map(({ body }) => [body.data.length, body.data[0].id])).toEqual(
      [100, 1, 104, 105].map((size) => [size, "p104"]),
    );
  });

  test.each([
    ["POST /v1/projects", {}, /^name: is required/],
    ["POST /v1/projects", { name: "" }, /^name: /],
    ["POST /v1/projects", { name: "a".repeat(201) }, /^name: /],
    ["POST /v1/projects", { name: "a", instruction: 5 }, /^instruction: must be a string/],
    ["GET /v1/projects?limit=0", undefined, /^limit: must be at least 1/],
    ["GET /v1/projects?limit=1001", undefined, /^limit: must be at most 1000/],
    ["GET /v1/projects?limit=x", undefined, /^limit: must be a whole number/],
  ])("%s refuses %j", async (at, body, named) => {
    await using service = await openService({ idle: true });
    expect(await v1Of(service, await service.person())(at, body)).toMatchObject({
      status: 400,
      body: refusal(3, named),
    });
  });
});
