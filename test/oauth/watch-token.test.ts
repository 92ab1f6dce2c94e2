import { describe, expect, test } from "vitest";
import { scopeNames } from "../../src/core/accounts/caller.ts";
import { OAuth2AppService } from "../../src/gen/proto/oauth/v2/oauth2_app_service_pb.ts";
import { runDirectly } from "../support/direct.ts";
import { postForm, refreshWith, type TestApp } from "../support/oauth.ts";
import { newApp, type Token, type TokenOptions, tokenOf } from "../support/token.ts";
import { type WatchWire, watchWires } from "../support/watcher.ts";
import { numbersUpTo, seqsOf, type WatchRig, watchRig } from "../tasks/watch-rig.ts";

/** The credential of every watch is checked again at this interval (spec/decisions.md 17). */
const recheckMs = 5_000;
const dayMs = 24 * 3_600_000;

type Invalidation = (rig: WatchRig, token: Token, of: TestApp) => Promise<unknown>;
const apps = ({ ann }: WatchRig) => ann.client(OAuth2AppService);
const invalidToken = "bearer token is invalid or revoked";

const invalidations: readonly (readonly [how: string, kill: Invalidation, why: string])[] = [
  ["whose grant is revoked", (rig, { clientId }) => apps(rig).revokeOAuth2Grant({ clientId }), invalidToken],
  ["whose app is deleted", (rig, { clientId }) => apps(rig).deleteOAuth2App({ clientId }), invalidToken],
  [
    "whose app is expanded",
    async (rig, { clientId }) => {
      await apps(rig).updateOAuth2App({ clientId, scopeConfig: { scopes: ["create_task"] } });
      await apps(rig).updateOAuth2App({
        clientId,
        scopeConfig: { scopes: ["create_task", "create_project"] },
      });
    },
    "reauthorization_required",
  ],
  [
    "that was refreshed",
    (rig, { refreshToken }, of) => refreshWith(rig.service, of, "pkce", refreshToken),
    invalidToken,
  ],
  [
    "that was revoked",
    (rig, { refreshToken, clientId }) =>
      postForm(rig.service.url, "/oauth/revoke", { token: refreshToken, client_id: clientId }),
    invalidToken,
  ],
  [
    "whose user is not an active member",
    ({ db, ann }) =>
      runDirectly(db, `UPDATE membership SET status = 'inactive' WHERE account_id = '${ann.accountId}'`),
    invalidToken,
  ],
];

describe.each(watchWires)("a watch by a token over %s", (wire: WatchWire) => {
  const rig = watchRig();
  const code = wire.startsWith("sse") ? "permission_denied" : "unauthenticated";
  const closedBy = (why: string) => `${code}: Invalid or missing API key or access token: ${why}`;

  async function openWatch(options: TokenOptions = {}, mine = true) {
    await runDirectly(rig.db, `UPDATE membership SET status = 'active'`);
    const of = await newApp(rig.service, rig.ann);
    const token = await tokenOf(rig.service, rig.ann, { of, now: rig.clock.now(), ...options });
    const creator = mine ? token : rig.ann;
    const id: string = (await creator.v2("task.create", { message: { content: "Hello" } })).body["task_id"];
    const watch = rig.watch(wire, { taskId: id }, token);
    await watch.until(2);
    await rig.untilQuiet();
    return { of, token, id, watch };
  }

  test.each(
    invalidations,
  )("%s ends at the next event, before the event is sent", async (_how, invalidate, why) => {
    const { of, token, id, watch } = await openWatch();
    await invalidate(rig, token, of);
    await rig.add(id);
    expect(await watch.end).toBe(closedBy(why));
    expect(seqsOf(watch)).toEqual(numbersUpTo(2));
  });

  test("whose grant is revoked ends within 5 s when nothing else happens", async () => {
    const { token, watch } = await openWatch();
    await apps(rig).revokeOAuth2Grant({ clientId: token.clientId });
    expect(await Promise.race([watch.end, rig.untilQuiet().then(() => "open")])).toBe("open");
    await rig.clock.advance(recheckMs);
    expect(await watch.end).toBe(closedBy(invalidToken));
  });

  test("ends when the token's 24 hours are over", async () => {
    const { id, watch } = await openWatch();
    rig.clock.step(dayMs - 60_000);
    await rig.add(id);
    await watch.until(3);
    rig.clock.step(60_000);
    await rig.clock.advance(recheckMs);
    expect(await watch.end).toBe(closedBy(invalidToken));
  });

  test("ends as for an unknown task when manage_all_tasks is removed from the app and the task is another caller's", async () => {
    const { token, id, watch } = await openWatch({ scopes: scopeNames }, false);
    await apps(rig).updateOAuth2App({ clientId: token.clientId, scopeConfig: { scopes: ["create_task"] } });
    await rig.add(id);
    expect(await watch.end).toBe("not_found: task not found");
    expect(seqsOf(watch)).toEqual(numbersUpTo(2));
  });
});
