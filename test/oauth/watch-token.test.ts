import { describe, expect, test } from "vitest";
import { scopeNames } from "../../src/core/oauth/scope.ts";
import { OAuth2AppService } from "../../src/gen/proto/oauth/v2/oauth2_app_service_pb.ts";
import { directly } from "../support/direct.ts";
import { postForm, refreshWith, type TestApp } from "../support/oauth.ts";
import { newApp, type Token, type TokenOptions, tokenOf } from "../support/token.ts";
import { type WatchWire, watchWires } from "../support/watcher.ts";
import { seqs, seqsOf, type WatchRig, watchRig } from "../tasks/watch-rig.ts";

/** Whoever watches is asked for its credential again and again (contract/decisions.md 17). */
const recheckMs = 5_000;
const dayMs = 24 * 3_600_000;

type Death = (rig: WatchRig, token: Token, of: TestApp) => Promise<unknown>;
const apps = ({ ann }: WatchRig) => ann.client(OAuth2AppService);
const gone = "bearer token is invalid or revoked";

const deaths: readonly (readonly [how: string, kill: Death, why: string])[] = [
  ["whose grant is taken back", (rig, { clientId }) => apps(rig).revokeOAuth2Grant({ clientId }), gone],
  ["whose app is deleted", (rig, { clientId }) => apps(rig).deleteOAuth2App({ clientId }), gone],
  [
    "whose app is expanded",
    async (rig, { clientId }) => {
      await apps(rig).updateOAuth2App({ clientId, scopeConfig: { scopes: ["create_task"] } });
      await apps(rig).updateOAuth2App({ clientId, scopeConfig: { scopes: ["create_task", "create_project"] } });
    },
    "reauthorization_required",
  ],
  ["that was refreshed", (rig, { refreshToken }, of) => refreshWith(rig.service, of, "pkce", refreshToken), gone],
  [
    "that was revoked",
    (rig, { refreshToken, clientId }) => postForm(rig.service.url, "/oauth/revoke", { token: refreshToken, client_id: clientId }),
    gone,
  ],
  [
    "whose user is no active member",
    ({ db, ann }) => directly(db, `UPDATE membership SET status = 'inactive' WHERE account_id = '${ann.accountId}'`),
    gone,
  ],
];

describe.each(watchWires)("a watch by a token over %s", (wire: WatchWire) => {
  const rig = watchRig();
  const code = wire.startsWith("sse") ? "permission_denied" : "unauthenticated";
  const shut = (why: string) => `${code}: Invalid or missing API key or access token: ${why}`;

  async function watching(options: TokenOptions = {}, mine = true) {
    await directly(rig.db, `UPDATE membership SET status = 'active'`);
    const of = await newApp(rig.service, rig.ann);
    const token = await tokenOf(rig.service, rig.ann, { of, now: rig.clock.now(), ...options });
    const maker = mine ? token : rig.ann;
    const id: string = (await maker.v2("task.create", { message: { content: "Hello" } })).body["task_id"];
    const watch = rig.watch(wire, { taskId: id }, token);
    await watch.until(2);
    await rig.quiet();
    return { of, token, id, watch };
  }

  test.each(deaths)("%s ends at the next news, before that is told", async (_how, kill, why) => {
    const { of, token, id, watch } = await watching();
    await kill(rig, token, of);
    await rig.add(id);
    expect(await watch.end).toBe(shut(why));
    expect(seqsOf(watch)).toEqual(seqs(2));
  });

  test("whose grant is taken back ends within 5 s when nothing else happens", async () => {
    const { token, watch } = await watching();
    await apps(rig).revokeOAuth2Grant({ clientId: token.clientId });
    expect(await Promise.race([watch.end, rig.quiet().then(() => "open")])).toBe("open");
    await rig.clock.advance(recheckMs);
    expect(await watch.end).toBe(shut(gone));
  });

  test("ends when the token's 24 hours are over", async () => {
    const { id, watch } = await watching();
    rig.clock.step(dayMs - 60_000);
    await rig.add(id);
    await watch.until(3);
    rig.clock.step(60_000);
    await rig.clock.advance(recheckMs);
    expect(await watch.end).toBe(shut(gone));
  });

  test("ends as for an unknown task when manage_all_tasks is taken from the app and the task is another's", async () => {
    const { token, id, watch } = await watching({ scopes: scopeNames }, false);
    await apps(rig).updateOAuth2App({ clientId: token.clientId, scopeConfig: { scopes: ["create_task"] } });
    await rig.add(id);
    expect(await watch.end).toBe("not_found: task not found");
    expect(seqsOf(watch)).toEqual(seqs(2));
  });
});
