import type { CommandContext } from "@stricli/core";

/** An output of the process, with what a terminal tells about itself. */
export interface Output {
  readonly write: (text: string | Uint8Array) => unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  readonly getColorDepth?: (env?: Readonly<Partial<Record<string, string>>>) => number;
}

/** The environment of a command. Tests replace it. */
export interface CliContext extends CommandContext {
  readonly process: {
    readonly stdout: Output;
    readonly stderr: Output;
    readonly env: Readonly<Partial<Record<string, string>>>;
    exitCode?: number | string | null;
  };
  readonly stdin: NodeJS.ReadStream | (NodeJS.ReadableStream & { readonly isTTY?: boolean });
  readonly fetch: typeof fetch;
  /** Opens an address in the user's browser; false when there is none. */
  readonly openUrl: (url: string) => Promise<boolean>;
  /** Calls `stop` at the first Ctrl-C; the result ends this. */
  readonly onInterrupt: (stop: () => void) => () => void;
  /** The present time in Unix milliseconds. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}
