import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { share } from "../support/depth.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { bufClient, bufCurl, bufProtocols } from "./buf-client.ts";
import { ofPlatform, operations, operationsIn } from "./proto-files.ts";
import { runStory } from "./story.ts";
import { expectStory } from "./transcript.ts";
import { expectSlotReleased } from "./watch-slots.ts";

let service: Service;
let ann: Person;

beforeAll(async () => {
  service = await openService();
  ann = await service.person();
});
afterAll(() => service[Symbol.asyncDispose]());

// A short run uses one of the protocols.
describe.each(share(bufProtocols, 1, bufProtocols.length))("buf curl by reflection over %s", (protocol) => {
  const lines = async (...args: string[]) =>
    (await bufCurl(protocol, ...args, service.url)).trim().split("\n");

  test("lists every service and every method of the table of operations", async () => {
    expect(operationsIn(await lines("--list-methods"))).toEqual(operations);
    const services = await lines("--list-services");
    expect(ofPlatform(services)).toEqual([...new Set(operations.map((rpc) => rpc.split("/")[0]))]);
  });

  test("creates, watches, answers, confirms and stops a task", async () => {
    const story = await runStory((key) => bufClient(protocol, service.url, key), ann.key);
    expectStory(story, { metadata: false });
  });

  test("releases its slot when it leaves a watch", () =>
    expectSlotReleased((url) => ({ clientFor: (key) => bufClient(protocol, url, key) })));
});
