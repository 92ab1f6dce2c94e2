import { parseArgs } from "node:util";
import { startVitest } from "vitest/node";

// npm run sessions: plays the recorded sessions of the model agent. With --update it records them again.
const { values } = parseArgs({ options: { update: { type: "boolean", default: false } } });
if (values.update) process.env["UPDATE_GOLDEN"] = "1";
const vitest = await startVitest(["test/runtime/model/sessions.test.ts"], { run: true });
await vitest.close();
