import { readFile } from "node:fs/promises";
import { findTarget } from "../connection.ts";
import { readFixtures } from "../fixtures/read.ts";
import { runFixtures } from "../fixtures/run.ts";
import { type Cli, clientFlags, command } from "../frame/command.ts";
import { CommandError } from "../frame/failures.ts";
import { argument, type ClientFlags, exactly } from "../frame/parameters.ts";

export const fixtures = command({
  brief: "Make the calls of a file, for demos and tests",
  examples: [
    "atp fixtures demo.json",
    "ATP_URL=http://localhost:8080 ATP_KEY=sk-… atp fixtures demo.json --json",
  ],
  about:
    'The file is a JSON list of steps, such as {"name": "task", "call": "task.create", "with": {"message": {"content": "Hello"}}}. A later step refers to an answer (docs/guides/testing.md). The file is checked before the first call. A second run of the same file within 24 hours continues where the first ended, and makes nothing twice.',
  parameters: { flags: clientFlags, positional: exactly(argument("File with the steps", "FILE")) },
  run: async ({ context, print }: Cli, { profile }: ClientFlags, file: string) => {
    const text = await readFile(file, "utf8");
    const steps = readFixtures(file, text);
    const { origin, key } = findTarget(context, profile);
    if (key === undefined)
      throw new CommandError("fixtures need an API key: set ATP_URL and ATP_KEY, or log in with a key");
    const results = await runFixtures(steps, text, { origin, key, fetch: context.fetch });
    const count = (outcome: string) => results.filter((result) => result.outcome === outcome).length;
    print.result(
      {
        made: count("made"),
        present: count("present"),
        steps: results.map(({ answer: _, ...result }) => result),
      },
      () =>
        [
          ...results.map(({ outcome, name, call }) => `${outcome.padEnd(8)}${name} (${call})`),
          `${count("made")} made, ${count("present")} present`,
        ].join("\n"),
    );
  },
});
