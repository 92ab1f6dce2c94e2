import { expect, test } from "vitest";
import { readDevice, waitForUser } from "../../packages/client/src/device.ts";
import { ConnectionError, OAuthError, type Tokens } from "../../packages/client/src/index.ts";

const answer = {
  device_code: "device_x",
  user_code: "WDJB-MJHT",
  verification_uri: "https://a.example/device",
  expires_in: 600,
  interval: 5,
};

/** Waits with these answers; returns the pauses and the result. */
async function waitWith(answers: readonly (Error | Tokens)[]) {
  const pauses: number[] = [];
  let now = 0;
  const waiting = {
    now: () => now,
    async pause(ms: number) {
      pauses.push(ms);
      now += ms;
    },
    async ask() {
      const next = answers[pauses.length - 1] ?? new OAuthError("authorization_pending", "");
      if (next instanceof Error) throw next;
      return next;
    },
  };
  const result = await waitForUser(readDevice(answer, 0), waiting).catch((error: unknown) => error);
  return { pauses, result };
}

const tokens: Tokens = { accessToken: "a", refreshToken: "r", expiresAt: 1 };
const refused = (code: string) => new OAuthError(code, code);

test("a device asks no sooner than the server allows, waits longer when the server asks for it, and half as often after a lost connection", async () => {
  const answers = [
    refused("authorization_pending"),
    refused("slow_down"),
    new ConnectionError("gone"),
    refused("temporarily_unavailable"),
    tokens,
  ];
  expect(await waitWith(answers)).toEqual({ pauses: [5_000, 5_000, 10_000, 20_000, 25_000], result: tokens });
});

test("a device stops when the user refuses, and after the time of its code", async () => {
  expect((await waitWith([refused("access_denied")])).result).toMatchObject({ code: "access_denied" });
  const { pauses, result } = await waitWith([]);
  expect([pauses.length, result]).toEqual([120, expect.objectContaining({ code: "expired_token" })]);
  expect(() => readDevice({ ...answer, user_code: "" }, 0)).toThrow("the answer has no user_code");
});
