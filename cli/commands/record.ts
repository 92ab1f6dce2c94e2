import { type Cli, command } from "../frame/command.ts";
import { interrupted, UsageError } from "../frame/failures.ts";
import { argument, countFlag, exactly, jsonFlags, textFlag } from "../frame/parameters.ts";
import { recorder } from "../record/record.ts";
import { createRecording, readRecording } from "../record/recording.ts";
import { replayer } from "../record/replay.ts";
import { serveHere } from "../record/serve.ts";

interface Flags {
  readonly json?: boolean;
  readonly port?: number;
}

const serveFlags = { ...jsonFlags, port: countFlag("Port on this machine; a free one by default") } as const;
const positional = exactly(argument("File of the recording", "FILE"));

/** @throws UsageError for what is not the address of a server */
function originOf(target: string | undefined): string {
  const url = URL.parse(target ?? "");
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== "" ||
    url.pathname !== "/" ||
    url.search !== ""
  )
    throw new UsageError("--target: must be the address of a server, such as https://api.example.com");
  return url.origin;
}

/** Serves until Ctrl-C. @throws CommandError `interrupted` then */
async function serve(
  { context, print }: Cli,
  { port = 0 }: Flags,
  make: (origin: () => string) => Parameters<typeof serveHere>[2],
): Promise<void> {
  const ended = new AbortController();
  const stopWaiting = context.onInterrupt(() => ended.abort());
  let origin = "";
  const handle = make(() => origin);
  await serveHere(port, ended.signal, handle, (address) => {
    origin = address;
    print.result({ base_url: address }, () => `ATP_URL=${address}`);
  }).finally(stopWaiting);
  throw interrupted();
}

export const record = command({
  brief: "Record the calls to a server in a file, for tests without it",
  examples: [
    "atp record --target https://api.example.com calls.jsonl",
    "atp record --target http://localhost:8080 --port 8091 calls.jsonl",
  ],
  about:
    "It serves on this machine and sends each call to the server. Let a client use the address that it writes; Ctrl-C ends it. The file has the calls of v2 and v1 with their answers, also streams, and none of their credentials: no header of a request, and no member or parameter that is named as a secret.",
  parameters: { flags: { ...serveFlags, target: textFlag("Address of the server", "URL") }, positional },
  run: async (cli: Cli, flags: Flags & { readonly target?: string }, file: string) => {
    const target = originOf(flags.target);
    const write = createRecording(file);
    const note = (text: string) => cli.print.note(text);
    await serve(cli, flags, (origin) => recorder({ target, fetch: cli.context.fetch, origin, write, note }));
  },
});

export const replay = command({
  brief: "Answer calls from a file of atp record",
  examples: ["atp replay calls.jsonl"],
  about:
    "Equal calls get their answers in the recorded order; the last answer of a read is repeated. Ids may differ: those of the client take the place of the recorded ones. A call that the file does not have is answered with 501 and written to standard error. Credentials are not checked.",
  parameters: { flags: serveFlags, positional },
  run: async (cli: Cli, flags: Flags, file: string) => {
    const exchanges = readRecording(file);
    await serve(cli, flags, (origin) => replayer(exchanges, origin, (text) => cli.print.note(text)));
  },
});
