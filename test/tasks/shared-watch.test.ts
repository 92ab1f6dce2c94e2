import { setImmediate as turn } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import type { WatchSharedTaskResponse } from "../../src/gen/proto/task/v2/shared_task_service_pb.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { describeOnOne, describeOnPostgres } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import type { Person } from "../support/service.ts";
import { rpcWires } from "../support/wires.ts";
import { type Headers, notFoundText, outcomeOf, type SharedRig, sharedRig } from "./shared-rig.ts";

/** A stream checks the visibility again after at most this time (spec/decisions.md 58). */
const recheckMs = 5_000;

/** Streams with `keep_alive` (spec/decisions.md 54). */
const keepAliveMs = 15_000;

/** An open watch and what has arrived. */
interface Open {
  readonly seqs: readonly number[];
  readonly end: Promise<string>;
  readonly hasEnded: () => boolean;
  until(count: number): Promise<void>;
  close(): void;
}

function watch(
  rig: SharedRig,
  taskId: string,
  headers: Headers = {},
  wire: (typeof rpcWires)[number] = "connect-json",
  afterSeq = 0,
): Open {
  const away = new AbortController();
  const seqs: number[] = [];
  let hasEnded = false;
  const answers = rig.visitor(headers, wire).watchSharedTask({ taskId, afterSeq }, { signal: away.signal });
  async function* told(): AsyncGenerator<WatchSharedTaskResponse> {
    for await (const answer of answers) {
      seqs.push(answer.event?.seq ?? 0);
      yield answer;
    }
  }
  const end = outcomeOf(told()).finally(() => {
    hasEnded = true;
  });
  return {
    seqs,
    end,
    hasEnded: () => hasEnded,
    async until(count) {
      while (seqs.length < count && !hasEnded) await turn();
      if (seqs.length < count) throw new Error(`ended after ${seqs.length} events: ${await end}`);
    },
    close: () => away.abort(),
  };
}

const say = (content: string) => ({ type: "assistant_message", payload: { content } }) as const;
const thought = { type: "explanation", payload: { content: "hidden" } } as const;

describeOnPostgres("a watch of a shared task", (database) => {
  const rig = sharedRig(database);
  let ann: Headers;
  beforeAll(async () => {
    ann = (await rig.ann.session()).headers;
  });

  /** Ends at the first check after the visibility is lost. Without one, the test does not end. */
  async function endWithin5s({ end }: Open): Promise<string> {
    await rig.clock.advance(recheckMs);
    return end;
  }

  async function opened(id: string, headers: Headers = {}): Promise<Open> {
    const open = watch(rig, id, headers);
    await open.until(2);
    return open;
  }

  const endings: readonly [
    why: string,
    visibility: "public" | "team",
    end: (id: string) => Promise<unknown>,
  ][] = [
    [
      "its owner makes it private",
      "public",
      (id) => rig.ann.v2("task.update", { task_id: id, share_visibility: "private" }),
    ],
    [
      "its owner makes it private to the team too",
      "team",
      (id) => rig.ann.v2("task.update", { task_id: id, share_visibility: "private" }),
    ],
    ["its team caps it", "public", (id) => rig.advance(id, [], { maxVisibility: "private" })],
    ["it is deleted", "public", (id) => rig.ann.v2("task.delete", { task_id: id, stop: true })],
  ];

  test.each(endings)("ends within 5 s when %s", async (_why, visibility, end) => {
    const id = await rig.share(visibility);
    const open = await opened(id, visibility === "team" ? ann : {});
    await end(id);
    expect(await endWithin5s(open)).toBe(notFoundText);
  });

  const losses: readonly [why: string, lose: (person: Person, sessionId: string) => Promise<unknown>][] = [
    ["signs out", (_person, id) => rig.service.store.change((tx) => tx.sessions.end(id))],
    [
      "is removed",
      ({ accountId }) =>
        runDirectly(rig.db, `UPDATE membership SET status = 'removed' WHERE account_id = '${accountId}'`),
    ],
    [
      "is made inactive",
      ({ accountId }) =>
        runDirectly(rig.db, `UPDATE membership SET status = 'inactive' WHERE account_id = '${accountId}'`),
    ],
  ];

  test.each(losses)("with the team ends within 5 s when the member %s", async (_why, lose) => {
    const bo = await rig.service.person({ with: rig.ann });
    const session = await bo.session();
    const open = await opened(await rig.share("team"), session.headers);
    await lose(bo, session.id);
    expect(await endWithin5s(open)).toBe(notFoundText);
  });

  test("sends nothing of what happens after the task was made private", async () => {
    const id = await rig.share("public");
    const open = await opened(id);
    await rig.ann.v2("task.update", { task_id: id, share_visibility: "private" });
    await rig.advance(id, [say("secret")]);
    expect([await open.end, open.seqs]).toEqual([notFoundText, [1, 2]]);
  });

  test("stays open while the task is shared, also when the session of its caller ends", async () => {
    const session = await (await rig.service.person({ with: rig.ann })).session();
    const id = await rig.share("public");
    const open = await opened(id, session.headers);
    await rig.service.store.change((tx) => tx.sessions.end(session.id));
    for (let passed = 0; passed < 3 * recheckMs; passed += recheckMs) await rig.clock.advance(recheckMs);
    await rig.advance(id, [say("on")]);
    await open.until(3);
    open.close();
    await open.end;
  });

  test("sends each visible event once, in order, and continues after any of them", async () => {
    const id = await rig.share("public");
    await rig.advance(id, [thought, say("one"), thought]);
    const open = await opened(id);
    await open.until(3);
    for (let round = 0; round < 3; round += 1)
      await rig.advance(id, [thought, say("more"), ...Array(150).fill(thought)]);
    await rig.advance(id, [say("last")]);
    await open.until(7);
    const all = await rig.visitor().listSharedEvents({ taskId: id, limit: 200 });
    expect(open.seqs).toEqual(all.data.map(({ seq }) => seq));
    const from = open.seqs[2] ?? 0;
    const again = watch(rig, id, {}, "connect-json", from);
    await again.until(4);
    expect(again.seqs).toEqual(open.seqs.slice(3));
    for (const each of [open, again]) each.close();
    await Promise.all([open.end, again.end]);
  });

  test("passes more hidden events than one read examines", async () => {
    const id = await rig.share("public");
    for (let added = 0; added < 5_500; added += 500) await rig.advance(id, Array(500).fill(thought));
    await rig.advance(id, [say("found")]);
    const open = watch(rig, id, {}, "connect-json", 2);
    await open.until(1);
    open.close();
    await open.end;
    expect(open.seqs).toEqual([5_503]);
  });
});

