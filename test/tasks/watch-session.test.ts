import { describe, expect, test } from "vitest";
import { callingWith, type Person } from "../support/service.ts";
import { numbersUpTo, seqsOf, watchRig } from "./watch-rig.ts";

/** A watch checks its session at least this often (spec/decisions.md 17, 55). */
const recheckMs = 5_000;
const unauthenticated =
  "unauthenticated: Invalid or missing API key or access token: missing authentication: send a key in x-service-api-key, or a key or access token in Authorization: Bearer";

describe.each(["connect-json", "connect-binary"] as const)("a watch by a session over %s", (wire) => {
  const rig = watchRig();

  /** A colleague's browser that watches a task without further events. */
  async function watching() {
    const bo = await rig.service.person({ with: rig.ann });
    const id = await rig.create(bo);
    const session = await bo.session();
    const watch = rig.watch(
      wire,
      { taskId: id },
      callingWith(session.headers, () => rig.service.url),
    );
    await watch.until(2);
    await rig.untilQuiet();
    const isOpen = () => Promise.race([watch.end, rig.untilQuiet().then(() => "open")]);
    return { bo, id, session, watch, isOpen };
  }
  const signOut = (id: string) => rig.service.store.change((tx) => tx.sessions.end(id));
  async function changeMember({ accountId }: Person, operation: string, more: object) {
    const member = await rig.service.store.accounts.member(`team-${rig.ann.spaceId}`, accountId);
    const reply = await rig.ann.v2(`team.user.${operation}`, { team_user_id: member?.id, ...more });
    expect(reply.status).toBe(200);
  }

  test("shows the events of the person's task, and stays open", async () => {
    const { id, watch, isOpen } = await watching();
    await rig.clock.advance(12 * recheckMs);
    expect(await isOpen()).toBe("open");
    await rig.add(id);
    await watch.until(3);
    expect(seqsOf(watch)).toEqual(numbersUpTo(3));
  });

  test("ends within 5 s after the sign-out, without any event", async () => {
    const { session, watch, isOpen } = await watching();
    await signOut(session.id);
    expect(await isOpen()).toBe("open");
    await rig.clock.advance(recheckMs);
    expect(await watch.end).toBe(unauthenticated);
  });

  test("ends at the next event after the sign-out, before that is sent", async () => {
    const { id, session, watch } = await watching();
    await signOut(session.id);
    await rig.add(id);
    expect(await watch.end).toBe(unauthenticated);
    expect(seqsOf(watch)).toEqual(numbersUpTo(2));
  });

  test.each([
    ["removed from the team", "remove", {}],
    ["deactivated", "update", { status: "USER_STATUS_INACTIVE" }],
  ])("ends within 5 s after its person is %s", async (_what, operation, more) => {
    const { bo, watch } = await watching();
    await changeMember(bo, operation, more);
    await rig.clock.advance(recheckMs);
    expect(await watch.end).toBe(unauthenticated);
  });

  test("ends when its task is deleted, and cannot be opened again", async () => {
    const { bo, id, session, watch } = await watching();
    await rig.remove(id, bo);
    await rig.clock.advance(recheckMs);
    expect(await watch.end).toBe("not_found: task not found");
    const again = rig.watch(
      wire,
      { taskId: id },
      callingWith(session.headers, () => rig.service.url),
    );
    expect(await again.end).toBe("not_found: task not found");
  });

  test("of another person's task is refused, with the answer for an unknown task", async () => {
    const id = await rig.create();
    const { headers } = await (await rig.service.person({ with: rig.ann })).session();
    const session = callingWith(headers, () => rig.service.url);
    for (const taskId of [id, "unknown"])
      expect(await rig.watch(wire, { taskId }, session).end).toBe("not_found: task not found");
  });

  test("counts against the account's limit of open watches, together with those by key", async () => {
    const bo = await rig.service.person();
    const taskId = await rig.create(bo);
    const session = callingWith((await bo.session()).headers, () => rig.service.url);
    const open = Array.from({ length: 100 }, (_, i) =>
      rig.watch(wire, { taskId }, i % 2 === 0 ? bo : session),
    );
    await Promise.all(open.map((watch) => watch.until(2)));
    expect(await rig.watch(wire, { taskId }, session).end).toMatch(
      /^resource_exhausted: 100 held calls and watches/,
    );
  });
});
