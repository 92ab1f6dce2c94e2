import { expect, test } from "vitest";
import { AccountService } from "../../src/gen/proto/settings/v1/account_service_pb.ts";
import { UserService } from "../../src/gen/proto/user/v2/user_service_pb.ts";
import { describeOnOne, rowsIn } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { callingWith } from "../support/service.ts";
import type { SignedIn } from "../support/session.ts";
import { newApp, tokenOf } from "../support/token.ts";
import { outcomeOf, settingsRig } from "./settings-rig.ts";

const accountOf = (session: SignedIn) => session.client(AccountService);

describeOnOne("one's own account (spec/decisions.md 57)", (database) => {
  const rig = settingsRig(database);
  const isActive = async (session: SignedIn) =>
    (await outcomeOf(session.client(UserService).getCurrentUser({}))) === "let in";
  const signedIn = async (person?: Person) => {
    const ann = person ?? (await rig.person());
    return { ann, session: await ann.session() };
  };

  test("lists the sessions of the account in all of its spaces, newest first, and says which is the current one", async () => {
    const { ann, session } = await signedIn();
    const elsewhere = await (await rig.person({ as: ann })).session();
    const personal = await (await rig.person({ as: ann, personal: true })).session();
    await (await rig.person({ with: ann })).session();
    const { data } = await accountOf(session).listSessions({});
    expect(data.map(({ id, current }) => [id, current]).toSorted()).toEqual(
      [
        [session.id, true],
        [elsewhere.id, false],
        [personal.id, false],
      ].toSorted(),
    );
    expect(data.map(({ createdAt }) => createdAt)).toEqual(
      data
        .map(({ createdAt }) => createdAt)
        .toSorted()
        .toReversed(),
    );
    const teamOf = (id: string) => data.find((each) => each.id === id)?.teamName;
    expect([teamOf(session.id), teamOf(personal.id)]).toEqual([`Team ${ann.spaceId}`, undefined]);
    expect(await accountOf(elsewhere).listSessions({})).toMatchObject({
      data: expect.arrayContaining([expect.objectContaining({ id: elsewhere.id, current: true })]),
    });
  });

  test("lists no ended or expired session, and at most 100", async () => {
    const { ann, session } = await signedIn();
    const expired = await ann.session();
    await rig.service.store.change((tx) =>
      tx.sessions.renew(expired.id, Date.now() - 1, Date.now() + 40 * 86_400_000),
    );
    const ended = await ann.session();
    await rig.service.store.change((tx) => tx.sessions.end(ended.id));
    expect((await accountOf(session).listSessions({})).data.map(({ id }) => id)).toEqual([session.id]);
    for (let n = 0; n < 110; n += 1) await ann.session();
    expect((await accountOf(session).listSessions({})).data).toHaveLength(100);
  });

  test("shows no secret of a session: neither its cookie nor what is stored of it", async () => {
    const { ann, session } = await signedIn();
    const answer = JSON.stringify(await accountOf(session).listSessions({}), (_, value) =>
      typeof value === "bigint" ? `${value}` : value,
    );
    const [row] = await rowsIn(
      rig.db.url,
      `SELECT digest FROM session WHERE account_id = '${ann.accountId}'`,
    );
    for (const secret of [session.headers.cookie.split("=")[1] ?? "", String(row?.["digest"])])
      expect(answer).not.toContain(secret);
  });

  test("ends another session from its next call on, and the current one too; the audit rows name them", async () => {
    const { ann, session } = await signedIn();
    const other = await ann.session();
    await accountOf(session).revokeSession({ id: other.id });
    expect([await isActive(other), await isActive(session)]).toEqual([false, true]);
    expect(await outcomeOf(accountOf(session).revokeSession({ id: other.id }))).toBe(
      "NotFound: session not found",
    );
    await accountOf(session).revokeSession({ id: session.id });
    expect(await isActive(session)).toBe(false);
    const row = await rig.auditRow("settings.v1.AccountService/RevokeSession", other.id);
    expect(row["credential"]).toBe(`session:${session.id}`);
  });

  test("ends no session of another person, and not by another text than the id", async () => {
    const { ann, session } = await signedIn();
    const { session: bos } = await signedIn(await rig.person({ with: ann }));
    const [row] = await rowsIn(rig.db.url, `SELECT digest FROM session WHERE id = '${session.id}'`);
    for (const id of [bos.id, "unknown", "%", String(row?.["digest"]).slice(0, 64)])
      expect(await outcomeOf(accountOf(session).revokeSession({ id }))).toBe("NotFound: session not found");
    expect(await isActive(bos)).toBe(true);
  });

  test("of two calls that end a session at once, one succeeds", async () => {
    const { ann, session } = await signedIn();
    const { id } = await ann.session();
    const outcomes = await Promise.all(
      [1, 2, 3].map(() => outcomeOf(accountOf(session).revokeSession({ id }))),
    );
    expect(outcomes.toSorted()).toEqual([
      "NotFound: session not found",
      "NotFound: session not found",
      "let in",
    ]);
  });

  test("changes the person's name and language, each without the other, and removes the name", async () => {
    const { ann, session } = await signedIn();
    const account = accountOf(session);
    expect(await account.updateProfile({ name: "Ann Lee" })).toMatchObject({ name: "Ann Lee", locale: "en" });
    expect(await account.updateProfile({ locale: "pt-br" })).toMatchObject({
      name: "Ann Lee",
      locale: "pt-BR",
    });
    expect((await ann.v2("user.me")).body).toMatchObject({ name: "Ann Lee", locale: "pt-BR" });
    expect((await account.updateProfile({ name: "" })).name).toBeUndefined();
    expect((await ann.v2("user.me")).body).not.toHaveProperty("name");
    const rows = await rowsIn(
      rig.db.url,
      `SELECT * FROM audit_event WHERE operation = 'settings.v1.AccountService/UpdateProfile'`,
    );
    expect(
      JSON.stringify(rows, (_, value) => (typeof value === "bigint" ? `${value}` : value)),
    ).not.toContain("Ann Lee");
  });

  test.each([
    [{}, "name or locale is required"],
    [{ name: " Ann" }, "name: must have 1 to 100"],
    [{ name: "Ann\n" }, "name: must have 1 to 100"],
    [{ name: "   " }, "name: must have 1 to 100"],
    [{ name: "Ann\u202eeeL" }, "name: must have 1 to 100"],
    [{ name: "x".repeat(101) }, "name: "],
    [{ locale: "" }, "locale: "],
    [{ locale: "not a tag" }, "locale: must be a BCP 47"],
    [{ locale: "e".repeat(65) }, "locale: "],
    [{ name: "Ann", locale: "_" }, "locale: must be a BCP 47"],
  ])("refuses the profile %j, and changes nothing", async (edit, why) => {
    const { ann, session } = await signedIn();
    expect(await outcomeOf(accountOf(session).updateProfile(edit))).toContain(`InvalidArgument: ${why}`);
    const { body } = await ann.v2("user.me");
    expect([body["name"], body["locale"]]).toEqual([undefined, "en"]);
  });

  test("is closed to keys and tokens", async () => {
    const { ann, session } = await signedIn();
    const { headers } = await tokenOf(rig.service, ann, { of: await newApp(rig.service, ann) });
    for (const caller of [ann, callingWith(headers, () => rig.service.url)]) {
      const account = caller.client(AccountService);
      const calls = [
        account.listSessions({}),
        account.updateProfile({ name: "x" }),
        account.revokeSession({ id: session.id }),
      ];
      for (const outcome of await Promise.all(calls.map(outcomeOf)))
        expect(outcome).toMatch(/^PermissionDenied/);
    }
  });
});
