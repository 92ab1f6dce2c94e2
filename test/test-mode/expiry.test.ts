import { Code, type ConnectError } from "@connectrpc/connect";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { invitePerson } from "../../src/core/use-cases/invite-person.ts";
import { BudgetKind, BudgetPeriod } from "../../src/gen/proto/settings/v1/budget_pb.ts";
import { BudgetService } from "../../src/gen/proto/settings/v1/budget_service_pb.ts";
import {
  codeFor,
  exchangeCode,
  type OAuthReply,
  pairOf,
  postForm,
  putApp,
  refreshWith,
  type TestApp,
  userMe,
} from "../support/oauth.ts";
import type { Person } from "../support/service.ts";
import { startTestMode, type TestModeServer } from "./rig.ts";

const [minute, hour, day] = [60, 3_600, 86_400];
const start = Date.parse("2030-01-15T12:00:00Z");
let server: TestModeServer;
let ann: Person;
let app: TestApp;
beforeAll(async () => {
  server = await startTestMode(
    { at: start },
    { TASK_DAYS: "60", EVENT_DAYS: "30", VERBOSE_EVENT_DAYS: "10", AUDIT_DAYS: "400" },
  );
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(async () => {
  await server.v2("test.reset");
  ann = await server.person();
  app = await putApp(server, ann, { scopes: ["create_task"], deviceAuthorization: true });
});

async function ok(name: string, body: unknown = {}, by: Pick<Person, "v2"> = server) {
  const reply = await by.v2(name, body);
  expect(
    reply.status,
    JSON.stringify([reply.body, server.problems], (_, v) => (v instanceof Error ? v.stack : v)),
  ).toBe(200);
  return reply.body;
}
const advance = (seconds: number) => ok("test.clock.advance", { seconds });
const seconds = async (): Promise<number> => (await ok("test.clock.read"))["now"];
const now = async () => (await seconds()) * 1_000;
const pair = async () => pairOf(server, ann, app, "pkce", await now());
const outcomeOf = ({ status, body }: OAuthReply) => (status === 200 ? "accepted" : (body["error"] as string));
const poll = async (device_code: string) =>
  outcomeOf(
    await postForm(server.url, "/oauth/token", {
      ...{
        grant_type: "urn:ietf:params:oauth:grant-type:device_code",
        client_id: app.app.clientId,
        device_code,
      },
    }),
  );

/** Makes something that expires; `use` says how it is answered. */
interface Expiring {
  readonly name: string;
  /** Seconds. */
  readonly lasts: number;
  readonly make: () => Promise<() => Promise<unknown>>;
  readonly answers: readonly [before: unknown, after: unknown];
}

const expiring: readonly Expiring[] = [
  {
    name: "an access token",
    lasts: day,
    make: async () => {
      const { access_token } = await pair();
      return async () => (await userMe(server.url, access_token)).status;
    },
    answers: [200, 401],
  },
  {
    name: "an authorization code",
    lasts: 10 * minute,
    // Each is used once.
    make: async () => {
      const codes = [
        await codeFor(server, ann, app, "pkce", await now()),
        await codeFor(server, ann, app, "pkce", await now()),
      ];
      return async () => outcomeOf(await exchangeCode(server, app, "pkce", codes.shift() ?? ""));
    },
    answers: ["accepted", "invalid_grant"],
  },
  {
    name: "a refresh token",
    lasts: 30 * day,
    make: async () => {
      const tokens = [(await pair()).refresh_token, (await pair()).refresh_token];
      return async () => outcomeOf(await refreshWith(server, app, "pkce", tokens.shift()));
    },
    answers: ["accepted", "invalid_grant"],
  },
  {
    name: "the code of a device",
    lasts: 10 * minute,
    make: async () => {
      const { body } = await postForm(server.url, "/oauth/device_authorization", {
        client_id: app.app.clientId,
      });
      return () => poll(body["device_code"]);
    },
    answers: ["authorization_pending", "expired_token"],
  },
  {
    name: "an API key with an end",
    lasts: 90 * day,
    make: async () => {
      const { v2 } = await server.person({ as: ann, with: ann, expiresAt: (await now()) + 90 * day * 1_000 });
      return async () => (await v2("user.me")).status;
    },
    answers: [200, 401],
  },
  {
    name: "a session",
    lasts: 30 * day,
    make: async () => {
      // A use makes it longer.
      const sessions = [await ann.session(), await ann.session()];
      return async () => {
        const budgets = sessions.shift()?.client(BudgetService);
        return budgets?.listOwnBudgets({}).then(
          () => "accepted",
          ({ code }: ConnectError) => code,
        );
      };
    },
    answers: ["accepted", Code.Unauthenticated],
  },
  {
    name: "the link of an invitation",
    lasts: day,
    make: async () => {
      const context = { ids: systemIds, random: systemRandom, now: await now() };
      const { link } = await server.store.change((tx) =>
        invitePerson(tx, context, { email: "eve@example.com" }),
      );
      return async () => (await fetch(`${server.url}/link/${link}`)).status;
    },
    answers: [200, 410],
  },
  {
    name: "the link to a file",
    lasts: 7 * day,
    make: async () => {
      const { task_id } = await ok("task.create", { message: { content: "[[file a.txt | hello]]" } });
      await advance(1);
      const url =
        /http:[^"]*\/downloads\/[^"]+/.exec(
          JSON.stringify(await ok("task.listMessages", { task_id })),
        )?.[0] ?? "";
      return async () => (await fetch(url)).status;
    },
    answers: [200, 403],
  },
  {
    name: "the address of an upload",
    lasts: 3 * minute,
    make: async () => {
      const { upload_url } = await ok("file.upload", { filename: "a.txt" });
      const late = await ok("file.upload", { filename: "b.txt" });
      const urls = [upload_url, late["upload_url"]];
      return async () => (await fetch(urls.shift(), { method: "PUT", body: "hello" })).status;
    },
    answers: [200, 403],
  },
  {
    name: "the address of a stream",
    lasts: hour,
    make: async () => {
      const { task_id } = await ok("task.create", { message: { content: "[[say Hello.]]" } });
      const { url } = await ok("task.watchUrl", { task_id, ttl_seconds: hour });
      return async () => {
        const ending = new AbortController();
        const { status } = await fetch(url, { signal: ending.signal });
        ending.abort();
        return status;
      };
    },
    answers: [200, 404],
  },
];

test("everything that expires does so by the moved clock, not before its time and not later", async () => {
  const made = await Promise.all(expiring.map(async (one) => ({ ...one, use: await one.make() })));
  const at = await seconds();
  const answers = async (of: typeof made) =>
    Object.fromEntries(await Promise.all(of.map(async ({ name, use }) => [name, await use()])));
  for (const lasts of new Set(made.map(({ lasts }) => lasts).toSorted((a, b) => a - b))) {
    const these = made.filter((one) => one.lasts === lasts);
    for (const [nth, time] of [at + lasts - minute, at + lasts + minute].entries()) {
      await ok("test.clock.advance", { to: time });
      expect(await answers(these)).toEqual(
        Object.fromEntries(these.map(({ name, answers: expected }) => [name, expected[nth]])),
      );
    }
  }
});

test("a token that is issued after the clock was moved has its time, and is signed by the key of that time", async () => {
  const before = decodeProtectedHeader((await pair()).access_token).kid;
  await advance(400 * day);
  const { access_token, expires_in } = await pair();
  const { iat = 0, exp = 0 } = decodeJwt(access_token);
  expect([Math.abs(iat - (await seconds())) < minute, exp - iat, expires_in]).toEqual([true, day, day]);
  const { keys } = (await (await fetch(`${server.url}/oauth/jwks`)).json()) as {
    readonly keys: readonly { readonly kid: string }[];
  };
  expect(keys.map(({ kid }) => kid)).toEqual([decodeProtectedHeader(access_token).kid]);
  expect(keys[0]?.kid).not.toBe(before);
  expect((await userMe(server.url, access_token)).status).toBe(200);
});

test("a budget of a month starts again with the month, and one of a day with the day", async () => {
  const budgets = ann.client(BudgetService);
  await budgets.setBudget({
    kind: BudgetKind.ACCOUNT,
    subject: ann.accountId,
    period: BudgetPeriod.DAY,
    credits: 100n,
  });
  await budgets.setBudget({ kind: BudgetKind.TEAM, period: BudgetPeriod.MONTH, credits: 200n });
  const spend = async (time: string) => {
    if (Date.parse(time) > (await now())) await ok("test.clock.advance", { to: Date.parse(time) / 1_000 });
    const { task_id } = await ok(
      "task.create",
      { message: { content: "[[credits 100]] [[say Done.]]" } },
      ann,
    );
    await advance(1);
    return [time, (await ok("task.detail", { task_id }, ann))["task"].status];
  };
  for (const [time, status] of [
    ["2030-01-15T12:00:00Z", "stopped"],
    ["2030-01-15T23:59:00Z", "error"],
    ["2030-01-16T00:00:00Z", "stopped"],
    ["2030-01-17T00:00:00Z", "error"],
    ["2030-01-31T23:59:00Z", "error"],
    ["2030-02-01T00:00:00Z", "stopped"],
  ] as const)
    expect(await spend(time)).toEqual([time, status]);
});

test("retention removes details, events and tasks after their days", async () => {
  const { task_id } = await ok("task.create", { message: { content: "[[tool browser]] [[say Done.]]" } });
  const waiting = await ok("task.create", {
    message: { content: "[[confirm gmailSendAction]] [[say Sent.]]" },
  });
  await advance(minute);
  const at = await seconds();
  const left = async (days: number) => {
    await ok("test.clock.advance", { to: at + days * day });
    if ((await server.v2("task.detail", { task_id })).status === 404) return null;
    const { messages } = await ok("task.listMessages", { task_id, verbose: true });
    return messages.some(({ type }: { readonly type: string }) => type === "tool_used")
      ? "details"
      : messages.length;
  };
  // A pass comes within a day.
  expect([
    await left(9),
    await left(12),
    await left(29),
    await left(32),
    await left(59),
    await left(62),
  ]).toEqual(["details", 4, 4, 0, 0, null]);
  expect((await ok("task.detail", { task_id: waiting["task_id"] }))["task"].status).toBe("waiting");
});
