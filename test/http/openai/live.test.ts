import OpenAI from "openai";
import type { ResponseStream } from "openai/lib/responses/ResponseStream";
import { beforeAll, expect, test } from "vitest";
import { describeOnOne, nodesOf } from "../../support/database.ts";
import { createWorker, explain, type RunOf, remoteRig, type TestWorker } from "../../workers/worker-rig.ts";
import { untilWatched, write, writeAll, writeWords } from "../../workers/written-text.ts";
import { sdk } from "./facade-rig.ts";

const soon = { interval: 5 };

/** What the SDK's stream has had so far: a text for each item, with the item's end. */
function readItems(stream: ResponseStream): { readonly items: readonly { text: string; status: string }[] } {
  const items: { text: string; status: string }[] = [];
  const at = new Map<number, (typeof items)[number]>();
  stream.on("event", (event) => {
    if (event.type === "response.output_item.added") {
      const item = { text: "", status: "open" };
      items.push(item);
      at.set(event.output_index, item);
    }
    const item = "output_index" in event ? at.get(event.output_index) : undefined;
    if (item && event.type === "response.output_text.delta") item.text += event.delta;
    if (item && event.type === "response.output_item.done" && "status" in event.item)
      item.status = String(event.item.status);
  });
  return { items };
}

// spec/v1.md 7.5
describeOnOne("the SDK's stream of a text that is being written", (database) => {
  const rig = remoteRig({ database, nodes: nodesOf(database) });
  let worker: TestWorker;
  beforeAll(async () => {
    worker = await createWorker(rig.service, rig.ann);
  });

  async function begin(input = "Write") {
    const client = sdk(rig.service.url, rig.ann);
    const stream = client.responses.stream({ model: "x", input });
    const { items } = readItems(stream);
    const run: RunOf = await worker.pollUntilRun();
    await untilWatched(worker, run);
    return { run, stream, items };
  }

  test("has its parts before the message, and then the rest", async () => {
    const { run, stream, items } = await begin();
    await writeWords(worker, run, "One two three");
    await expect.poll(() => items[0], soon).toEqual({ text: "One two three", status: "open" });
    await worker.finish(run, { finish: { content: "One two three four" } });
    const final = await stream.finalResponse();
    expect(items).toEqual([{ text: "One two three four", status: "completed" }]);
    expect(final.output_text).toBe("One two three four");
    const retrieved = await sdk(rig.service.url, rig.ann).responses.retrieve(final.id);
    expect(final.output.map(({ id }) => id)).toEqual(retrieved.output.map(({ id }) => id));
  });

  test("continues when the next run begins the text again, and has each message of a turn once", async () => {
    const { run, stream, items } = await begin();
    await writeWords(worker, run, "Half way", { key: "half" });
    await expect.poll(() => items[0]?.text, soon).toBe("Half way");
    await worker.call("Release", { taskId: run.taskId, fence: run.fence });
    const next: RunOf = await worker.pollUntilRun();
    await writeWords(worker, next, "Half way there", { key: "half" });
    await expect.poll(() => items[0]?.text, soon).toBe("Half way there");
    await worker.append(next, [
      explain("why"),
      { key: "half", assistantMessage: { content: "Half way there" } },
    ]);
    await writeWords(worker, next, "Done", { attempt: 2 });
    await expect.poll(() => items[1]?.text, soon).toBe("Done");
    await worker.finish(next, { finish: { content: "Done" } });
    const final = await stream.finalResponse();
    expect(items).toEqual(["Half way there", "Done"].map((text) => ({ text, status: "completed" })));
    expect(final.output_text).toBe("Half way thereDone");
  });

  test("ends an item as incomplete when the message is another one, and when the user stops the task", async () => {
    const first = await begin();
    await writeWords(worker, first.run, "One 2");
    await expect.poll(() => first.items[0]?.text, soon).toBe("One 2");
    await worker.finish(first.run, { finish: { content: "One two" } });
    expect((await first.stream.finalResponse()).output_text).toBe("One two");
    expect(first.items).toEqual([
      { text: "One 2", status: "incomplete" },
      { text: "One two", status: "completed" },
    ]);
    const second = await begin();
    await writeWords(worker, second.run, "One");
    await expect.poll(() => second.items[0]?.text, soon).toBe("One");
    await rig.ann.v2("task.stop", { task_id: second.run.taskId });
    expect((await second.stream.finalResponse()).output_text).toBe("");
    expect(second.items).toEqual([{ text: "One", status: "incomplete" }]);
  });

  test("begins with the text so far for a later reader, and waits for the message without it", async () => {
    const { run, items } = await begin();
    await writeWords(worker, run, "One two");
    await expect.poll(() => items[0]?.text, soon).toBe("One two");
    const late = sdk(rig.service.url, rig.ann).responses.stream({ response_id: run.taskId });
    const lateItems = readItems(late).items;
    await expect
      .poll(() => writeAll(worker, run, "One two").then(() => lateItems[0]?.text), { interval: 60 })
      .toBe("One two");
    await worker.finish(run, { finish: { content: "One two three" } });
    await late.finalResponse();
    expect(lateItems).toEqual([{ text: "One two three", status: "completed" }]);
    const other = await begin();
    // The reader does not have its beginning.
    await write(worker, other.run, { offset: 3, text: " two" });
    await worker.finish(other.run, { finish: { content: "One two" } });
    await other.stream.finalResponse();
    expect(other.items).toEqual([{ text: "One two", status: "completed" }]);
  });

  test("is not for a person who may not see the message", async () => {
    const { run, stream, items } = await begin();
    await writeWords(worker, run, "Secret words");
    await expect.poll(() => items[0]?.text, soon).toBe("Secret words");
    const others = [await rig.service.person(), await rig.service.person({ with: rig.ann })];
    for (const other of others)
      await expect(
        sdk(rig.service.url, other).responses.retrieve(run.taskId, { stream: true }),
      ).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    await worker.finish(run, { finish: { content: "Secret words" } });
    await stream.finalResponse();
  });
});
