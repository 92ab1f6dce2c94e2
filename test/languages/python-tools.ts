import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { lacks } from "../support/needs.ts";
import { allOnPath, pythonWith } from "../support/tools.ts";
import { protoFiles, protoFolder } from "./proto-files.ts";

const run = promisify(execFile);
const scripts = fileURLToPath(new URL("python", import.meta.url));

/** Whether this machine cannot make Python's stubs: then tests of them are skipped. */
export const lacksStubs: boolean = lacks("protoc", "python-grpc");

/** Generated stubs, in a folder of their own. */
export interface Stubs extends Disposable {
  /** What a script of `python/` prints, with the stubs at hand. @throws Error with what it says when it fails. */
  run(script: string, env?: Readonly<Record<string, string>>): Promise<string>;
}

/** Python's stubs of the whole of proto/, as protoc makes them: where nothing is missing (`lacksStubs`). */
export async function pythonStubs(): Promise<Stubs> {
  const [python = "python3", [plugin]] = [await pythonWith("grpc, google.protobuf"), allOnPath("grpc_python_plugin")];
  const folder = mkdtempSync(join(tmpdir(), "stubs-"));
  const plugins = [`--plugin=protoc-gen-grpc_python=${plugin}`, `--python_out=${folder}`, `--grpc_python_out=${folder}`];
  const { PATH = "" } = process.env;
  await run("protoc", [`-I${protoFolder}`, ...plugins, ...protoFiles]);
  return {
    // Nothing of this process's environment: a proxy for instance would be used.
    run: async (script, env = {}) => (await run(python, ["-B", join(scripts, script)], { env: { PATH, STUBS: folder, ...env } })).stdout,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}
