import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { browsersMax } from "../../src/core/browsers/browser.ts";
import { systemIds } from "../../src/core/ids.ts";
import { BrowserService } from "../../src/gen/proto/browser/v2/browser_service_pb.ts";
import { describeOnOne, nodesOf } from "../support/database.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";
import { rpcWires } from "../support/wires.ts";
import { type FakeBrowserOptions, fakeBrowser, streamingWires } from "./fake-browser.ts";

const recheckMs = 5_000;

describeOnOne("a browser that attaches", (database) => {
  let clock: StillClock;
  let service: Service;

  beforeAll(async () => {
    clock = stillClock();
    service = await openService({ database, nodes: nodesOf(database), clock });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const attach = (person: Person, options: Partial<FakeBrowserOptions> = {}) =>
    fakeBrowser(person, { url: service.url, ...options });
  const onlineOf = async (person: Pick<Person, "v2">) =>
    (await person.v2("browser.onlineList")).body["data"] as { client_id: string }[];
  /** Moves the clock by a second and makes a call, so that pending work proceeds. */
  async function passSecond(person: Person): Promise<void> {
    await clock.advance(1_000);
    await onlineOf(person);
  }
  /** Lists browsers until none is online; each try is a call, so that nothing sleeps. */
  async function untilNoneOnline(person: Person): Promise<void> {
    for (let tries = 0; tries < 200; tries += 1) if ((await onlineOf(person)).length === 0) return;
    throw new Error("a browser is still online");
  }

  test.each(streamingWires)("is online over %s while its stream is open, and not after it", async (wire) => {
    const ann = await service.person();
    expect(await onlineOf(ann)).toEqual([]);
    const browser = attach(ann, { wire, name: "Ann's" });
    await browser.online;
    expect(await onlineOf(ann)).toEqual([
      { client_id: browser.id, client_name: "Ann's", ua: "Fake/1", task_ids: [] },
    ]);
    browser.closeSend();
    expect(await browser.end).toBe("ok");
    expect(await onlineOf(ann)).toEqual([]);
  });

  test("is listed the same way over every wire, by any node", async () => {
    const ann = await service.person();
    const browser = attach(ann);
    await browser.online;
    for (const wire of rpcWires) {
      const { data } = await ann.client(BrowserService, wire).listOnlineBrowserClients({});
      expect(data).toMatchObject([{ clientId: browser.id, clientName: "Laptop", ua: "Fake/1" }]);
    }
    browser.abort();
    await browser.end;
  });

  test("is offline after its connection breaks", async () => {
    const ann = await service.person();
    const browser = attach(ann);
    await browser.online;
    browser.abort();
    await browser.end;
    await untilNoneOnline(ann);
  });

  test("is visible only to its account in its space", async () => {
    const ann = await service.person();
    const browser = attach(ann);
    await browser.online;
    const others = [
      await service.person({ with: ann, role: "admin" }),
      await service.person({ as: ann }),
      await service.person(),
    ];
    for (const other of others) expect(await onlineOf(other)).toEqual([]);
    for (const other of others)
      expect(await attach(other, { id: browser.id }).end).toBe(
        "AlreadyExists: client_id: belongs to another account",
      );
    expect(await onlineOf(ann)).toHaveLength(1);
    browser.closeSend();
    await browser.end;
  });

  test("replaces an earlier attach with its id, on any node", async () => {
    const ann = await service.person();
    const [first, second] = [service.nodes.at(0), service.nodes.at(-1)];
    const earlier = attach(ann, { url: first?.url ?? "", name: "Earlier" });
    await earlier.online;
    const later = attach(ann, { url: second?.url ?? "", name: "Later", id: earlier.id });
    await later.online;
    expect(await onlineOf(ann)).toMatchObject([{ client_id: later.id, client_name: "Later" }]);
    if (first !== second) await clock.advance(recheckMs);
    expect(await earlier.end).toBe("FailedPrecondition: the browser was attached again elsewhere");
    expect(await onlineOf(ann)).toMatchObject([{ client_id: later.id, client_name: "Later" }]);
    later.closeSend();
    await later.end;
  });

  test("is online once, however many attach it concurrently", async () => {
    const ann = await service.person();
    const id = systemIds.uuid();
    const all = Array.from({ length: 6 }, () => attach(ann, { id }));
    await Promise.allSettled(all.map(({ online }) => online));
    expect(await onlineOf(ann)).toHaveLength(1);
    await clock.advance(recheckMs);
    for (const each of all) each.closeSend();
    await Promise.all(all.map(({ end }) => end));
    await untilNoneOnline(ann);
  });

  test(`is refused beyond ${browsersMax} per account, except for an id that is attached already`, async () => {
    const ann = await service.person();
    const all = Array.from({ length: browsersMax }, () => attach(ann));
    await Promise.all(all.map(({ online }) => online));
    expect(await attach(ann).end).toBe(`ResourceExhausted: ${browsersMax} browsers are online already`);
    const again = attach(ann, { id: all[0]?.id ?? "" });
    await again.online;
    for (const each of [...all, again]) each.closeSend();
    await clock.advance(recheckMs);
    await Promise.all([...all, again].map(({ end }) => end));
    await untilNoneOnline(ann);
  });

  describe("is refused", () => {
    const hello = (more: object) =>
      ({ case: "hello", value: { clientId: systemIds.uuid(), clientName: "a", ua: "", ...more } }) as never;
    test.each<[string, Partial<FakeBrowserOptions>, RegExp]>([
      [
        "without a hello first",
        { first: { case: "pong", value: {} } as never },
        /^InvalidArgument: hello: must be the first message/,
      ],
      [
        "with a client_id that is not a UUID",
        { first: hello({ clientId: "b1" }) },
        /^InvalidArgument: hello.client_id/,
      ],
      ["without a name", { first: hello({ clientName: "" }) }, /^InvalidArgument: hello.client_name/],
      [
        "with a name of 129 characters",
        { first: hello({ clientName: "a".repeat(129) }) },
        /^InvalidArgument: hello.client_name/,
      ],
      [
        "with a User-Agent of 513 characters",
        { first: hello({ ua: "a".repeat(513) }) },
        /^InvalidArgument: hello.ua/,
      ],
      [
        "with a null character in its name",
        { first: hello({ clientName: "a\0" }) },
        /^InvalidArgument: hello.client_name/,
      ],
      [
        "with nothing in its first message",
        { first: { case: undefined } },
        /^InvalidArgument: payload: is required/,
      ],
    ])("%s", async (_, options, expected) => {
      const ann = await service.person();
      expect(await attach(ann, options).end).toMatch(expected);
      expect(await onlineOf(ann)).toEqual([]);
    });

    test("when it sends nothing for 10 s", async () => {
      const ann = await service.person();
      const browser = attach(ann, { first: null });
      // The clock moves after the call has arrived, which no observer outside can detect.
      let over: string | undefined;
      void browser.end.then((endText) => {
        over = endText;
      });
      for (let rounds = 0; over === undefined && rounds < 200; rounds += 1) await passSecond(ann);
      expect(over).toMatch(/^InvalidArgument: hello: must be the first message/);
    });

    test.each([
      ["a second hello", hello({}), /^InvalidArgument: hello: must be sent once/],
      [
        "a result that is not a JSON object",
        { case: "result", value: { id: 1, outcome: { case: "result", value: "[]" } } },
        /^InvalidArgument: result/,
      ],
    ])("when it sends %s, and is offline", async (_, payload, expected) => {
      const ann = await service.person();
      const browser = attach(ann);
      await browser.online;
      browser.send(payload as never);
      expect(await browser.end).toMatch(expected);
      await untilNoneOnline(ann);
    });

    test("without a key, by an unknown key and by a key of another kind", async () => {
      const ann = await service.person();
      const siem = await service.person({ as: ann, with: ann, kind: "siem" });
      expect(await fakeBrowser({ headers: {} }, { url: service.url }).end).toMatch(
        /^Unauthenticated: Invalid or missing API key/,
      );
      expect(
        await fakeBrowser({ headers: { "x-service-api-key": "sk-x" } }, { url: service.url }).end,
      ).toMatch(/^Unauthenticated/);
      expect(await attach(siem).end).toMatch(/^PermissionDenied/);
    });
  });

  test("ends within 5 s of its key's revocation and is offline (decisions 17)", async () => {
    const ann = await service.person();
    const bo = await service.person({ as: ann, with: ann });
    const browser = attach(bo);
    await browser.online;
    await service.store.change((tx) => tx.keys.revoke(bo.keyId, clock.now()));
    await clock.advance(recheckMs);
    expect(await browser.end).toMatch(/^Unauthenticated: Invalid or missing API key/);
    await untilNoneOnline(ann);
  });

  test("continues while it answers pings, and ends after 30 s without an answer", async () => {
    const ann = await service.person();
    const [answering, silent] = [attach(ann), attach(ann, { isSilent: true })];
    await Promise.all([answering.online, silent.online]);
    let over: string | undefined;
    void silent.end.then((endText) => {
      over = endText;
    });
    for (let rounds = 0; over === undefined && rounds < 200; rounds += 1) await passSecond(ann);
    expect(over).toMatch(/^Unavailable: the client was silent/);
    expect((await onlineOf(ann)).map(({ client_id }) => client_id)).toContain(answering.id);
    answering.closeSend();
    await answering.end;
  });

  test("is refused by a process that runs no tasks", async () => {
    const idle = await openService({ database: "sqlite", idle: true });
    try {
      const ann = await idle.person();
      expect(await fakeBrowser(ann, { url: idle.url }).end).toMatch(
        /^Unavailable: this process runs no tasks/,
      );
    } finally {
      await idle[Symbol.asyncDispose]();
    }
  });
});
