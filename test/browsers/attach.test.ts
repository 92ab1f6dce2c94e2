import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { browsersMax } from "../../src/core/browsers/browser.ts";
import { systemIds } from "../../src/core/ids.ts";
import { BrowserService } from "../../src/gen/proto/browser/v2/browser_service_pb.ts";
import { describeOnEach, nodesOf } from "../support/database.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";
import { rpcWires } from "../support/wires.ts";
import { type FakeOptions, fakeBrowser, talkingWires } from "./fake-browser.ts";

const recheckMs = 5_000;

describeOnEach("a browser that attaches", (database) => {
  let clock: StillClock;
  let service: Service;

  beforeAll(async () => {
    clock = stillClock();
    service = await openService({ database, nodes: nodesOf(database), clock });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const attach = (who: Person, options: Partial<FakeOptions> = {}) => fakeBrowser(who, { url: service.url, ...options });
  const onlineOf = async (who: Pick<Person, "v2">) => (await who.v2("browser.onlineList")).body["data"] as { client_id: string }[];
  /** Lets a second pass, and calls, so that all that is under way has its turn. */
  async function passWith(who: Person): Promise<void> {
    await clock.advance(1_000);
    await onlineOf(who);
  }
  /** Looks until nobody is online any more; each look is a call, so that nothing sleeps. */
  async function untilNobody(who: Person): Promise<void> {
    for (let looks = 0; looks < 200; looks += 1) if ((await onlineOf(who)).length === 0) return;
    throw new Error("somebody is online still");
  }

  test.each(talkingWires)("is online over %s while its stream is open, and not after it", async (wire) => {
    const ann = await service.person();
    expect(await onlineOf(ann)).toEqual([]);
    const browser = attach(ann, { wire, name: "Ann's" });
    await browser.online;
    expect(await onlineOf(ann)).toEqual([{ client_id: browser.id, client_name: "Ann's", ua: "Fake/1" }]);
    browser.leave();
    expect(await browser.end).toBe("ok");
    expect(await onlineOf(ann)).toEqual([]);
  });

  test("is listed alike over every wire, by any node", async () => {
    const ann = await service.person();
    const browser = attach(ann);
    await browser.online;
    for (const wire of rpcWires) {
      const { data } = await ann.client(BrowserService, wire).listOnlineBrowserClients({});
      expect(data).toMatchObject([{ clientId: browser.id, clientName: "Laptop", ua: "Fake/1" }]);
    }
    browser.cut();
    await browser.end;
  });

  test("that breaks off is gone", async () => {
    const ann = await service.person();
    const browser = attach(ann);
    await browser.online;
    browser.cut();
    await browser.end;
    await untilNobody(ann);
  });

  test("is its account's in its space alone", async () => {
    const ann = await service.person();
    const browser = attach(ann);
    await browser.online;
    const others = [await service.person({ with: ann, role: "admin" }), await service.person({ as: ann }), await service.person()];
    for (const other of others) expect(await onlineOf(other)).toEqual([]);
    for (const other of others) expect(await attach(other, { id: browser.id }).end).toBe("AlreadyExists: client_id: is another's");
    expect(await onlineOf(ann)).toHaveLength(1);
    browser.leave();
    await browser.end;
  });

  test("takes the place of an earlier attach with its id, on whatever node", async () => {
    const ann = await service.person();
    const [first, second] = [service.nodes.at(0), service.nodes.at(-1)];
    const earlier = attach(ann, { url: first?.url ?? "", name: "Earlier" });
    await earlier.online;
    const later = attach(ann, { url: second?.url ?? "", name: "Later", id: earlier.id });
    await later.online;
    expect(await onlineOf(ann)).toMatchObject([{ client_id: later.id, client_name: "Later" }]);
    if (first !== second) await clock.advance(recheckMs);
    expect(await earlier.end).toBe("FailedPrecondition: the browser was attached anew elsewhere");
    expect(await onlineOf(ann)).toMatchObject([{ client_id: later.id, client_name: "Later" }]);
    later.leave();
    await later.end;
  });

  test("is online once, whoever attaches it at once", async () => {
    const ann = await service.person();
    const id = systemIds.uuid();
    const all = Array.from({ length: 6 }, () => attach(ann, { id }));
    await Promise.allSettled(all.map(({ online }) => online));
    expect(await onlineOf(ann)).toHaveLength(1);
    await clock.advance(recheckMs);
    for (const each of all) each.leave();
    await Promise.all(all.map(({ end }) => end));
    await untilNobody(ann);
  });

  test(`is one of ${browsersMax} at most, and others of one id make no difference`, async () => {
    const ann = await service.person();
    const all = Array.from({ length: browsersMax }, () => attach(ann));
    await Promise.all(all.map(({ online }) => online));
    expect(await attach(ann).end).toBe(`ResourceExhausted: ${browsersMax} browsers are online already`);
    const again = attach(ann, { id: all[0]?.id ?? "" });
    await again.online;
    for (const each of [...all, again]) each.leave();
    await clock.advance(recheckMs);
    await Promise.all([...all, again].map(({ end }) => end));
    await untilNobody(ann);
  });

  describe("is refused", () => {
    const hello = (more: object) => ({ case: "hello", value: { clientId: systemIds.uuid(), clientName: "a", ua: "", ...more } }) as never;
    test.each<[string, Partial<FakeOptions>, RegExp]>([
      ["without a hello first", { first: { case: "pong", value: {} } as never }, /^InvalidArgument: hello: must come first/],
      ["with a client_id that is no UUID", { first: hello({ clientId: "b1" }) }, /^InvalidArgument: hello.client_id/],
      ["without a name", { first: hello({ clientName: "" }) }, /^InvalidArgument: hello.client_name/],
      ["with a name of 129 characters", { first: hello({ clientName: "a".repeat(129) }) }, /^InvalidArgument: hello.client_name/],
      ["with a User-Agent of 513 characters", { first: hello({ ua: "a".repeat(513) }) }, /^InvalidArgument: hello.ua/],
      ["with a null character in its name", { first: hello({ clientName: "a\0" }) }, /^InvalidArgument: hello.client_name/],
      ["with nothing in its first message", { first: { case: undefined } }, /^InvalidArgument: say something/],
    ])("%s", async (_, options, why) => {
      const ann = await service.person();
      expect(await attach(ann, options).end).toMatch(why);
      expect(await onlineOf(ann)).toEqual([]);
    });

    test("when it says nothing for 10 s", async () => {
      const ann = await service.person();
      const browser = attach(ann, { first: null });
      // The clock is moved once the call has come in, which nothing tells from outside.
      let over: string | undefined;
      void browser.end.then((how) => {
        over = how;
      });
      for (let rounds = 0; over === undefined && rounds < 200; rounds += 1) await passWith(ann);
      expect(over).toMatch(/^InvalidArgument: hello: must come first/);
    });

    test.each([
      ["a second hello", hello({}), /^InvalidArgument: hello: comes once/],
      [
        "a result that is no JSON object",
        { case: "result", value: { id: 1, outcome: { case: "result", value: "[]" } } },
        /^InvalidArgument: result/,
      ],
    ])("when it says %s, and is gone", async (_, said, why) => {
      const ann = await service.person();
      const browser = attach(ann);
      await browser.online;
      browser.say(said as never);
      expect(await browser.end).toMatch(why);
      await untilNobody(ann);
    });

    test("without a key, by an unknown key and by a key of another kind", async () => {
      const ann = await service.person();
      const siem = await service.person({ as: ann, with: ann, kind: "siem" });
      expect(await fakeBrowser({ headers: {} }, { url: service.url }).end).toMatch(/^Unauthenticated: Invalid or missing API key/);
      expect(await fakeBrowser({ headers: { "x-service-api-key": "sk-x" } }, { url: service.url }).end).toMatch(/^Unauthenticated/);
      expect(await attach(siem).end).toMatch(/^PermissionDenied/);
    });
  });

  test("ends within 5 s of its key's revocation, and is gone (decisions 17)", async () => {
    const ann = await service.person();
    const bo = await service.person({ as: ann, with: ann });
    const browser = attach(bo);
    await browser.online;
    await service.store.change((tx) => tx.keys.revoke(bo.keyId, clock.now()));
    await clock.advance(recheckMs);
    expect(await browser.end).toMatch(/^Unauthenticated: Invalid or missing API key/);
    await untilNobody(ann);
  });

  test("goes on while it answers pings, and ends when it does not for 30 s", async () => {
    const ann = await service.person();
    const [lively, mute] = [attach(ann), attach(ann, { mute: true })];
    await Promise.all([lively.online, mute.online]);
    let over: string | undefined;
    void mute.end.then((how) => {
      over = how;
    });
    for (let rounds = 0; over === undefined && rounds < 200; rounds += 1) await passWith(ann);
    expect(over).toMatch(/^Unavailable: the client has said nothing/);
    expect((await onlineOf(ann)).map(({ client_id }) => client_id)).toContain(lively.id);
    lively.leave();
    await lively.end;
  });

  test("is not taken by a process that runs no tasks", async () => {
    const idle = await openService({ database: "sqlite", idle: true });
    try {
      const ann = await idle.person();
      expect(await fakeBrowser(ann, { url: idle.url }).end).toMatch(/^Unavailable: this process runs no tasks/);
    } finally {
      await idle[Symbol.asyncDispose]();
    }
  });
});
