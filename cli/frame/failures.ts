/** The command line is not valid: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The command failed: exit code 1. The message is for the user. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

/** Exit codes: 0 for success, 1 for a failure, 2 for a command line that is not valid. */
export const exitCodeOf = (error: unknown): number => (error instanceof UsageError ? 2 : 1);

/** Stricli's own codes are negative: -4 and -5 are a command line that is not valid. */
export const exitCodeOfFrame = (code: number | string | null | undefined): number => {
  const given = Number(code ?? 0);
  if (given >= 0) return given;
  return given === -4 || given === -5 ? 2 : 1;
};

/** The text of an error; errors that are not meant for the user have their name too. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isMeant = error instanceof UsageError || error instanceof CommandError || isSystemError(error);
  return isMeant ? error.message : `${error.name}: ${error.message}`;
}

/** An error of Node about a file, for example ENOENT. */
const isSystemError = (error: Error): boolean => "syscall" in error && "code" in error;
