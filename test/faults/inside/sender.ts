import { setTimeout as delay } from "node:timers/promises";
import { createUserResolver } from "../../../src/adapters/egress/resolve.ts";
import { allowedAddresses } from "../../../src/config/address-range.ts";
import type { Clock } from "../../../src/core/clock.ts";
import { systemIds, systemRandom } from "../../../src/core/ids.ts";
import { openStore } from "../../../src/store/open.ts";
import { deliveryKeys } from "../../../src/webhooks/keys.ts";
import { webhookSender } from "../../../src/webhooks/send.ts";
import { startSender } from "../../../src/webhooks/sender.ts";
import { cipher } from "../../support/cipher.ts";

/**
 * A process that sends deliveries until it is killed, on a clock ten times as fast: `sender.ts DATABASE_URL
 * EPOCH`.
 */
const [databaseUrl = "", epoch = "0"] = process.argv.slice(2);

const speed = 10;
const passed = () => (Date.now() - Number(epoch)) * speed;
const clock: Clock = {
  now: () => Number(epoch) + passed(),
  monotonic: passed,
  sleep: (ms, signal) => delay(ms / speed, undefined, signal ? { signal } : {}),
};

/** Retries without limit and without delay. */
const delaysMs = Array.from({ length: 100 }, () => 1_000);

const store = await openStore({ databaseUrl, clock, random: systemRandom });
const keys = deliveryKeys({ store, cipher, clock, ids: systemIds });
const allowed = allowedAddresses.parse("loopback");
const send = webhookSender({
  clock,
  cipher,
  keys,
  resolve: createUserResolver({ clock }),
  allowed,
  userAgent: "faults",
});
const log = (...line: readonly unknown[]) => console.error(...line);
startSender({ store, clock, random: systemRandom, log, send, notify: async () => undefined, delaysMs });
