import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openService, type Person, type Service } from "../support/service.ts";
import { bufCurl, bufProtocols, bufSpeaker } from "./buf-speaker.ts";
import { expectPlaceGivenBack } from "./place.ts";
import { operations, operationsIn } from "./proto-files.ts";
import { tellStory } from "./story.ts";
import { expectStory } from "./transcript.ts";

let service: Service;
let ann: Person;

beforeAll(async () => {
  service = await openService();
  ann = await service.person();
});
afterAll(() => service[Symbol.asyncDispose]());

describe.each(bufProtocols)("buf curl by reflection over %s", (protocol) => {
  const lines = async (...args: string[]) => (await bufCurl(protocol, ...args, service.url)).trim().split("\n");

  test("lists every service and every method of the table of operations", async () => {
    expect(operationsIn(await lines("--list-methods"))).toEqual(operations);
    const listed = await lines("--list-services");
    expect(listed.filter((name) => !name.startsWith("grpc."))).toEqual([...new Set(operations.map((rpc) => rpc.split("/")[0]))]);
  });

  test("creates, watches, answers, confirms and stops a task", async () => {
    const told = await tellStory((key) => bufSpeaker(protocol, service.url, key), ann.key);
    expectStory(told, { metadata: false });
  });

  test("gives its place back when it leaves a watch", () =>
    expectPlaceGivenBack((url) => ({ speak: (key) => bufSpeaker(protocol, url, key) })));
});
