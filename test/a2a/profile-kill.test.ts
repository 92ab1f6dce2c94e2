import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually, installation, userOf } from "../faults/server.ts";
import { depth, sample } from "../support/depth.ts";
import { testMs } from "../support/patience.ts";
import { taskRig } from "../support/task-rig.ts";
import type { V2Body } from "../support/wires.ts";

const remote = taskRig();
const rounds = sample(10, 1);

/** The user's messages, or the texts of the agent. */
const textsOf = (events: readonly V2Body[], type: string): readonly string[] =>
  events.flatMap((event) => (event["type"] === type ? [event[type].content] : []));

test.skipIf(depth === "short")(
  `a server that is killed ${rounds} times while an A2A agent works sends no message twice and doubles no event`,
  {
    timeout: testMs + rounds * 20_000,
  },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "a2a-kill-"));
    using _folder = { [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
    const file = join(folder, "agents.json");
    const headers = { Authorization: `Bearer ${remote.ann.key}` };
    writeFileSync(
      file,
      JSON.stringify({ other: { url: `${remote.service.url}/a2a`, headers, allow: "loopback" } }),
    );
    using local = installation({ AGENT_PROFILES: "other=a2a:other", A2A_AGENTS_FILE: file });
    let server = await local.start();
    let user = userOf(server, await local.key());
    for (let round = 0; round < rounds; round += 1) {
      const content = "[[progress First]] [[sleep 2]] [[progress Second]] [[sleep 2]] [[say Done]]";
      const { body } = await user.call("task.create", { agent_profile: "other", message: { content } });
      const id = String(body["task_id"]);
      const events = async () =>
        (await user.call("task.listMessages", { task_id: id, order: "asc", verbose: true, limit: 200 })).body[
          "messages"
        ];
      // The kill is before the first event, between two of them, or near the end.
      if (round % 3 > 0)
        await eventually(
          "an event",
          async () => textsOf(await events(), "assistant_message").length >= round % 3,
        );
      await server.end("SIGKILL");
      server = await local.start();
      user = userOf(server, await local.key());
      await eventually(
        "the end",
        async () => (await user.call("task.detail", { task_id: id })).body["task"].status === "stopped",
      );
      expect(textsOf(await events(), "assistant_message")).toEqual(["First", "Second", "Done"]);
      const [newest] = (await remote.ann.v2("task.list", { limit: 1 })).body["data"];
      expect(textsOf(await remote.events(newest.id), "user_message")).toEqual([content]);
      expect((await remote.ann.v2("task.list", { limit: 100 })).body["data"]).toHaveLength(round + 1);
    }
  },
);
