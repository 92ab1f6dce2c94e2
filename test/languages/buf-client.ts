import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { root } from "../support/server-process.ts";
import { type Answers, type Method, Refused, type StoryClient } from "./story.ts";

const run = promisify(execFile);

/** Wire protocols of `buf curl`; it finds methods and messages by reflection, which needs HTTP/2. */
export const bufProtocols = ["grpc", "grpcweb", "connect"] as const;
export type BufProtocol = (typeof bufProtocols)[number];

/** The output of `buf curl`, which has no access to proto/. */
export async function bufCurl(protocol: BufProtocol, ...args: string[]): Promise<string> {
  return (await run(buf, [...argumentsOf(protocol), ...args])).stdout;
}

const buf = `${root}node_modules/.bin/buf`;
const argumentsOf = (protocol: BufProtocol) => ["curl", "--protocol", protocol, "--http2-prior-knowledge"];

/** Calls from a shell script: a process for each call, JSON in and out. */
export function bufClient(protocol: BufProtocol, url: string, key: string): StoryClient {
  const argumentsFor = (method: string, request: object) => [
    ...["--header", `x-service-api-key: ${key}`, "--data", JSON.stringify(request)],
    `${url}/task.v2.TaskService/${method}`,
  ];

  return {
    async call<M extends Method>(method: M, request: object) {
      const printed = await bufCurl(protocol, ...argumentsFor(method, request)).catch(({ stderr }) =>
        refuse(stderr),
      );
      return JSON.parse(printed) as Answers[M];
    },

    async *watch(request) {
      // npm's `buf` only starts the real program, which outlives it; both end as a process group.
      const child = spawn(buf, [...argumentsOf(protocol), ...argumentsFor("WatchTask", request)], {
        detached: true,
      });
      const [errorText, ended] = [text(child.stderr), once(child, "close")];
      try {
        yield* messagesIn(child);
        const [exitCode] = await ended;
        if (exitCode !== 0) refuse(await errorText);
      } finally {
        if (child.exitCode === null && child.pid) process.kill(-child.pid);
        await ended;
      }
    },
  };
}

/** Each answer is printed over several lines; the last line is a single brace. */
async function* messagesIn({
  stdout,
}: {
  readonly stdout: NodeJS.ReadableStream;
}): AsyncGenerator<Answers["WatchTask"]> {
  let message = "";
  for await (const line of createInterface({ input: stdout })) {
    message += line;
    if (line !== "}") continue;
    yield JSON.parse(message) as Answers["WatchTask"];
    message = "";
  }
}

function refuse(stderr: string): never {
  throw refusalIn(stderr);
}

/** `buf curl` prints the error last, in Connect's JSON form, over several lines. */
export function refusalIn(stderr: string): Refused {
  const [printed = "{}"] = /^\{.*\}\s*$/ms.exec(stderr) ?? [];
  const { code = "", message = stderr } = JSON.parse(printed) as {
    readonly code?: string;
    readonly message?: string;
  };
  return new Refused(code.toUpperCase(), message);
}
