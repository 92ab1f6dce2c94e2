import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { v1Table } from "../../../src/http/v1/routes.ts";
import { openReceiver, type Receiver } from "../../egress/receiver.ts";
import { type FilePlatform, openFilePlatform } from "../../files/files-rig.ts";
import type { Person } from "../../support/service.ts";
import { callV2 } from "../../support/wires.ts";
import { type CallV1, refusal, v1Of, v1With } from "./caller.ts";

const addresses = v1Table.map(({ verb, path }) => `${verb} ${path}`);
const verbs = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/** A valid call of each address: its body, and the id in its path. */
interface Sample {
  readonly body?: () => object;
  readonly id?: (call: CallV1) => Promise<string>;
}
const taskId = async (call: CallV1) =>
  (await call("POST /v1/tasks", { prompt: "Sort", create_shareable_link: true })).body.task_id;
const fileId = async (call: CallV1) => (await call("POST /v1/files", { filename: "a.txt" })).body.id;
let hooks: Receiver;
let hookCount = 0;
/** An address is registered once. */
const newHook = () => ({ webhook: { url: `${hooks.url}/${hookCount++}` } });
const hookId = async (call: CallV1) => (await call("POST /v1/webhooks", newHook())).body.webhook_id;
const samples: Readonly<Record<string, Sample>> = {
  "POST /v1/projects": { body: () => ({ name: "Post" }) },
  "GET /v1/projects": {},
  "POST /v1/tasks": { body: () => ({ prompt: "Sort" }) },
  "GET /v1/tasks": {},
  "GET /v1/tasks/{task_id}": { id: taskId },
  "PUT /v1/tasks/{task_id}": { id: taskId, body: () => ({ title: "Letters" }) },
  "DELETE /v1/tasks/{task_id}": { id: taskId },
  "POST /v1/files": { body: () => ({ filename: "a.txt" }) },
  "GET /v1/files": {},
  "GET /v1/files/{file_id}": { id: fileId },
  "DELETE /v1/files/{file_id}": { id: fileId },
  "POST /v1/webhooks": { body: newHook },
  "DELETE /v1/webhooks/{webhook_id}": { id: hookId },
  "GET /v1/webhook/public_key": {},
};

/** The status of a valid call. */
const soundStatus = (address: string) => (address === "DELETE /v1/webhooks/{webhook_id}" ? 204 : 200);
/** A key may be missing (spec/clients.md 29). */
const openAddress = "GET /v1/webhook/public_key";

/** Paths of null values in a body. */
const nullsIn = (value: unknown, at = ""): string[] => {
  if (value === null) return [at];
  return typeof value === "object"
    ? Object.entries(value as object).flatMap(([name, member]) => nullsIn(member, `${at}.${name}`))
    : [];
};

describe("every address of v1", () => {
  let town: FilePlatform;
  let ann: Person;
  let call: CallV1;
  beforeAll(async () => {
    hooks = await openReceiver((_request, response) => void response.end());
    town = await openFilePlatform("sqlite", { env: { WEBHOOK_ALLOW: "loopback" } });
    ann = await town.service.person();
    call = v1Of(town.service, ann);
  });
  afterAll(async () => {
    await town[Symbol.asyncDispose]();
    await hooks[Symbol.asyncDispose]();
  });

  const at = async (address: string) =>
    address.replace(/\{\w+\}/, (await samples[address]?.id?.(call)) ?? "");

  test("has a sample here", () => {
    expect(Object.keys(samples).toSorted()).toEqual(addresses.toSorted());
  });

  test.each(
    addresses,
  )("%s answers 200 to a valid call, without null, as deprecated, and names its successor on v2", async (address) => {
    const { status, headers, body } = await call(await at(address), samples[address]?.body?.());
    expect(status).toBe(soundStatus(address));
    if (status === 200) expect(nullsIn(body)).toEqual([]);
    expect(headers.get("deprecation")).toMatch(/^@\d{10}$/);
    const [, name] =
      /^<https:\/\/platform\.test\/v2\/([\w.]+)>; rel="successor-version"$/.exec(headers.get("link") ?? "") ??
      [];
    // v2 has no list of files.
    expect([address, name !== undefined]).toEqual([address, address !== "GET /v1/files"]);
    if (name !== undefined) expect((await callV2(town.service.url, name, {})).status).toBe(401);
    expect(headers.get("cache-control")).toBe(headers.has("etag") ? "private, no-cache" : "no-store");
    expect(headers.get("x-request-id")).toMatch(/./);
    if (status === 200) expect(headers.get("content-type")).toMatch(/^application\/json/);
  });

  test.each(addresses)("%s is 401 without a key, and with an unknown key", async (address) => {
    for (const headers of [{}, { Authorization: "Bearer placeholder" }, { API_KEY: "sk-nobody" }] as Record<
      string,
      string
    >[]) {
      if (address === openAddress && headers["API_KEY"] === undefined) continue;
      const { status, body } = await v1With(town.service, headers)(
        address.replace(/\{\w+\}/, "x"),
        samples[address]?.body?.(),
      );
      expect({ status, body }).toEqual({ status: 401, body: refusal(16, /^Invalid or missing API key/) });
    }
  });

  test.each([
    ...new Set(v1Table.map(({ path }) => path)),
  ])("%s is 405 for other methods, and lists the accepted ones", async (path) => {
    const taken = v1Table.filter((row) => row.path === path).map(({ verb }) => verb as string);
    for (const verb of verbs.filter((one) => !taken.includes(one))) {
      const { status, headers, body } = await call(`${verb} ${path.replace(/\{\w+\}/, "x")}`);
      expect([verb, status, headers.get("allow")]).toEqual([
        verb,
        405,
        [...taken, ...(taken.includes("GET") ? ["HEAD"] : [])].join(", "),
      ]);
      expect(body).toEqual(refusal(12, /^this address accepts /));
    }
  });

  test.each(addresses)("%s ignores unknown members, in body and query", async (address) => {
    const body = samples[address]?.body?.();
    const strange = { no_such_member: 1, noSuchMember: { a: [null] }, constructor: "x" };
    const reply = await call(
      `${await at(address)}?no_such_member=1&constructor=x&__proto__=x`,
      body && { ...body, ...strange },
    );
    expect(reply.status).toBe(soundStatus(address));
  });

  test.each(addresses)("%s takes a call of no content type, or of another", async (address) => {
    const [verb = "", path = ""] = (await at(address)).split(" ");
    for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
      const [, again = path] = (await at(address)).split(" ");
      const body = samples[address]?.body?.();
      const sent = body ? { body: JSON.stringify(body) } : {};
      const reply = await fetch(town.service.url + again, {
        method: verb,
        headers: { API_KEY: ann.key, "Content-Type": type },
        ...sent,
      });
      expect(reply.status).toBe(soundStatus(address));
    }
  });

  test("an unknown address is 404 in v1's form, with the member that SDKs of OpenAI print", async () => {
    const error = { message: "unknown address", type: "not_found_error", param: null, code: "not_found" };
    for (const path of ["GET /v1/nothing", "POST /v1/tasks/x/y", "GET /v1/"]) {
      const { status, body } = await call(path);
      expect({ path, status, body }).toEqual({
        path,
        status: 404,
        body: { ...refusal(5, /^unknown address$/), error },
      });
    }
  });
});
