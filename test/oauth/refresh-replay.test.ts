import { expect, test } from "vitest";
import { describeOnOne } from "../support/database.ts";
import { codeFor, exchangeCode, type Mode, modes, putApp, refreshWith, userMe } from "../support/oauth.ts";
import { openService, type Service } from "../support/service.ts";
import { quarterPast, type StillClock, stillClock } from "../support/still-clock.ts";

const env = { OAUTH_REFRESH_REPLAY_SECONDS: "5" };

/** A token pair, and the first use of its refresh token. */
async function refreshOnce(service: Service, mode: Mode) {
  const ann = await service.person();
  const of = await putApp(service, ann);
  const { body } = await exchangeCode(service, of, mode, await codeFor(service, ann, of, mode, quarterPast));
  const repeat = () => refreshWith(service, of, mode, body.refresh_token);
  return { of, old: body, first: (await repeat()).body, again: repeat };
}

describeOnOne("OAUTH_REFRESH_REPLAY_SECONDS (spec/decisions.md 31)", (database) => {
  async function open(): Promise<{ readonly service: Service; readonly clock: StillClock }> {
    const clock = stillClock(quarterPast);
    return { clock, service: await openService({ database, clock, idle: true, env }) };
  }

  test.each(
    modes,
  )("a refresh whose answer was lost gets the same pair again, in the mode %s, and the old pair is revoked", async (mode) => {
    const { service, clock } = await open();
    await using _ = service;
    const { of, old, first, again: repeat } = await refreshOnce(service, mode);
    clock.step(4_900);
    const repeated = await repeat();
    expect([repeated.status, repeated.body.refresh_token]).toEqual([200, first.refresh_token]);
    expect((await userMe(service.url, repeated.body.access_token)).status).toBe(200);
    expect((await userMe(service.url, first.access_token)).status).toBe(200);
    expect((await userMe(service.url, old.access_token)).status).toBe(401);
    expect((await refreshWith(service, of, mode, first.refresh_token)).status).toBe(200);
  });

  test("after this time it counts as a possible race, and after that as theft", async () => {
    const { service, clock } = await open();
    await using _ = service;
    const { first, again: repeat } = await refreshOnce(service, "secret");
    clock.step(5_001);
    expect((await repeat()).body).toMatchObject({ error: "invalid_grant" });
    expect((await userMe(service.url, first.access_token)).status).toBe(200);
    clock.step(5_000);
    expect((await repeat()).body).toMatchObject({ error: "invalid_grant" });
    expect((await userMe(service.url, first.access_token)).status).toBe(401);
  });

  test("after the new pair was refreshed, a use of the old token counts as theft", async () => {
    const { service } = await open();
    await using _ = service;
    const { of, first, again: repeat } = await refreshOnce(service, "secret");
    const second = await refreshWith(service, of, "secret", first.refresh_token);
    expect((await repeat()).body).toMatchObject({ error: "invalid_grant" });
    expect((await userMe(service.url, second.body.access_token)).status).toBe(401);
  });

  test("is logged at the start", async () => {
    const { service } = await open();
    await using _ = service;
    expect(
      service.logged.filter(
        ({ level, text }) => level === "warn" && text.includes("OAUTH_REFRESH_REPLAY_SECONDS"),
      ),
    ).toHaveLength(1);
  });
});

test("without the setting a repeated refresh is refused, and the start logs nothing about it", async () => {
  await using service = await openService({ idle: true, clock: stillClock(quarterPast) });
  const { again: repeat } = await refreshOnce(service, "secret");
  expect((await repeat()).body).toMatchObject({ error: "invalid_grant" });
  expect(service.logged.filter(({ text }) => text.includes("OAUTH_REFRESH"))).toEqual([]);
});
