// `npm run worker-check -- --cmd "python3 examples/workers/worker.py"`: runs a worker through all situations of the worker protocol
// against a temporary platform, and reports its errors (docs/guides/agents.md).
import type { Check } from "../conformance/checks/check.ts";
import { checks } from "../conformance/checks/checks.ts";
import { protocolChecks } from "../conformance/checks/protocol.ts";
import { runChecks, type Verdict } from "../conformance/run.ts";
import { type OptionValues, runCommand, textOption } from "./command.ts";

const usage = `usage: npm run worker-check -- --cmd COMMAND [--protocol] [--only NAME]... [--patience SECONDS] | --list [--protocol]

  --cmd       the shell command that starts the worker; its environment has BASE_URL, WORKER_KEY and PROFILES
  --protocol  check a real agent: its turns must end, and the laws of the protocol must hold
  --message   with --protocol: what the agent is asked to do; default: "Count from 1 to 5. Write one short message for each number."
  --answer    with --protocol: the answer to its questions; default: "Yes, please continue."
  --turn      with --protocol: the longest time of a turn in seconds; default: 120
  --only      run only this check; can be repeated
  --patience  seconds to wait for a response that the worker can send immediately; default: 10
  --list      list the checks
`;

/** The parsed arguments. */
type Arguments =
  | { readonly list: true; readonly from: readonly Check[] }
  | {
      readonly list: false;
      readonly from: readonly Check[];
      readonly command: string;
      readonly only: readonly string[];
      readonly patience: number;
    };

const options = {
  cmd: textOption,
  protocol: { type: "boolean" },
  message: { ...textOption, default: "Count from 1 to 5. Write one short message for each number." },
  answer: { ...textOption, default: "Yes, please continue." },
  turn: { ...textOption, default: "120" },
  only: { ...textOption, multiple: true },
  patience: { ...textOption, default: "10" },
  list: { type: "boolean" },
} as const;

const isSeconds = (value: number): boolean => value >= 1 && value <= 600;

function read({ cmd: command, protocol, message, answer, only = [], list, ...values }: OptionValues<typeof options>): Arguments | null {
  const [patience, turnSeconds] = [Number(values.patience), Number(values.turn)];
  const from = protocol ? protocolChecks({ message, answer, turnSeconds }) : checks;
  if (list) return { list, from };
  const known = only.every((name) => from.some((check) => check.name === name));
  return command && known && message && answer && isSeconds(patience) && isSeconds(turnSeconds)
    ? { list: false, from, command, only, patience }
    : null;
}

const indent = (text: string): string => text.replaceAll("\n", "\n      ");

function printVerdict({ check, errors: flaws, seconds }: Verdict): void {
  const took = `(${seconds.toFixed(1)} s)`;
  console.log(flaws.length === 0 ? `pass  ${check.name} ${took}` : `FAIL  ${check.name} ${took}: ${check.about}`);
  for (const flaw of flaws) console.log(`      ${indent(flaw)}`);
}

async function check(args: Arguments): Promise<string> {
  if (args.list) return args.from.map(({ name, about }) => `${name.padEnd(10)} ${about}\n`).join("");
  // On Ctrl-C and SIGTERM, started processes end with this process.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
  const selected = args.only.length === 0 ? args.from : args.from.filter(({ name }) => args.only.includes(name));
  const verdicts = await runChecks(selected, args, printVerdict);
  const failed = verdicts.filter(({ errors: flaws }) => flaws.length > 0).length;
  process.exitCode = failed > 0 ? 1 : 0;
  return `${verdicts.length - failed} passed, ${failed} failed\n`;
}

await runCommand({ usage, options, read }, check);
