import type { Check } from "../../conformance/checks/check.ts";
import { checks } from "../../conformance/checks/checks.ts";
import { protocolChecks } from "../../conformance/checks/protocol.ts";
import { runChecks, type Verdict } from "../../conformance/run.ts";
import { UsageError } from "../frame/failures.ts";
import { jsonFlags, switchFlag, textFlag, textsFlag } from "../frame/parameters.ts";
import type { Print } from "../frame/print.ts";
import { type Here, localCommand } from "./frame/command.ts";

interface CheckFlags {
  readonly json?: boolean;
  readonly cmd?: string;
  readonly protocol?: boolean;
  readonly message?: string;
  readonly answer?: string;
  readonly turn?: number;
  readonly only?: readonly string[];
  readonly patience?: number;
  readonly list?: boolean;
}

function parseSeconds(input: string): number {
  const seconds = Number(input);
  if (input.trim() === "" || !(seconds >= 1 && seconds <= 600))
    throw new UsageError("must be a number of seconds from 1 to 600");
  return seconds;
}

const secondsFlag = (brief: string) =>
  ({ kind: "parsed", brief, placeholder: "SECONDS", optional: true, parse: parseSeconds }) as const;

const indent = (text: string): string => text.replaceAll("\n", "\n      ");

function printVerdict(print: Print, { check, errors, seconds }: Verdict): void {
  const took = `(${seconds.toFixed(1)} s)`;
  const first =
    errors.length === 0 ? `pass  ${check.name} ${took}` : `FAIL  ${check.name} ${took}: ${check.about}`;
  const text = [first, ...errors.map((flaw) => `      ${indent(flaw)}`)].join("\n");
  print.result(
    { name: check.name, passed: errors.length === 0, errors, seconds: Number(seconds.toFixed(1)) },
    text,
  );
}

/** @throws UsageError for a name that no check has */
function select(from: readonly Check[], only: readonly string[]): readonly Check[] {
  const unknown = only.find((name) => !from.some((check) => check.name === name));
  if (unknown !== undefined) throw new UsageError(`--only: there is no check ${unknown}; --list lists them`);
  return only.length === 0 ? from : from.filter(({ name }) => only.includes(name));
}

export const workerCheck = localCommand({
  brief: "Run a worker through all situations of the worker protocol, and report its errors",
  about:
    "The worker runs against temporary platforms, and no installation is needed. Its environment has ATP_URL, WORKER_KEY and PROFILES. The exit code is 1 if a check fails.",
  examples: [
    'atp worker-check --cmd "python3 worker.py"',
    'atp worker-check --cmd "node agent.ts" --protocol',
    "atp worker-check --list",
  ],
  parameters: {
    flags: {
      ...jsonFlags,
      cmd: textFlag("Shell command that starts the worker", "COMMAND"),
      protocol: switchFlag("Check a real agent: its turns must end, and the laws of the protocol must hold"),
      message: textFlag("With --protocol: what the agent is asked to do; by default to count from 1 to 5"),
      answer: textFlag('With --protocol: the answer to its questions, "Yes, please continue." by default'),
      turn: secondsFlag("With --protocol: the longest time of a turn, 120 by default"),
      only: textsFlag("Run only this check; may be given several times", "NAME"),
      patience: secondsFlag(
        "Time to wait for a response that the worker can send immediately, 10 by default",
      ),
      list: switchFlag("List the checks"),
    },
  },
  run: async (
    { context, print }: Here,
    { cmd, only = [], list = false, patience = 10, ...flags }: CheckFlags,
  ) => {
    const { protocol = false, turn = 120, answer = "Yes, please continue." } = flags;
    const { message = "Count from 1 to 5. Write one short message for each number." } = flags;
    if (message === "" || answer === "") throw new UsageError("--message and --answer must not be empty");
    const from = protocol ? protocolChecks({ message, answer, turnSeconds: turn }) : checks;
    if (list) {
      const all = from.map(({ name, about }) => ({ name, about }));
      return print.lines(all, ({ name, about }) => `${name.padEnd(10)} ${about}`);
    }
    const selected = select(from, only);
    if (!cmd) throw new UsageError("--cmd: is needed, the command that starts the worker");
    // On Ctrl-C and SIGTERM, started processes end with this process.
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
    const verdicts = await runChecks(selected, { command: cmd, patience }, (verdict) =>
      printVerdict(print, verdict),
    );
    const failed = verdicts.filter(({ errors }) => errors.length > 0).length;
    context.process.exitCode = failed > 0 ? 1 : 0;
    const passed = verdicts.length - failed;
    print.result({ passed, failed }, `${passed} passed, ${failed} failed`);
  },
});
