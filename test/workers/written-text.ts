import { expect } from "vitest";
import type { RunOf, TestWorker } from "./worker-rig.ts";

/** The members of WriteText in addition to the run. */
export interface Part {
  readonly key?: string;
  readonly explanation?: boolean;
  readonly attempt?: number;
  readonly offset?: number;
  readonly text?: string;
}

/** Sends one part of a text. */
export const write = (worker: TestWorker, { taskId, fence }: RunOf, part: Part) =>
  worker.call("WriteText", { taskId, fence, attempt: 1, ...part });

/** Writes a text as a worker does: each part from the next offset on, until the watchers have all of it. */
export async function writeAll(worker: TestWorker, run: RunOf, text: string, more: Part = {}): Promise<void> {
  for (let offset = 0; offset < text.length; ) {
    const { status, body } = await write(worker, run, {
      ...more,
      offset,
      text: text.slice(offset, offset + 65_536),
    });
    if (status === 200) offset = body.nextOffset ?? 0;
    // A run sends at most 20 parts a second.
    else if (status !== 429) throw new Error(JSON.stringify(body));
  }
}

/** Writes a word at a time, and each time what the watchers lack. */
export async function writeWords(
  worker: TestWorker,
  run: RunOf,
  text: string,
  more: Part = {},
): Promise<void> {
  for (const { index } of text.matchAll(/ |$/g)) await writeAll(worker, run, text.slice(0, index), more);
}

/** Resolves when the platform knows a watcher of the task. */
export const untilWatched = (worker: TestWorker, run: RunOf) =>
  expect.poll(async () => (await write(worker, run, {})).body.watched, { interval: 60 }).toBe(true);
