import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { keyKinds } from "../../src/core/accounts/caller.ts";
import { operationTable } from "../../src/pipeline/operations.ts";
import { registry } from "../operations/registry.ts";
import { root } from "../support/server-process.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { canOpen, takes } from "../wires/access.ts";

interface Example {
  readonly request: unknown;
  readonly response: unknown;
}

const path = join(root, "test/golden/v2-examples.json");

/** The person with a key that may call the operation. */
async function callerOf(service: Service, person: Person, rpc: string): Promise<Person> {
  const operation = operationTable().byRpc(rpc);
  const kind = operation && keyKinds.find((each) => takes(operation, each, "owner"));
  return kind === undefined || kind === "general"
    ? person
    : service.person({ as: person, with: person, kind });
}

/** Text of a page: no secrets, no addresses of this machine, no long texts. */
function shown(text: string): string {
  if (/^(whsec_|sk-|-----BEGIN)/.test(text)) return `${text.slice(0, 6)}…`;
  const plain = text.replaceAll(
    /https?:\/\/(127\.0\.0\.1|localhost)(:\d+)?/g,
    "https://platform.example.com",
  );
  return plain.length > 160 ? `${plain.slice(0, 160)}…` : plain;
}

/** A value as a page shows it: at most two items of a list. */
function abridged(value: unknown): unknown {
  if (typeof value === "string") return shown(value);
  if (Array.isArray(value)) return value.slice(0, 2).map(abridged);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, abridged(each)]));
}

/** One successful call of each operation that v2 serves to a key. */
async function callAll(): Promise<Readonly<Record<string, Example>>> {
  await using service = await openService({
    idle: true,
    env: { WEBHOOK_ALLOW: "loopback", CONNECTOR_ALLOW: "loopback" },
  });
  const examples: Record<string, Example> = {};
  for (const [rpc, { prepare }] of registry) {
    const operation = operationTable().byRpc(rpc);
    if (!operation?.name || !canOpen(operation, "v2")) continue;
    const { name } = operation;
    const person = await service.person();
    const caller = await callerOf(service, person, rpc);
    const request: JsonObject = await prepare(person, service.store);
    const reply = await caller.v2(name, request);
    expect(`${name} ${JSON.stringify(reply.body.error ?? "ok")}`).toBe(`${name} "ok"`);
    examples[name] = { request: abridged(request), response: abridged(reply.body) };
  }
  return examples;
}

/** The types of a value's members, which are the same in every run. */
function formOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(formOf);
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, each]) => [name, formOf(each)]),
  );
}

describe("the examples of the API reference", () => {
  test("have the form of the server's current answers (golden/v2-examples.json)", async () => {
    const examples = await callAll();
    const stored: typeof examples = JSON.parse(readFileSync(path, "utf8"));
    if (process.env["UPDATE_GOLDEN"] === "1") {
      // An example whose form is the same stays, with its ids and times.
      const updated = Object.entries(examples).map(([name, example]) => {
        const before = stored[name];
        return [
          name,
          before && isDeepStrictEqual(formOf(before), formOf(example)) ? before : example,
        ] as const;
      });
      writeFileSync(path, `${JSON.stringify(Object.fromEntries(updated), null, 2)}\n`);
    } else expect(formOf(stored)).toEqual(formOf(examples));
  });
});
