import { expect, test } from "vitest";
import { pairOf, putApp, replyOf, userMe } from "../support/oauth.ts";
import { openService } from "../support/service.ts";
import { quarterPast, stillClock } from "../support/still-clock.ts";

test("v2 reports to a client what is wrong with its token, and to one without a token that a token is accepted (RFC 6750 3)", async () => {
  await using service = await openService({ idle: true, clock: stillClock() });
  const ann = await service.person();
  const of = await putApp(service, ann, { scopes: ["create_project"] });
  const { access_token } = await pairOf(service, ann, of, "pkce", quarterPast);
  const call = async (name: string, headers: Record<string, string>) =>
    replyOf(
      await fetch(`${service.url}/v2/${name}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: "{}",
      }),
    );
  const challengeOf = async (reply: Promise<{ readonly status: number; readonly headers: Headers }>) => {
    const { status, headers } = await reply;
    return [status, headers.get("www-authenticate")];
  };
  const key = 'ApiKey realm="api", header="x-service-api-key"';
  expect(await challengeOf(call("user.me", {}))).toEqual([401, `Bearer realm="api", ${key}`]);
  expect(await challengeOf(call("user.me", { "x-api-key": "sk-x" }))).toEqual([
    401,
    `Bearer realm="api", ${key}`,
  ]);
  expect(await challengeOf(userMe(service.url, "a.b.c"))).toEqual([
    401,
    `Bearer realm="api", error="invalid_token", ${key}`,
  ]);
  const scoped = call("task.list", { authorization: `Bearer ${access_token}` });
  expect(await challengeOf(scoped)).toEqual([403, 'Bearer realm="api", error="insufficient_scope"']);
  expect(await challengeOf(userMe(service.url, access_token))).toEqual([200, null]);
});
