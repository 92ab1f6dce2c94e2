import { execFile, spawn } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { cpSync, globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildClient } from "../../scripts/client/build.ts";
import { signedHeaders } from "../../src/webhooks/sign.ts";
import { depth } from "../support/depth.ts";
import { root } from "../support/server-process.ts";
import { taskRig } from "../support/task-rig.ts";

const run = promisify(execFile);

/** A delivery with both signatures, its keys, and the same delivery with another body. */
async function delivery() {
  const [rsa, ed25519, secret] = [
    generateKeyPairSync("rsa", { modulusLength: 2048 }),
    generateKeyPairSync("ed25519"),
    randomBytes(32),
  ];
  const [url, body] = [
    "https://hooks.example.com/in",
    JSON.stringify({ event_id: "e1", event_type: "webhook_test" }),
  ];
  const keys = { rsa: rsa.privateKey, ed25519: [ed25519.privateKey] };
  const event = {
    eventId: "e1",
    url,
    body: new TextEncoder().encode(body),
    at: Math.floor(Date.now() / 1000),
  };
  const headers = await signedHeaders(event, { keys, secrets: [secret], doubleHash: false });
  return {
    ...{ body, headers },
    keys: [
      { secret: `whsec_${secret.toString("base64")}` },
      {
        ed25519PublicKey: `whpk_${ed25519.publicKey.export({ type: "spki", format: "der" }).subarray(12).toString("base64")}`,
      },
      { publicKey: rsa.publicKey.export({ type: "spki", format: "pem" }).toString(), url },
    ],
  };
}

/**
 * A user's module: it creates a task, streams it, waits for it, verifies a delivery by each key, and refuses
 * a changed one.
 */
const story = `import { createClient, constructEvent, NotFoundError, SignatureError } from "./client/index.js";
import "./client/worker.js";

export async function story({ baseUrl, apiKey, delivery: { body, headers, keys } }) {
  const client = createClient({ baseUrl, apiKey });
  const types = [];
  const task = await client.tasks.create({ message: "[[say Hello]]" });
  for await (const event of task.stream()) types.push(event.type);
  const { status } = await task.wait();
  const refused = await client.tasks.get("nothing").detail().catch((error) => error);
  const verified = [];
  for (const key of keys) verified.push((await constructEvent(body, headers, key)).event_type);
  const changed = await constructEvent(body + " ", headers, keys[0]).catch((error) => error);
  return {
    types, status, text: await task.text(), verified,
    refused: refused instanceof NotFoundError, changed: changed instanceof SignatureError,
  };
}
`;
const expected = {
  types: ["user_message", "status_update", "assistant_message", "status_update"],
  ...{ status: "stopped", text: "Hello", verified: ["webhook_test", "webhook_test", "webhook_test"] },
  ...{ refused: true, changed: true },
};

// The runtimes come from the registry (300 MB), and are not among the packages of this repository.
describe.skipIf(depth === "short")("the built package in another runtime", { timeout: 120_000 }, () => {
  const rig = taskRig();
  const project = mkdtempSync(join(tmpdir(), "client-runtimes-"));
  const bin = (name: string): string => join(project, "node_modules/.bin", name);
  let given: object;
  beforeAll(async () => {
    cpSync(join(root, "test/client/runtimes"), project, { recursive: true });
    await run("npm", ["ci", "--no-audit", "--no-fund"], { cwd: project });
    buildClient(join(project, "package"));
    cpSync(join(project, "package/dist/esm"), join(project, "client"), { recursive: true });
    writeFileSync(join(project, "story.js"), story);
    given = { baseUrl: rig.service.url, apiKey: rig.ann.key, delivery: await delivery() };
    const program = `import { story } from "./story.js";\nconsole.log(JSON.stringify(await story(${JSON.stringify(given)})));\n`;
    writeFileSync(join(project, "main.js"), program);
  }, 600_000);
  afterAll(() => rmSync(project, { recursive: true, force: true }));

  test.each([
    // Deno grants only the network of the server: no environment, no files.
    ["Deno", "deno", () => ["run", `--allow-net=${new URL(rig.service.url).host}`, "--no-prompt", "main.js"]],
    ["Bun", "bun", () => ["main.js"]],
  ])("runs a task, follows it and verifies webhooks on %s", async (_, name, words) => {
    const { stdout } = await run(bin(name), words(), {
      cwd: project,
      env: { PATH: process.env["PATH"], HOME: project },
    });
    expect(JSON.parse(stdout)).toEqual(expected);
  });

  test("runs a task, follows it and verifies webhooks in workerd, the runtime of Cloudflare Workers", async () => {
    const worker = `import { story } from "./story.js";\nexport default { fetch: async () => Response.json(await story(${JSON.stringify(given)})) };\n`;
    writeFileSync(join(project, "worker.js"), worker);
    const modules = [
      "worker.js",
      "story.js",
      ...globSync("client/**/*.js", { cwd: project }).filter((name) => name !== "client/node.js"),
    ];
    writeFileSync(join(project, "config.capnp"), workerdConfig(modules));
    const child = spawn(bin("workerd"), ["serve", "config.capnp", "--control-fd=3"], {
      cwd: project,
      stdio: ["ignore", "inherit", "inherit", "pipe"],
    });
    try {
      const [line] = await once(createInterface(child.stdio[3] as Readable), "line");
      const response = await fetch(`http://127.0.0.1:${JSON.parse(line).port}/`);
      expect(await response.json()).toEqual(expected);
    } finally {
      child.kill("SIGKILL");
    }
  });
});

/** A configuration of workerd: these modules, on a free port of loopback, which may call this machine. */
const workerdConfig = (
  modules: readonly string[],
): string => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .program),
    (name = "internet", network = (allow = ["private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const program :Workerd.Worker = (
  modules = [${modules.map((name) => `(name = "${name}", esModule = embed "${name}")`).join(", ")}],
  compatibilityDate = "2026-01-01",
);
`;
