import { expect, vi } from "vitest";
import { seededRandom } from "../faults/harness/seeded-random.ts";
import { installation, userOf } from "../faults/server.ts";
import { sample } from "../support/depth.ts";
import { hangMs, testMs } from "../support/patience.ts";
import { sampledTest } from "../support/sampled.ts";
import { visit } from "./site.ts";

const test = sampledTest(3);

const rounds = sample(20, 2);

test(`after each of ${rounds} kills during a publication the old or the new version is live, and finally the new one`, {
  timeout: testMs + rounds * 60_000,
}, async () => {
  using processRig = installation({ SITES_DOMAIN: "sites.test" });
  let server = await processRig.start();
  const key = await processRig.key();
  let user = userOf(server, key);
  const texts = new Map<string, string>();
  let taskId = "";
  /** Saves another checkpoint of the site; returns its version. */
  async function save(text: string): Promise<string> {
    const message = { content: `[[site Mine | ${text}]]` };
    const { body } =
      taskId === ""
        ? await user.call("task.create", { message })
        : await user.call("task.sendMessage", { task_id: taskId, message });
    taskId ||= body["task_id"];
    await user.call("task.detail", { task_id: taskId, wait_seconds: 30 });
    const { body: list } = await user.call("website.listCheckpoints", { task_id: taskId });
    const version: string = list["data"][0].version_id;
    texts.set(version, text);
    return version;
  }
  const status = async () => (await user.call("website.status", { task_id: taskId })).body;
  const isLive = (version: string) =>
    vi.waitUntil(
      async () =>
        (await status())["version_id"] === version && (await status())["publish_status"] === "published",
      {
        timeout: hangMs,
        interval: 20,
      },
    );

  let live = await save("version 0");
  await user.call("website.publish", { task_id: taskId });
  await isLive(live);
  const host = new URL((await status())["site_urls"][0]).host;
  for (let round = 1; round <= rounds; round += 1) {
    const random = seededRandom(`publish ${round}`);
    const next = await save(`version ${round}`);
    const allowed = new Set([texts.get(live), texts.get(next)]);
    const publishing = user.call("website.publish", { task_id: taskId }).then(
      () => true,
      () => false,
    );
    for (let read = random.below(6); read > 0; read -= 1)
      expect(allowed).toContain((await visit(server.url, host)).text);
    await server.end("SIGKILL");
    const wasAnswered = await publishing;
    server = await processRig.start();
    user = userOf(server, key);
    // The stored live version and the served one agree at once, with work still pending.
    const { text } = await visit(server.url, host);
    expect(allowed).toContain(text);
    if (!wasAnswered) await user.call("website.publish", { task_id: taskId });
    await isLive(next);
    expect((await visit(server.url, host)).text).toBe(texts.get(next));
    live = next;
  }
});
