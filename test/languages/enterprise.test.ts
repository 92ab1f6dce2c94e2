import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { expectGolden } from "../support/golden.ts";
import { lacks } from "../support/needs.ts";
import { bufCurl, bufProtocols, refusalIn } from "./buf-client.ts";
import {
  type EnterpriseRig,
  enterpriseStory,
  listTasks,
  openEnterpriseRig,
  removeMember,
  runEnterpriseStory,
} from "./enterprise.ts";
import { lacksStubs, pythonStubs } from "./python-tools.ts";

const run = promisify(execFile);

describe("enterprise clients in other languages", () => {
  let enterprise: EnterpriseRig;
  beforeAll(async () => {
    enterprise = await openEnterpriseRig();
  });
  afterAll(() => enterprise?.[Symbol.asyncDispose]());

  test.skipIf(lacksStubs)(
    "Python with generated stubs removes a member and lists tasks over gRPC",
    async () => {
      using stubs = await pythonStubs();
      await enterprise.putMember("py");
      const { service, owner, manager, reader } = enterprise;
      const facts = {
        ADDRESS: new URL(service.url).host,
        MEMBER: "py",
        OWNER: owner.memberId,
        MANAGER: manager.key,
        READER: reader.key,
      };
      const printed = await stubs.run("enterprise.py", facts);
      const lines: unknown = printed
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown);
      expect(lines).toMatchObject(enterpriseStory("py", owner.spaceId));
    },
  );

  test.each(bufProtocols)("buf curl removes a member and lists tasks over %s", async (protocol) => {
    const { service, owner } = enterprise;
    await enterprise.putMember(protocol);
    const call = async (rpc: string, key: string | null, request: JsonObject) => {
      const keyHeader = key === null ? [] : ["--header", `x-api-key: ${key}`];
      const requestArgs = ["--data", JSON.stringify(request), `${service.url}/${rpc}`];
      const printed = await bufCurl(protocol, ...keyHeader, ...requestArgs).catch(({ stderr }) => {
        throw refusalIn(stderr);
      });
      return JSON.parse(printed) as JsonObject;
    };
    expect(await runEnterpriseStory(call, protocol, enterprise)).toMatchObject(
      enterpriseStory(protocol, owner.spaceId),
    );
  });

  test.skipIf(lacks("curl"))("curl with plain JSON receives the golden answers", async () => {
    const { service, owner, manager, reader } = enterprise;
    await enterprise.putMember("tu_81");
    const golden: string[] = [];
    const curl = async (rpc: string, header: string | null, body: string) => {
      const keyHeader = ["-H", "Content-Type: application/json", ...(header === null ? [] : ["-H", header])];
      const { stdout } = await run("curl", [
        "-s",
        "-w",
        " %{http_code}",
        ...keyHeader,
        "-d",
        body,
        `${service.url}/${rpc}`,
      ]);
      const [, answer = "", status = ""] = /^([\s\S]*) (\d{3})$/.exec(stdout) ?? [];
      const normalized = answer
        .replaceAll(owner.spaceId, "SPACE")
        .replaceAll(owner.memberId, "OWNER")
        .replaceAll(/req_\w+/g, "req_…");
      golden.push(`${body.replaceAll(owner.memberId, "OWNER")} ▶ /${rpc}\n${status} ${normalized}\n`);
    };
    const [manages, reads] = [`X-API-Key: ${manager.key}`, `X-API-Key: ${reader.key}`];
    await curl(removeMember, manages, '{"team_user_id":"tu_81"}');
    await curl(removeMember, manages, '{"team_user_id":"tu_81"}');
    await curl(removeMember, manages, JSON.stringify({ team_user_id: owner.memberId }));
    await curl(removeMember, manages, '{"team_user_id":""}');
    await curl(removeMember, reads, '{"team_user_id":"lea"}');
    await curl(removeMember, null, '{"team_user_id":"lea"}');
    await curl(listTasks, reads, '{"user":"lea@corp.test","page":1,"page_size":10,"include_deleted":true}');
    await curl(listTasks, reads, '{"user":"0b9f2f1e-3c55-4f0e-9d3a-5f1f9a7c2e10","page":2,"page_size":1}');
    await curl(
      listTasks,
      reads,
      '{"user":"lea@corp.test","page":1,"page_size":10,"end_time":"2031-04-01T08:00:00Z"}',
    );
    await curl(listTasks, reads, '{"user":"lea@corp.test"}');
    await curl(listTasks, reads, '{"user":"nobody@corp.test","page":1,"page_size":10}');
    await curl(listTasks, manages, '{"user":"lea@corp.test","page":1,"page_size":10}');
    await curl(listTasks, null, '{"user":"lea@corp.test","page":1,"page_size":10}');
    expectGolden("enterprise-answers.txt", golden.join("\n"));
  });
});
