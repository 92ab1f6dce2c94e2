import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { depth } from "../support/depth.ts";
import { type Part, partAt, readDocument } from "../support/documents.ts";
import { root } from "../support/server-process.ts";
import { taskRig } from "../support/task-rig.ts";

/** A request of a collection, with its variables. */
interface Sent {
  readonly name: string;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

const listOf = (part: Part, name: string): readonly Part[] => (Array.isArray(part[name]) ? part[name] : []);
const itemsOf = (collection: Part, name: string): readonly Part[] =>
  listOf(collection, name).flatMap((folder) => listOf(folder, name));

const postman = readDocument("collections/postman.json");
const bruno = readDocument("collections/bruno.json");

const ofPostman = itemsOf(postman, "item").map((item): Sent => {
  const request = partAt(item, "request");
  return {
    name: String(item["name"]),
    method: String(request["method"]),
    url: String(partAt(request, "url")["raw"]),
    headers: Object.fromEntries(
      listOf(request, "header").map(({ key, value }) => [String(key), String(value)]),
    ),
    body: request["body"] === undefined ? undefined : String(partAt(request, "body")["raw"]),
  };
});
const ofBruno = itemsOf(bruno, "items").map((item): Sent => {
  const request = partAt(item, "request");
  const { mode, json } = partAt(request, "body");
  const headers = Object.fromEntries(
    listOf(request, "headers").map(({ name, value }) => [String(name), String(value)]),
  );
  return {
    ...{ name: String(item["name"]), method: String(request["method"]), url: String(request["url"]) },
    headers: mode === "json" ? { ...headers, "Content-Type": "application/json" } : headers,
    body: mode === "json" ? String(json) : undefined,
  };
});

describe("the collections for Postman and Bruno", () => {
  const rig = taskRig();

  test("have the same requests: every operation of v2, v1 and the Responses API once", () => {
    expect(ofBruno).toEqual(ofPostman);
    const names = ofPostman.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const v2 = Object.keys(partAt(readDocument("openapi.json"), "paths")).map((path) =>
      path.replace("/v2/", ""),
    );
    const others = ["v1", "responses"].flatMap((file) =>
      Object.entries(partAt(readDocument(`openapi/${file}.json`), "paths")).flatMap(([path, item]) =>
        Object.keys(item as object).map(
          (method) => `${method.toUpperCase()} ${file === "v1" ? "" : "/v1"}${path}`,
        ),
      ),
    );
    expect(names.toSorted()).toEqual([...new Set([...v2, ...others])].toSorted());
  });

  test("have no key: it is an empty variable", () => {
    const text = JSON.stringify([postman, bruno]);
    expect(text).not.toMatch(/sk-[A-Za-z0-9]{8}/);
    expect(listOf(postman, "variable")).toContainEqual({ key: "key", value: "", type: "string" });
    const [environment = {}] = listOf(bruno, "environments");
    expect(listOf(environment, "variables")).toContainEqual({
      name: "key",
      value: "",
      type: "text",
      enabled: true,
      secret: true,
    });
  });

  test("have requests that a server knows and accepts as JSON from the owner's key", async () => {
    const { url } = rig.service;
    const fill = (text: string) =>
      text
        .replaceAll("{{base_url}}", url)
        .replaceAll("{{key}}", rig.ann.key)
        .replaceAll(/\{\{\w+\}\}/g, "AAAAAAAAAAAAAAAAAAAAAA");
    const refused: string[] = [];
    for (const { name, method, url: address, headers, body } of ofPostman) {
      const filled = Object.fromEntries(
        Object.entries(headers).map(([header, value]) => [header, fill(value)]),
      );
      const reply = await fetch(fill(address), {
        method,
        headers: filled,
        ...(body === undefined ? {} : { body: fill(body) }),
      });
      // A stream that was opened was accepted; webhook.listen has no end.
      const isStream = reply.headers.get("content-type")?.startsWith("text/event-stream") === true;
      const text = isStream ? "" : await reply.text();
      if (isStream) await reply.body?.cancel();
      if ([401, 405, 415, 501].includes(reply.status) || /unknown (operation|route|address)/.test(text))
        refused.push(`${name}: ${reply.status} ${text}`);
    }
    expect(refused).toEqual([]);
  });
});

// The programs' own readers are installed from the registry.
describe.runIf(depth === "full")("the programs' own readers of the collections", () => {
  const folder = mkdtempSync(join(tmpdir(), "collections-"));
  const read = createRequire(join(folder, "index.js"));
  beforeAll(() => {
    cpSync(join(root, "test/documents/tools"), folder, { recursive: true });
    execFileSync("npm", ["ci", "--silent"], { cwd: folder });
  }, 120_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  test("Postman's reads every request", () => {
    const { Collection } = read("postman-collection");
    const found: string[] = [];
    new Collection(postman).forEachItem((item: { readonly request: { readonly url: object } }) =>
      found.push(String(item.request.url)),
    );
    expect(found).toEqual(ofPostman.map(({ url }) => url));
  });

  test("Bruno's accepts it, with the ids that an import adds", async () => {
    const withIds = (value: unknown): unknown => {
      if (Array.isArray(value))
        return value.map((each) =>
          typeof each === "object" ? { ...(withIds(each) as object), uid: "a".repeat(21) } : each,
        );
      if (typeof value !== "object" || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withIds(member)]));
    };
    const { collectionSchema } = read("@usebruno/schema");
    await collectionSchema.validate({ ...(withIds(bruno) as object), uid: "a".repeat(21) }, { strict: true });
  });
});
