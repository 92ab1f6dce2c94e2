import { execFile } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { protoFiles, protoFolder } from "./proto-files.ts";

const run = promisify(execFile);
const scripts = fileURLToPath(new URL("python", import.meta.url));

/** Generated stubs, in a folder of their own. */
export interface Stubs extends Disposable {
  /** What a script of `python/` prints, with the stubs at hand. @throws Error with what it says when it fails. */
  run(script: string, env?: Readonly<Record<string, string>>): Promise<string>;
}

/**
 * Python's stubs of the whole of proto/, as protoc makes them.
 *
 * @throws Error naming what is missing on this machine.
 */
export async function pythonStubs(path = process.env["PATH"] ?? ""): Promise<Stubs> {
  const python = await pythonWithGrpc(path);
  const [protoc, plugin] = [onPath("protoc", path), onPath("grpc_python_plugin", path)];
  const folder = mkdtempSync(join(tmpdir(), "stubs-"));
  const plugins = [`--plugin=protoc-gen-grpc_python=${plugin}`, `--python_out=${folder}`, `--grpc_python_out=${folder}`];
  await run(protoc, [`-I${protoFolder}`, ...plugins, ...protoFiles]).catch((thrown: unknown) => {
    rmSync(folder, { recursive: true });
    throw /google\/protobuf\/\S+ File not found/.test(String(thrown)) ? missing("protoc's google/protobuf") : thrown;
  });
  return {
    // Nothing of this process's environment: a proxy for instance would be used.
    run: async (script, env = {}) =>
      (await run(python, ["-B", join(scripts, script)], { env: { PATH: path, STUBS: folder, ...env }, timeout: 25_000 })).stdout,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  };
}

const missing = (what: string): Error =>
  new Error(`${what} is missing: apt-get install python3-grpcio protobuf-compiler protobuf-compiler-grpc libprotobuf-dev, as .ci/run does`);

/** The first Python that has gRPC: Debian's packages are for Debian's Python, which need not come first. */
async function pythonWithGrpc(path: string): Promise<string> {
  for (const python of ["python3", "/usr/bin/python3"]) {
    const works = await run(python, ["-c", "import grpc, google.protobuf"], { env: { PATH: path } }).then(
      () => true,
      () => false,
    );
    if (works) return python;
  }
  throw missing("Python with gRPC");
}

function onPath(program: string, path: string): string {
  for (const folder of path.split(delimiter)) {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return join(folder, program);
    } catch {
      // It may be in the next one.
    }
  }
  throw missing(program);
}
