import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { depth } from "../../support/depth.ts";
import { hangMs } from "../../support/patience.ts";
import { root } from "../../support/server-process.ts";
import { taskRig } from "../../support/task-rig.ts";
import { mcpClient, namesOf } from "../client.ts";

const run = promisify(execFile);

/** What the Inspector prints. */
interface Printed {
  readonly content?: readonly { readonly text: string }[];
  readonly taskId?: string;
  readonly tools?: readonly { readonly name: string }[];
  readonly [more: string]: unknown;
}

// It needs its packages from the registry.
describe.skipIf(depth === "short")("the command line of the MCP Inspector", { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "inspector-"));
  const rig = taskRig();
  beforeAll(async () => {
    cpSync(join(import.meta.dirname, "inspector"), folder, { recursive: true });
    await run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder });
  }, 300_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Its options for each way to the server. */
  const ways: Readonly<Record<string, () => readonly string[]>> = {
    "/mcp": () => [
      `${rig.service.url}/mcp`,
      "--transport",
      "http",
      "--header",
      `x-service-api-key:${rig.ann.key}`,
    ],
    "atp mcp": () => [
      process.execPath,
      join(root, "cli/main.ts"),
      "mcp",
      "-e",
      `ATP_URL=${rig.service.url}`,
      "-e",
      `ATP_KEY=${rig.ann.key}`,
    ],
  };

  async function inspect(way: () => readonly string[], ...request: readonly string[]): Promise<Printed> {
    const env = { HOME: folder, PATH: process.env["PATH"], NO_COLOR: "1" };
    const { stdout } = await run(
      join(folder, "node_modules/.bin/mcp-inspector"),
      ["--cli", ...way(), ...request],
      {
        env,
        maxBuffer: 2 ** 24,
      },
    );
    return JSON.parse(stdout);
  }

  test.each(
    Object.entries(ways),
  )("lists the tools, resources and prompts of %s, and finds no fault in a schema", async (_, way) => {
    // It ends with 6 for a schema that some clients cannot read.
    const { tools } = (await inspect(way, "--method", "tools/list", "--strict")) as {
      readonly tools: readonly { readonly name: string }[];
    };
    const client = await mcpClient(rig.service.url, { headers: rig.ann.headers });
    expect(tools?.map(({ name }) => name).toSorted()).toEqual(await namesOf(client));
    expect(await inspect(way, "--method", "resources/templates/list")).toMatchObject({
      resourceTemplates: expect.arrayContaining([
        expect.objectContaining({ uriTemplate: "atp://tasks/{task_id}" }),
      ]),
    });
    expect(await inspect(way, "--method", "prompts/list")).toHaveProperty("prompts");
  });

  test.each(
    Object.entries(ways),
  )("creates a task at %s, and reads its result as a resource", async (_, way) => {
    const call = [
      "--method",
      "tools/call",
      "--tool-name",
      "task_create",
      "--tool-arg",
      "message=[[say Hello]]",
    ];
    const { content, taskId } = await inspect(way, ...call);
    // By standard streams it is a client of the protocol's tasks: it gets the handle of a turn instead of the
    // result.
    const id = taskId?.split(".")[0] ?? JSON.parse(content?.[0]?.text ?? "").task_id;
    const read = async () =>
      JSON.stringify(await inspect(way, "--method", "resources/read", "--uri", `atp://tasks/${id}`));
    await vi.waitFor(async () => expect(await read()).toContain("Hello"), { timeout: hangMs });
  });
});
