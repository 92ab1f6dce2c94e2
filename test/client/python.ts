import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "../support/server-process.ts";
import { pythonWith } from "../support/tools.ts";

/** What a call of Python takes or returns: JSON, or an object there (`$ref`). */
type Value = unknown;
type Arguments = Readonly<Record<string, Value>>;

/** A number of an object in the Python process. */
export interface Ref {
  readonly $ref: number;
}

export interface Call {
  readonly args?: readonly Value[];
  readonly kwargs?: Arguments;
}

/** A Python process with the package. `test/client/driver.py` has its commands. */
export interface Python extends AsyncDisposable {
  /**
   * Makes a client. `rewrites` opens addresses that begin with the first one at the second one; `still` does
   * not pause, and records pauses.
   */
  make(
    name: string,
    kwargs: Arguments & { readonly still?: boolean },
    rewrites?: readonly [string, string],
  ): Promise<Ref>;
  /** Calls a method, or with `undefined` a function of the package. @throws PythonError */
  do(on: Ref | undefined, path: string, call?: Call): Promise<Value>;
  /** Calls a method, and leaves its result there without awaiting it. */
  keep(on: Ref, path: string, call?: Call): Promise<Ref>;
  /** What a method yields, at most `most`. */
  all(on: Ref, path: string, call?: Call, most?: number): Promise<Value>;
  /** The bytes of a download. */
  bytes(on: Ref, path: string, call?: Call): Promise<Buffer>;
  /** What a log has. */
  read(ref: Ref): Promise<Value>;
  /** Keeps a callback, for a parameter. */
  log(): Promise<Ref>;
}

/** An error of Python, with its attributes in the spelling of TypeScript. */
export class PythonError extends Error {
  constructor({ name, message, ...fields }: Readonly<Record<string, unknown>>) {
    super(String(message));
    for (const [field, value] of Object.entries(fields)) Object.assign(this, { [camel(field)]: value });
    // Python has errors with these names.
    this.name = String(name).replace(/^Api(Connection|Timeout)/, "$1");
  }
}

const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

export async function openPython(): Promise<Python> {
  const python = pythonWith("httpx, cryptography");
  if (python === undefined) throw new Error("there is no Python with httpx");
  const env = {
    PATH: process.env["PATH"],
    PYTHONPATH: join(root, "packages/python/src"),
    PYTHONDONTWRITEBYTECODE: "1",
  };
  const child: ChildProcess = spawn(python, [join(root, "test/client/driver.py")], {
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const waiting = new Map<number, PromiseWithResolvers<Value>>();
  let number = 0;
  createInterface({ input: child.stdout ?? process.stdin }).on("line", (line) => {
    const { id, value, error } = JSON.parse(line);
    const { resolve, reject } = waiting.get(id) ?? Promise.withResolvers<Value>();
    waiting.delete(id);
    if (error === undefined) resolve(value);
    else reject(new PythonError(error));
  });
  child.once("exit", () => {
    for (const { reject } of waiting.values()) reject(new Error("the driver has ended"));
  });

  function send(command: object): Promise<Value> {
    number += 1;
    const answer = Promise.withResolvers<Value>();
    waiting.set(number, answer);
    child.stdin?.write(`${JSON.stringify({ id: number, ...command })}\n`);
    return answer.promise;
  }
  const target = (on: Ref | undefined, path: string, call: Call = {}) => ({
    ...(on ? { on: on.$ref } : {}),
    path,
    ...call,
  });

  return {
    make: async (make, kwargs, rewrites) =>
      (await send({ make, kwargs, ...(rewrites ? { rewrites } : {}) })) as Ref,
    do: (on, path, call) => send(target(on, path, call)),
    keep: async (on, path, call) => (await send({ ...target(on, path, call), lazy: true })) as Ref,
    all: (on, path, call, most = 1_000_000) => send({ ...target(on, path, call), all: most }),
    bytes: async (on, path, call) =>
      Buffer.from(String(await send({ ...target(on, path, call), whole: true })), "hex"),
    read: ({ $ref }) => send({ read: $ref }),
    log: async () => (await send({ make: "Log", kwargs: {} })) as Ref,
    async [Symbol.asyncDispose]() {
      child.stdin?.end();
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
}
