import { expect, test } from "vitest";
import { describeOnEach } from "../support/database.ts";
import { codeFor, exchangeCode, type Mode, modes, putApp, refreshWith, userMe } from "../support/oauth.ts";
import { openService, type Service } from "../support/service.ts";
import { quarterPast, type StillClock, stillClock } from "../support/still-clock.ts";

const env = { OAUTH_REFRESH_REPLAY_SECONDS: "5" };

/** A pair, and its refresh token's first use. */
async function refreshedOnce(service: Service, mode: Mode) {
  const ann = await service.person();
  const of = await putApp(service, ann);
  const { body } = await exchangeCode(service, of, mode, await codeFor(service, ann, of, mode, quarterPast));
  const again = () => refreshWith(service, of, mode, body.refresh_token);
  return { of, old: body, first: (await again()).body, again };
}

describeOnEach("OAUTH_REFRESH_REPLAY_SECONDS (contract/decisions.md 31)", (database) => {
  async function open(): Promise<{ readonly service: Service; readonly clock: StillClock }> {
    const clock = stillClock(quarterPast);
    return { clock, service: await openService({ database, clock, idle: true, env }) };
  }

  test.each(
    modes,
  )("a refresh whose answer was lost gets the same pair once more, in the mode %s, and the old pair is dead", async (mode) => {
    const { service, clock } = await open();
    await using _ = service;
    const { of, old, first, again } = await refreshedOnce(service, mode);
    clock.step(4_900);
    const repeated = await again();
    expect([repeated.status, repeated.body.refresh_token]).toEqual([200, first.refresh_token]);
    expect((await userMe(service.url, repeated.body.access_token)).status).toBe(200);
    expect((await userMe(service.url, first.access_token)).status).toBe(200);
    expect((await userMe(service.url, old.access_token)).status).toBe(401);
    expect((await refreshWith(service, of, mode, first.refresh_token)).status).toBe(200);
  });

  test("later it is the race that it may be, and then the theft", async () => {
    const { service, clock } = await open();
    await using _ = service;
    const { first, again } = await refreshedOnce(service, "secret");
    clock.step(5_001);
    expect((await again()).body).toMatchObject({ error: "invalid_grant" });
    expect((await userMe(service.url, first.access_token)).status).toBe(200);
    clock.step(5_000);
    expect((await again()).body).toMatchObject({ error: "invalid_grant" });
    expect((await userMe(service.url, first.access_token)).status).toBe(401);
  });

  test("once the new pair was refreshed, the one before is stolen", async () => {
    const { service } = await open();
    await using _ = service;
    const { of, first, again } = await refreshedOnce(service, "secret");
    const second = await refreshWith(service, of, "secret", first.refresh_token);
    expect((await again()).body).toMatchObject({ error: "invalid_grant" });
    expect((await userMe(service.url, second.body.access_token)).status).toBe(401);
  });

  test("is said in the log at the start", async () => {
    const { service } = await open();
    await using _ = service;
    expect(service.logged.filter(({ level, text }) => level === "warn" && text.includes("OAUTH_REFRESH_REPLAY_SECONDS"))).toHaveLength(1);
  });
});

test("without it a repeated refresh is refused, and nothing is said at the start", async () => {
  await using service = await openService({ idle: true, clock: stillClock(quarterPast) });
  const { again } = await refreshedOnce(service, "secret");
  expect((await again()).body).toMatchObject({ error: "invalid_grant" });
  expect(service.logged.filter(({ text }) => text.includes("OAUTH_REFRESH"))).toEqual([]);
});
