// `npm run worker-check -- --cmd "python3 examples/workers/worker.py"`: runs a worker through all situations of the worker protocol
// against a temporary platform, and reports its errors (docs/guides/agents.md).
import { checks } from "../conformance/checks/checks.ts";
import { runChecks, type Verdict } from "../conformance/run.ts";
import { type OptionValues, runCommand, textOption } from "./command.ts";

const usage = `usage: npm run worker-check -- --cmd COMMAND [--only NAME]... [--patience SECONDS] | --list

  --cmd       the shell command that starts the worker; its environment has BASE_URL, WORKER_KEY and PROFILES
  --only      run only this check; can be repeated
  --patience  seconds to wait for a response that the worker can send immediately; default: 10
  --list      list the checks
`;

/** The parsed arguments. */
type Arguments =
  | { readonly list: true }
  | { readonly list: false; readonly command: string; readonly only: readonly string[]; readonly patience: number };

const options = {
  cmd: textOption,
  only: { ...textOption, multiple: true },
  patience: { ...textOption, default: "10" },
  list: { type: "boolean" },
} as const;

function read({ cmd: command, only = [], list, ...values }: OptionValues<typeof options>): Arguments | null {
  const patience = Number(values.patience);
  if (list) return { list };
  const known = only.every((name) => checks.some((check) => check.name === name));
  return command && known && patience >= 1 && patience <= 600 ? { list: false, command, only, patience } : null;
}

const indent = (text: string): string => text.replaceAll("\n", "\n      ");

function printVerdict({ check, errors: flaws, seconds }: Verdict): void {
  const took = `(${seconds.toFixed(1)} s)`;
  console.log(flaws.length === 0 ? `pass  ${check.name} ${took}` : `FAIL  ${check.name} ${took}: ${check.about}`);
  for (const flaw of flaws) console.log(`      ${indent(flaw)}`);
}

async function check(args: Arguments): Promise<string> {
  if (args.list) return checks.map(({ name, about }) => `${name.padEnd(10)} ${about}\n`).join("");
  // On Ctrl-C and SIGTERM, started processes end with this process.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
  const selected = args.only.length === 0 ? checks : checks.filter(({ name }) => args.only.includes(name));
  const verdicts = await runChecks(selected, args, printVerdict);
  const failed = verdicts.filter(({ errors: flaws }) => flaws.length > 0).length;
  process.exitCode = failed > 0 ? 1 : 0;
  return `${verdicts.length - failed} passed, ${failed} failed\n`;
}

await runCommand({ usage, options, read }, check);
