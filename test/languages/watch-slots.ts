import { expect } from "vitest";
import { openService } from "../support/service.ts";
import { type Answers, messageOf, Refused, type StoryClient } from "./story.ts";

/** A client of the platform at this address. */
export type ConnectClient = (
  url: string,
) => { readonly clientFor: (key: string) => StoryClient } & Partial<Disposable>;

type Watch = (limitMs?: number) => AsyncIterable<Answers["WatchTask"]>;

/** Leaving a watch releases its slot: an account with one slot can watch again. */
export const expectSlotReleased = (connect: ConnectClient) =>
  withOneSlot(connect, async (watch) => {
    for await (const { event } of watch()) {
      expect(event.seq).toBe(1);
      await expect(firstOf(watch())).rejects.toMatchObject({ code: "RESOURCE_EXHAUSTED" });
      break;
    }
  });

/** A watch ends when the client's time limit is over, and releases its slot. */
export const expectTimeLimit = (connect: ConnectClient) =>
  withOneSlot(connect, async (watch) => {
    await expect(Array.fromAsync(watch(300))).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
  });

async function withOneSlot(connect: ConnectClient, take: (watch: Watch) => Promise<void>): Promise<void> {
  await using service = await openService({ env: { WATCH_LIMIT: "1" } });
  const client = connect(service.url);
  try {
    const { call, watch } = client.clientFor((await service.person()).key);
    const { taskId } = await call("CreateTask", messageOf("[[forever]]"));
    await take((limitMs) => watch({ taskId }, limitMs));
    expect(await retryUntilFree(() => firstOf(watch({ taskId })))).toMatchObject({ event: { seq: 1 } });
  } finally {
    client[Symbol.dispose]?.();
  }
}

async function firstOf<T>(stream: AsyncIterable<T>): Promise<T> {
  for await (const item of stream) return item;
  throw new Error("the stream was empty");
}

/** Retries until a slot is free: the server notices a moment later that a client has gone. */
async function retryUntilFree<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (thrown) {
      if (!(thrown instanceof Refused) || thrown.code !== "RESOURCE_EXHAUSTED") throw thrown;
    }
  }
}
