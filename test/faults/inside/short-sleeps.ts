import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";

const machine = timers.setTimeout;

/** In milliseconds. */
const long = Number(process.env["LONG_SLEEP"] ?? 20) * 1000;

/** Loaded before a server: a task that sleeps for exactly LONG_SLEEP seconds sleeps for a tenth of them. */
timers.setTimeout = (ms, value, options) => machine(ms === long ? long / 10 : ms, value, options);
syncBuiltinESMExports();
