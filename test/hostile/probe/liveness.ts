import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** One question to both servers; times are in milliseconds. */
export interface Sample {
  /** Unix time when both were asked. */
  readonly begun: number;
  /** Until `/livez` was answered; infinite when it was not. */
  readonly server: number;
  /** Until the control server answered, asked at the same moment. */
  readonly control: number;
  /** Meanwhile, how long the server's main thread was ready to run without a processor. */
  readonly waited: number;
}

/** Asks `/livez` from another process, all the time. */
export interface Liveness extends Disposable {
  /** The median of `/livez` over the next samples, in milliseconds. To be asked while nothing else goes on. */
  idle(): Promise<number>;
  /** Waits for an answer to a question that is asked after now, and gives all samples since the last call. */
  since(): Promise<readonly Sample[]>;
}

/**
 * How much later `/livez` was answered than it had to be, in milliseconds. The rest of a sample is the noise of the machine:
 * the control server was as slow, or the server's thread was kept off the processor.
 */
export const excessOf = ({ server, control, waited }: Sample, idle: number): number =>
  Math.max(0, server - Math.max(control, idle) - waited);

const idleSamples = 40;

const start = (file: string, ...args: readonly (string | number)[]): ChildProcess =>
  fork(fileURLToPath(new URL(file, import.meta.url)), args.map(String), { execArgv: [] });

/** Starts a prober of the server and the control server that it is compared with, each in a process of its own. */
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
