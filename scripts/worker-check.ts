// `npm run worker-check -- --cmd "python3 examples/workers/worker.py"`: drives a worker through everything that can happen to one, on a
// platform of its own, and says what it got wrong (docs/agents.md).
import { parseArgs } from "node:util";
import { checks } from "../conformance/checks/checks.ts";
import { runChecks, type Verdict } from "../conformance/run.ts";
import { runCommand } from "./command.ts";

const usage = `usage: npm run worker-check -- --cmd COMMAND [--only NAME]... [--patience SECONDS] | --list

  --cmd       starts the worker, by the shell; it finds BASE_URL, WORKER_KEY and PROFILES in its environment
  --only      only this check; may be given several times
  --patience  for how long an answer is waited for that has nothing to wait for; 10 unless told otherwise
  --list      says what is checked
`;

/** What is asked for. */
type Wanted =
  | { readonly list: true }
  | { readonly list: false; readonly command: string; readonly only: readonly string[]; readonly patience: number };

/** Null when the words make no sense. */
function parse(words: readonly string[]): Wanted | null {
  const text = { type: "string" } as const;
  const options = {
    cmd: text,
    only: { ...text, multiple: true },
    patience: { ...text, default: "10" },
    list: { type: "boolean" },
  } as const;
  const { values } = parseArgs({ args: [...words], options, strict: true });
  const { cmd: command, only = [], list } = values;
  const patience = Number(values.patience);
  if (list) return { list };
  const known = only.every((name) => checks.some((check) => check.name === name));
  return command && known && patience >= 1 && patience <= 600 ? { list: false, command, only, patience } : null;
}

const indented = (text: string): string => text.replaceAll("\n", "\n      ");

function tell({ check, flaws, seconds }: Verdict): void {
  const took = `(${seconds.toFixed(1)} s)`;
  console.log(flaws.length === 0 ? `pass  ${check.name} ${took}` : `FAIL  ${check.name} ${took}: ${check.about}`);
  for (const flaw of flaws) console.log(`      ${indented(flaw)}`);
}

async function check(wanted: Wanted): Promise<string> {
  if (wanted.list) return checks.map(({ name, about }) => `${name.padEnd(10)} ${about}\n`).join("");
  // Ctrl-C and the like: what was started ends with this process.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
  const asked = wanted.only.length === 0 ? checks : checks.filter(({ name }) => wanted.only.includes(name));
  const verdicts = await runChecks(asked, wanted, tell);
  const failed = verdicts.filter(({ flaws }) => flaws.length > 0).length;
  process.exitCode = failed > 0 ? 1 : 0;
  return `${verdicts.length - failed} passed, ${failed} failed\n`;
}

await runCommand({ usage, parse }, check);
