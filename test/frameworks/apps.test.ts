import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { buildClient } from "../../scripts/client/build.ts";
import { blocksIn, readPage, shell } from "../docs/page.ts";
import { depth } from "../support/depth.ts";
import { freePort } from "../support/free-port.ts";
import { lacks } from "../support/needs.ts";
import { root } from "../support/server-process.ts";
import { taskRig } from "../support/task-rig.ts";
import { pythonWith } from "../support/tools.ts";

const run = promisify(execFile);
const question = "What is 12 * 4?";
const answer = "12 * 4 = 48";
const webhookSecret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

test("docs/guides/examples.md links each example", () => {
  const page = readPage("docs/guides/examples.md");
  for (const name of ["express", "next", "fastapi", "slack", "github-action"])
    expect(page).toContain(`examples/apps/${name}`);
  expect(blocksIn(page, "sh").join("")).toContain("npm ci");
});

// Their packages come from the registry: `npm run test:deep -- frameworks`.
describe.skipIf(depth === "short")("the example app", { timeout: 120_000 }, () => {
  const checkout = mkdtempSync(join(tmpdir(), "apps-"));
  const rig = taskRig({ env: { WEBHOOK_ALLOW: "loopback" } });
  const processes: ChildProcess[] = [];
  const folderOf = (name: string): string => join(checkout, "examples/apps", name);

  beforeAll(() => {
    buildClient(join(checkout, "packages/client"));
    cpSync(join(root, "examples/apps"), join(checkout, "examples/apps"), {
      recursive: true,
      filter: (path) => !path.endsWith("node_modules"),
    });
  }, 300_000);
  afterAll(() => {
    for (const { pid, exitCode, signalCode } of processes)
      if (pid !== undefined && exitCode === null && signalCode === null) process.kill(-pid, "SIGKILL");
    rmSync(checkout, { recursive: true, force: true });
  });

  /** Starts an app; returns its address as soon as it answers. */
  async function start(
    name: string,
    [file = "", ...args]: readonly string[],
    variables: Readonly<Record<string, string>> = {},
  ) {
    const port = String(await freePort());
    const env = {
      PATH: process.env["PATH"],
      HOME: checkout,
      ATP_URL: rig.service.url,
      ATP_KEY: rig.ann.key,
      PORT: port,
      ...variables,
    };
    const command = args.map((arg) => arg.replace("PORT", port));
    const child = spawn(file, command, {
      cwd: folderOf(name),
      env,
      detached: true,
      stdio: ["ignore", "pipe", "inherit"],
    });
    processes.push(child);
    const url = `http://127.0.0.1:${port}`;
    await expect
      .poll(
        () =>
          fetch(url).then(
            () => true,
            () => false,
          ),
        { timeout: 60_000 },
      )
      .toBe(true);
    return { url, child };
  }
  const install = (name: string) => run("npm", ["ci", "--no-audit", "--no-fund"], { cwd: folderOf(name) });
  const json = (body: unknown) => ({
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

  test("of Express asks an agent, streams its answer, and accepts only signed webhooks", async () => {
    await install("express");
    const { url, child } = await start("express", [process.execPath, "server.mjs"], {
      WEBHOOK_SECRET: webhookSecret,
    });
    const printed = text(child.stdout ?? process.stdin);
    expect(await (await fetch(`${url}/ask`, json({ question }))).json()).toMatchObject({
      answer: expect.stringContaining(answer),
    });
    const streamed = await (await fetch(`${url}/ask?q=${encodeURIComponent("[[stream one two]]")}`)).text();
    expect([...streamed.matchAll(/^data: (.*)$/gm)].map(([, part = ""]) => JSON.parse(part)).join("")).toBe(
      "one two",
    );
    expect((await fetch(`${url}/hooks`, json({ event_type: "task_stopped" }))).status).toBe(400);
    const hook = await rig.ann.v2("webhook.create", { url: `${url}/hooks`, signing_secret: webhookSecret });
    expect(hook.body).toMatchObject({ ok: true });
    const { body } = await rig.ann.v2("task.create", { message: { content: question } });
    await expect
      .poll(
        async () =>
          (
            await rig.ann.v2("webhook.deliveries", {
              webhook_id: hook.body["webhook"]?.id,
              state: "delivered",
            })
          ).body,
        {
          timeout: 20_000,
        },
      )
      .toMatchObject({ ok: true });
    child.kill("SIGTERM");
    expect(await printed).toMatch(/^ready/);
    expect(body).toMatchObject({ ok: true });
  });

  test("of Next.js asks an agent in a server action, and has no key in its page", async () => {
    await install("next");
    await run("npx", ["next", "build"], {
      cwd: folderOf("next"),
      env: { ...process.env, NEXT_TELEMETRY_DISABLED: "1" },
    });
    const { url } = await start(
      "next",
      ["npx", "next", "start", "--hostname", "127.0.0.1", "--port", "PORT"],
      {
        NEXT_TELEMETRY_DISABLED: "1",
      },
    );
    const page = await (await fetch(url)).text();
    expect(page).not.toContain(rig.ann.key);
    // The form works without scripts: its hidden members name the action.
    const form = new FormData();
    for (const [, name = "", value = ""] of page.matchAll(
      /<input type="hidden" name="([^"]*)"(?: value="([^"]*)")?/g,
    ))
      form.append(name, value.replaceAll("&quot;", '"'));
    form.append("question", question);
    expect(await (await fetch(url, { method: "POST", body: form })).text()).toContain(answer);
  });

  test.skipIf(depth === "short" || lacks("python-fastapi"))(
    "of FastAPI asks an agent, and streams its answer",
    async () => {
      const python = pythonWith("fastapi, uvicorn, httpx") ?? "python3";
      const paths = [join(root, "packages/python/src"), process.env["PYTHONPATH"]].filter(Boolean).join(":");
      const { url } = await start("fastapi", [python, "-m", "uvicorn", "main:app", "--port", "PORT"], {
        PYTHONPATH: paths,
      });
      expect(await (await fetch(`${url}/ask`, json({ question }))).json()).toMatchObject({
        answer: expect.stringContaining(answer),
      });
      expect(await (await fetch(`${url}/ask?q=${encodeURIComponent("[[stream one two]]")}`)).text()).toBe(
        "one two",
      );
    },
  );

  test("of Slack answers a signed slash command in the channel, and refuses others", async () => {
    await install("slack");
    const posted: unknown[] = [];
    const channel = createServer(async (request, response) => {
      posted.push(JSON.parse(await text(request)));
      response.end();
    }).listen(0, "127.0.0.1");
    await once(channel, "listening");
    const address = channel.address();
    const body = new URLSearchParams({
      ...{ command: "/agent", text: question, user_id: "U1" },
      response_url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`,
    }).toString();
    const { url } = await start("slack", [process.execPath, "server.mjs"], {
      SLACK_SIGNING_SECRET: "shared",
    });
    const send = (secret: string, sentAt: number) => {
      const signature = `v0=${createHmac("sha256", secret).update(`v0:${sentAt}:${body}`).digest("hex")}`;
      const headers = { "x-slack-request-timestamp": `${sentAt}`, "x-slack-signature": signature };
      return fetch(url, { method: "POST", headers, body });
    };
    const now = Math.floor(Date.now() / 1000);
    expect((await send("other", now)).status).toBe(401);
    expect((await send("shared", now - 600)).status).toBe(401);
    expect((await send("shared", now)).status).toBe(200);
    await expect
      .poll(() => posted, { timeout: 20_000 })
      .toEqual([{ response_type: "in_channel", text: expect.stringContaining(answer) }]);
    channel.close();
  });

  test("of a GitHub Action writes what the agent says about an issue, whose text is never a command", async () => {
    const { jobs } = parse(readFileSync(join(folderOf("github-action"), "triage.yml"), "utf8"));
    const [ask] = jobs.triage.steps;
    const known = {
      ATP_URL: rig.service.url,
      ATP_KEY: rig.ann.key,
      TITLE: '$(touch taken) "',
      BODY: "Two owls.",
    };
    await shell(`cd ${folderOf("github-action")}\n${ask.run}`, known);
    expect(readFileSync(join(folderOf("github-action"), "answer.md"), "utf8")).toContain("Two owls.");
    expect(existsSync(join(folderOf("github-action"), "taken"))).toBe(false);
    expect(jobs.triage.steps.map((step: { run: string }) => step.run).join("\n")).not.toContain("${{");
  });
});
