import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** One request to both servers; times are in milliseconds. */
export interface Sample {
  /** Unix time of both requests. */
  readonly begun: number;
  /** Time until the answer to `/livez`; infinite without one. */
  readonly server: number;
  /** Time until the control server's answer to the simultaneous request. */
  readonly control: number;
  /** How long the server's main thread was ready to run without a processor in this time. */
  readonly waited: number;
}

/** Requests `/livez` continuously from another process. */
export interface Liveness extends Disposable {
  /** The median of `/livez` over the next samples, in milliseconds. Call it only while the server is idle. */
  idle(): Promise<number>;
  /** Waits for the answer to a request that starts after now, and returns all samples since the last call. */
  since(): Promise<readonly Sample[]>;
}

/**
 * The excess delay of `/livez`, in milliseconds. The rest of a sample is the noise of the machine:
 * the control server was as slow, or the server's thread had no processor.
 */
export const excessOf = ({ server, control, waited }: Sample, idle: number): number =>
  Math.max(0, server - Math.max(control, idle) - waited);

const idleSamples = 40;

const start = (file: string, ...args: readonly (string | number)[]): ChildProcess =>
  fork(fileURLToPath(new URL(file, import.meta.url)), args.map(String), { execArgv: [] });

/** Starts a prober of the server and of the control server, each in a separate process. */
export async function watchLiveness(port: number, pid: number): Promise<Liveness> {
  const control = start("./control.ts");
  const [controlPort] = await once(control, "message");
  const prober = start("./prober.ts", port, controlPort, pid);
  let samples: Sample[] = [];
  prober.on("message", (sample: Sample) => samples.push(sample));

  async function since(): Promise<readonly Sample[]> {
    const now = Date.now();
    while ((samples.at(-1)?.begun ?? 0) <= now) await once(prober, "message");
    const taken = samples;
    samples = [];
    return taken;
  }

  return {
    since,
    async idle() {
      const taken = [...(await since())];
      while (taken.length < idleSamples) taken.push(...(await since()));
      const times = taken.map(({ server }) => server).toSorted((a, b) => a - b);
      return times[Math.floor(times.length / 2)] ?? 0;
    },
    [Symbol.dispose]() {
      prober.kill("SIGKILL");
      control.kill("SIGKILL");
    },
  };
}
