import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect, test } from "vitest";
import { manifest } from "../core/skills/zip-maker.ts";
import { createSkill } from "../skills/skills-rig.ts";
import { freePort } from "../support/free-port.ts";
import { lacks } from "../support/needs.ts";
import { root } from "../support/server-process.ts";
import { openService } from "../support/service.ts";
import { untilStatus } from "../support/until.ts";
import { createWorker, remoteEnv } from "./worker-rig.ts";

test.skipIf(lacks("python"))(
  "the worker in Python reads the forced skills once in each turn and reports the use",
  async () => {
    const port = await freePort();
    const address = `http://127.0.0.1:${port}`;
    await using service = await openService({ env: { ...remoteEnv, PORT: `${port}`, BASE_URL: address } });
    const ann = await service.person();
    const [forced] = [await createSkill(ann, "Minutes"), await createSkill(ann, "Tea")];
    const { secret } = await createWorker(service, ann);
    const { PATH = "" } = process.env;
    const worker = spawn("python3", [join(root, "examples/workers/worker.py")], {
      env: { PATH, ATP_URL: address, WORKER_KEY: secret },
      stdio: "ignore",
    });
    try {
      const message = { content: "echo Done", force_skills: [forced.id] };
      const { body } = await ann.v2("task.create", { message });
      const id = String(body["task_id"]);
      await untilStatus(service.store, id, "stopped");
      await ann.v2("task.sendMessage", { task_id: id, message: { content: "echo Again" } });
      await untilStatus(service.store, id, "stopped");
      const events = await service.store.events.list(id, { order: "asc", limit: 100, verbose: true });
      const uses = events.flatMap((event) => (event.type === "tool_used" ? [event.payload] : []));
      const used = { tool: "use_skill", status: "success", params: { skill: forced.id } };
      expect(uses).toMatchObject(
        Array(2).fill({ ...used, result: { skill: "Minutes", text: manifest("Minutes") } }),
      );
      expect(
        events.flatMap((event) => (event.type === "assistant_message" ? [event.payload.content] : [])),
      ).toEqual(["Done", "Again"]);
    } finally {
      worker.kill("SIGTERM");
      if (worker.exitCode === null) await once(worker, "exit");
    }
  },
);