describeOnOne("the watches of shared tasks of one address", (database) => {
  const rig = sharedRig(database, { TRUST_PROXY: "x-forwarded-for", WATCH_LIMIT: "1" });
  const from = (address: string): Headers => ({ "x-forwarded-for": address });
  const full = "[resource_exhausted] 5 held calls and watches of this account are open already";

  async function openAll(id: string, all: readonly Headers[]): Promise<Open[]> {
    const open = all.map((headers) => watch(rig, id, headers));
    await Promise.all(open.map((each) => each.until(1)));
    return open;
  }
  async function closeAll(all: readonly Open[]): Promise<void> {
    for (const { close } of all) close();
    await Promise.all(all.map(({ end }) => end));
  }

  /** The server frees the slot soon after the client has left. */
  async function reopen(id: string, headers: Headers): Promise<Open> {
    for (;;) {
      const open = watch(rig, id, headers);
      const first = await Promise.race([open.until(1).then(() => "open"), open.end]);
      if (first === "open") return open;
      expect(first).toBe(full);
    }
  }

  test("are at most five, with any credential; those of other addresses do not count", async () => {
    const id = await rig.share("public");
    const session = (await rig.ann.session()).headers;
    const mine = from("192.0.2.1");
    const open = await openAll(id, [
      mine,
      mine,
      mine,
      { ...mine, ...session },
      { ...mine, ...rig.ann.headers },
    ]);
    for (const headers of [mine, { ...mine, ...session }, { ...mine, ...rig.ann.headers }])
      expect(await watch(rig, id, headers).end).toBe(full);
    const others = await openAll(id, [from("192.0.2.2"), from("2001:db8::1")]);
    await closeAll([...open.slice(0, 1), ...others]);
    await closeAll([await reopen(id, mine), ...open]);
  });

  test("count together over the addresses of an IPv6 /64", async () => {
    const id = await rig.share("public");
    const open = await openAll(
      id,
      [1, 2, 3, 4, 5].map((n) => from(`2001:db8:0:7::${n}`)),
    );
    expect(await watch(rig, id, from("2001:db8:0:7:ffff::1")).end).toBe(full);
    await closeAll([...(await openAll(id, [from("2001:db8:0:8::1")])), ...open]);
  });

  test("take no slot of an account, and do not tell whether a hidden task exists", async () => {
    const id = await rig.share("public");
    const mine = from("192.0.2.3");
    const session = (await rig.ann.session()).headers;
    const open = await openAll(id, Array(5).fill({ ...mine, ...session }));
    const own = new AbortController();
    const answers = rig.ann
      .client(TaskService)
      .watchTask({ taskId: id }, { signal: own.signal })
      [Symbol.asyncIterator]();
    expect((await answers.next()).value?.event?.seq).toBe(1);
    own.abort();
    for (const hiddenId of [await rig.share("private"), "A".repeat(22)])
      expect(await watch(rig, hiddenId, mine).end).toBe(notFoundText);
    await closeAll(open);
  });
});

describeOnOne("a watch of a shared task over each wire", (database) => {
  const rig = sharedRig(database);

  test.each(rpcWires)("%s sends what happens and ends when the task is no longer shared", async (wire) => {
    const id = await rig.share("public");
    const open = watch(rig, id, {}, wire);
    await open.until(2);
    await rig.advance(id, [say("hello")]);
    await open.until(3);
    await rig.ann.v2("task.update", { task_id: id, share_visibility: "private" });
    await rig.advance(id, [say("secret")]);
    expect([await open.end, open.seqs]).toEqual([notFoundText, [1, 2, 3]]);
  });

  test.each(
    rpcWires,
  )("%s gets an answer without an event after 15 s of silence, if it asks for that", async (wire) => {
    const id = await rig.share("public");
    const away = new AbortController();
    const answers = rig
      .visitor({}, wire)
      .watchSharedTask({ taskId: id, afterSeq: 1, keepAlive: true }, { signal: away.signal });
    const next = answers[Symbol.asyncIterator]();
    expect((await next.next()).value?.event?.seq).toBe(2);
    let hasAnswer = false;
    const silent = next.next().finally(() => {
      hasAnswer = true;
    });
    // The server begins to count the silence some time after the client has the event.
    while (!hasAnswer) await rig.clock.advance(keepAliveMs);
    const { done, value } = await silent;
    expect([done, value?.event]).toEqual([false, undefined]);
    away.abort();
  });
});

describeOnOne("a watch of a shared task on a server that stops", (database) => {
  const rig = sharedRig(database);

  test("ends with unavailable", async () => {
    const open = watch(rig, await rig.share("public"));
    await open.until(2);
    const drained = rig.service.drain();
    expect(await open.end).toBe("[unavailable] the server is stopping: call again");
    await drained;
  });
});
