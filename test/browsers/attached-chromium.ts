import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Clock, systemClock } from "../../src/core/clock.ts";
import { systemIds } from "../../src/core/ids.ts";
import { executablePath } from "../browser/chromium.ts";
import { modelsFile } from "../support/model/rig.ts";
import { type ModelServer, openModelServer } from "../support/model/server.ts";
import { openService, type Person, type Service } from "../support/service.ts";

/** A platform with a scripted model, and a headless Chromium that a user attaches by the attach program. */
export interface AttachedChromium extends AsyncDisposable {
  readonly service: Service;
  readonly model: ModelServer;
  readonly ann: Person;
  readonly clientId: string;
  /** The attach program. */
  readonly program: ChildProcess;
}

/** The first group of the first line of a process that matches. */
async function lineOf(stream: NodeJS.ReadableStream | null, pattern: RegExp): Promise<string> {
  if (!stream) throw new Error("the process has no output");
  for await (const line of createInterface({ input: stream })) {
    const [, found] = pattern.exec(line) ?? [];
    if (found !== undefined) return found;
  }
  throw new Error(`it ended without ${pattern}`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

/** Resolves once the browser is online. */
export async function openAttachedChromium(clock: Clock = systemClock): Promise<AttachedChromium> {
  const folder = mkdtempSync(join(tmpdir(), "lent-"));
  const model = await openModelServer("openai");
  const models = modelsFile("openai", model, { context_tokens: 200_000 });
  const service = await openService({ env: models.env, clock });
  const flags = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--remote-debugging-port=0",
  ];
  const chromium = spawn(executablePath, [...flags, `--user-data-dir=${folder}`], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const cdp = `http://${await lineOf(chromium.stderr, /^DevTools listening on ws:\/\/([^/]+)\//)}`;
  const [ann, clientId] = [await service.person(), systemIds.uuid()];
  const program = spawn(process.execPath, ["examples/browser/attach.mjs", service.url], {
    env: { ATP_KEY: ann.key, CDP: cdp, CLIENT_ID: clientId, NAME: "Ann's Chromium" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  await lineOf(program.stdout, /is online as (\S+)/);
  return {
    ...{ service, model, ann, clientId, program },
    async [Symbol.asyncDispose]() {
      await end(program);
      await end(chromium);
      await service[Symbol.asyncDispose]();
      models[Symbol.dispose]();
      await model[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
