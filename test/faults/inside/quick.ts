import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";

/**
 * Loaded before a server: multiplies the speed of its monotonic clock by QUICK, so that leases expire and
 * agents sleep in less real time. The time of day and the time limits of Node's modules do not change.
 */
const speed = Number(process.env["QUICK"] ?? 1);

const monotonic = performance.now.bind(performance);
performance.now = () => monotonic() * speed;

const machine = timers.setTimeout;
timers.setTimeout = (ms = 0, value, options) => machine(ms / speed, value, options);
syncBuiltinESMExports();
