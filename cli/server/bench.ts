import { spawn } from "node:child_process";
import { once } from "node:events";
import { checkoutFolder } from "../frame/checkout.ts";
import { switchFlag, textFlag } from "../frame/parameters.ts";
import { type Here, localCommand } from "./frame/command.ts";

interface BenchFlags {
  readonly json?: boolean;
  readonly watchers?: string;
  readonly minutes?: string;
  readonly sizes?: string;
  readonly against?: string;
}

export const bench = localCommand({
  brief: "Measure the figures of docs/internals/performance.md, in a checkout only",
  examples: ["atp bench", "atp bench create --json"],
  parameters: {
    flags: {
      json: switchFlag("Write each result as a line of JSON"),
      watchers: textFlag("Number of watchers, 10000 by default", "NUMBER"),
      minutes: textFlag("Length of the endurance test, 10 by default", "NUMBER"),
      sizes: textFlag("Sizes of the database in tasks, 10000,1000000 by default", "A,B"),
      against: textFlag("Another checkout to compare with", "FOLDER"),
    },
    positional: {
      kind: "array",
      parameter: { brief: "Figures to measure; by default all", placeholder: "FIGURE", parse: String },
    },
  },
  run: async ({ context }: Here, { json = false, ...values }: BenchFlags, ...figures: readonly string[]) => {
    const words = Object.entries(values).flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name}`, value],
    );
    const args = ["bench/main.ts", ...figures, ...words, ...(json ? ["--json"] : [])];
    const child = spawn(process.execPath, args, { cwd: checkoutFolder("bench"), stdio: "inherit" });
    // A terminal sends Ctrl-C to both; the measurement ends its servers before it ends.
    const ended = context.onInterrupt(() => undefined);
    const [code] = await once(child, "exit");
    ended();
    context.process.exitCode = code ?? 1;
  },
});
