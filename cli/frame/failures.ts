/**
 * Why a command ended without success, and its exit code. `waits`: a task waits for a person. `credential`:
 * there is none, it is not valid, or it does not allow the operation. `away`: no server answered.
 */
export const exitCodes = {
  failed: 1,
  usage: 2,
  waits: 3,
  credential: 4,
  not_found: 5,
  away: 6,
  interrupted: 130,
} as const;

export type FailureKind = keyof typeof exitCodes;

/** The command line is not valid. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly kind = "usage";
}

/** The command failed. The message is for the user. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly kind: FailureKind;
  /** Further members of the error with `--json`, for example ids. */
  readonly facts: Readonly<Record<string, string>>;

  constructor(message: string, kind: FailureKind = "failed", facts: Readonly<Record<string, string>> = {}) {
    super(message);
    this.kind = kind;
    this.facts = facts;
  }
}

/** The user has pressed Ctrl-C. */
export const interrupted = (
  message = "interrupted",
  facts: Readonly<Record<string, string>> = {},
): CommandError => new CommandError(message, "interrupted", facts);

/** The kind of an error of this program; undefined for another error. */
export const ownKind = (error: unknown): FailureKind | undefined =>
  error instanceof UsageError || error instanceof CommandError ? error.kind : undefined;

/** An error of this program as a JSON object. */
export const ownObject = (error: UsageError | CommandError): object => ({
  code: error.kind,
  message: error.message,
  ...(error instanceof CommandError ? error.facts : {}),
});

/** Stricli's own codes are negative: -4 and -5 are a command line that is not valid. */
export const exitCodeOfFrame = (code: number | string | null | undefined): number => {
  const given = Number(code ?? 0);
  if (given >= 0) return given;
  return given === -4 || given === -5 ? exitCodes.usage : exitCodes.failed;
};

/** The text of an error; errors that are not meant for the user have their name too. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isMeant = ownKind(error) !== undefined || isSystemError(error);
  return isMeant ? error.message : `${error.name}: ${error.message}`;
}

/** An error of Node about a file, for example ENOENT. */
const isSystemError = (error: Error): boolean => "syscall" in error && "code" in error;
