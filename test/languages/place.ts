import { expect } from "vitest";
import { openService } from "../support/service.ts";
import { type Answers, Refused, type Speaker, saying } from "./story.ts";

/** A client against a platform at this address. */
export type Connect = (url: string) => { readonly speak: (key: string) => Speaker } & Partial<Disposable>;

type Watch = (limitMs?: number) => AsyncIterable<Answers["WatchTask"]>;

/** Who leaves a watch gives its place back: an account that has one place watches again. */
export const expectPlaceGivenBack = (connect: Connect) =>
  inOnePlace(connect, async (watch) => {
    for await (const { event } of watch()) {
      expect(event.seq).toBe(1);
      await expect(firstOf(watch())).rejects.toMatchObject({ code: "RESOURCE_EXHAUSTED" });
      break;
    }
  });

/** A watch ends when the client's time limit is over, and gives its place back. */
export const expectTimeLimit = (connect: Connect) =>
  inOnePlace(connect, async (watch) => {
    await expect(Array.fromAsync(watch(300))).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
  });

async function inOnePlace(connect: Connect, take: (watch: Watch) => Promise<void>): Promise<void> {
  await using service = await openService({ env: { WATCH_LIMIT: "1" } });
  const client = connect(service.url);
  try {
    const { call, watch } = client.speak((await service.person()).key);
    const { taskId } = await call("CreateTask", saying("[[forever]]"));
    await take((limitMs) => watch({ taskId }, limitMs));
    expect(await onceFree(() => firstOf(watch({ taskId })))).toMatchObject({ event: { seq: 1 } });
  } finally {
    client[Symbol.dispose]?.();
  }
}

async function firstOf<T>(stream: AsyncIterable<T>): Promise<T> {
  for await (const item of stream) return item;
  throw new Error("the stream was empty");
}

/** Asks until there is a place: the server hears that a client has gone a moment after it went. */
async function onceFree<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (thrown) {
      if (!(thrown instanceof Refused) || thrown.code !== "RESOURCE_EXHAUSTED") throw thrown;
    }
  }
}
