import { expect, test } from "vitest";
import { AccountService } from "../../src/gen/proto/settings/v1/account_service_pb.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { TeamMemberRole } from "../../src/gen/proto/team/v2/team_user_pb.ts";
import { UserService } from "../../src/gen/proto/user/v2/user_service_pb.ts";
import { describeOnOne, rowsIn } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { callingWith } from "../support/service.ts";
import type { SignedIn } from "../support/session.ts";
import { newApp, tokenOf } from "../support/token.ts";
import { outcomeOf, settingsRig } from "./settings-rig.ts";

const accountOf = (session: SignedIn) => session.client(AccountService);
const rpc = "settings.v1.AccountService/SwitchSpace";

describeOnOne("the spaces of an account (spec/api.md 8.62, spec/decisions.md 80)", (database) => {
  const rig = settingsRig(database);
  const spaceOf = async (session: SignedIn) =>
    (await session.client(UserService).getCurrentUser({})).space?.id;
  /** A person with a personal space and two teams, signed in to the first. */
  const withSpaces = async () => {
    const ann = await rig.person();
    const personal = await rig.person({ as: ann, personal: true });
    const owner = await rig.person();
    const away = await rig.person({ as: ann, with: owner, role: "member" });
    return { ann, personal, owner, away, session: await ann.session() };
  };
  const rowsOf = (spaceId: string) =>
    rowsIn(
      rig.db.url,
      `SELECT before, after, credential, request_id FROM audit_event WHERE operation = '${rpc}' AND space_id = '${spaceId}'`,
    );
  /** Removes a person from the team of an owner. */
  const remove = async (owner: Person, { accountId, spaceId }: Person) => {
    const [row] = await rowsIn(
      rig.db.url,
      `SELECT id FROM membership WHERE space_id = '${spaceId}' AND account_id = '${accountId}'`,
    );
    expect((await owner.v2("team.user.remove", { team_user_id: row?.["id"] })).body.ok).toBe(true);
  };

  test("are listed: the personal space first, then teams with the role, and which one is current", async () => {
    const { ann, personal, away, session } = await withSpaces();
    const { data } = await accountOf(session).listSpaces({});
    expect(data[0]).toMatchObject({ id: personal.spaceId, current: false });
    expect(data[0]?.teamName).toBeUndefined();
    expect(data.slice(1).toSorted((a, b) => Number(b.current) - Number(a.current))).toMatchObject([
      { id: ann.spaceId, role: TeamMemberRole.OWNER, teamName: `Team ${ann.spaceId}`, current: true },
      { id: away.spaceId, role: TeamMemberRole.MEMBER, current: false },
    ]);
  });

  test("are switched by a session for its next calls; both teams' logs have it, without the other space's id", async () => {
    const { ann, away, session } = await withSpaces();
    expect((await accountOf(session).switchSpace({ spaceId: away.spaceId })).space).toMatchObject({
      id: away.spaceId,
      current: true,
    });
    expect(await spaceOf(session)).toBe(away.spaceId);
    const [left, reached] = [await rowsOf(ann.spaceId), await rowsOf(away.spaceId)];
    expect([left, reached]).toMatchObject([
      [{ before: '{"current":true}', after: '{"current":false}', credential: `session:${session.id}` }],
      [{ before: '{"current":false}', after: '{"current":true}', credential: `session:${session.id}` }],
    ]);
    expect(reached[0]?.["request_id"]).toBe(left[0]?.["request_id"]);
    await accountOf(session).switchSpace({ spaceId: away.spaceId });
    expect(await rowsOf(away.spaceId)).toHaveLength(2);
  });

  test("end the open streams of a session that switches", async () => {
    const { ann, personal, session } = await withSpaces();
    const { body } = await ann.v2("task.create", { message: { content: "watch me" } });
    const watch = session
      .client(TaskService)
      .watchTask({ taskId: String(body["task_id"]) })
      [Symbol.asyncIterator]();
    await watch.next();
    await accountOf(session).switchSpace({ spaceId: personal.spaceId });
    const ended = (async () => {
      while (!(await watch.next()).done);
    })();
    expect(await outcomeOf(ended)).toMatch(/^Unauthenticated: the session has switched/);
  }, 15_000);

  test("are not switched to for a space of another account, an unknown one, and one that the person has left", async () => {
    const { owner, away, session } = await withSpaces();
    const other = await rig.person();
    await remove(owner, away);
    for (const spaceId of [other.spaceId, "unknown", away.spaceId])
      expect(await outcomeOf(accountOf(session).switchSpace({ spaceId }))).toBe("NotFound: space not found");
  });

  test("leave no session in a team when the person is removed at the same time", async () => {
    for (let n = 0; n < 4; n += 1) {
      const { owner, away, session } = await withSpaces();
      await Promise.all([
        outcomeOf(accountOf(session).switchSpace({ spaceId: away.spaceId })),
        remove(owner, away),
      ]);
      expect(
        await rowsIn(
          rig.db.url,
          `SELECT id FROM session WHERE id = '${session.id}' AND space_id = '${away.spaceId}'`,
        ),
      ).toEqual([]);
    }
  });

  test("of two calls that move a session at once, one moves it and the other does not", async () => {
    const { ann, away, personal, session } = await withSpaces();
    const moves = [away, personal].map(({ spaceId: to }) =>
      rig.service.store.change((tx) =>
        tx.sessions.move({ id: session.id, accountId: ann.accountId }, { from: ann.spaceId, to }, Date.now()),
      ),
    );
    expect((await Promise.all(moves)).toSorted()).toEqual([false, true]);
  });

  test("are closed to keys and tokens", async () => {
    const { ann } = await withSpaces();
    const { headers } = await tokenOf(rig.service, ann, { of: await newApp(rig.service, ann) });
    for (const caller of [ann, callingWith(headers, () => rig.service.url)]) {
      const account = caller.client(AccountService);
      expect(await outcomeOf(account.listSpaces({}))).toMatch(/^PermissionDenied/);
      expect(await outcomeOf(account.switchSpace({ spaceId: ann.spaceId }))).toMatch(/^PermissionDenied/);
    }
  });
});
