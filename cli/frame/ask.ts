import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import type { CliContext } from "./context.ts";
import { CommandError, interrupted } from "./failures.ts";

export const isInteractive = ({ stdin, process: { stdout } }: CliContext): boolean =>
  stdin.isTTY === true && stdout.isTTY === true;

/**
 * Asks for one line on the terminal.
 *
 * @param isSecret does not show what is typed.
 * @param signal ends the question, as the end of the input does.
 * @throws CommandError when the input ends
 */
export async function ask(
  { stdin, process: { stderr } }: CliContext,
  question: string,
  isSecret = false,
  signal?: AbortSignal,
): Promise<string> {
  const shown = new Writable({
    write(chunk, _encoding, done) {
      stderr.write(String(chunk));
      done();
    },
  });
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() });
  const options = {
    input: stdin,
    output: isSecret ? hidden : shown,
    terminal: stdin.isTTY === true,
    prompt: question,
  };
  const lines = createInterface({ ...options, ...(signal && { signal }) });
  if (isSecret) stderr.write(question);
  lines.prompt();
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once("line", resolve);
      lines.once("SIGINT", () => reject(interrupted()));
      lines.once("close", () => reject(new CommandError("the input ended")));
    });
  } finally {
    lines.close();
    if (isSecret) stderr.write("\n");
  }
}

/** All of standard input. @throws CommandError above the limit */
export async function readInput({ stdin }: CliContext, mostBytes = 16 * 1024 * 1024): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > mostBytes)
      throw new CommandError(`standard input has more than ${mostBytes / 1024 / 1024} MiB`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString();
}

/** A secret that is asked without showing it, or standard input where there is no terminal. */
export const readSecret = async (context: CliContext, question: string): Promise<string> =>
  (isInteractive(context) ? await ask(context, question, true) : await readInput(context)).trim();
