import { fileURLToPath } from "node:url";
import { startPlatform } from "../packages/client/src/testing.ts";

const rounds = 5;
const root = fileURLToPath(new URL("..", import.meta.url));
/** As `./atp` starts it, without its set-up. */
const server = [process.execPath, "--max-semi-space-size=8", `${root}cli/main.ts`];
const env = { NODE_COMPILE_CACHE: `${root}node_modules/.cache/compiled` };

/** The figures of test mode in milliseconds, each the median of its rounds. */
interface TestModeFigures {
  /** From the first call of `startPlatform` to a client that can call. */
  readonly start: number;
  readonly reset: number;
  /** Three days of repeats of one delivery, in one move of the clock. */
  readonly repeats: number;
}

const median = (samples: readonly number[]): number =>
  Math.round(samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)] ?? Number.NaN);

async function timed<T>(work: () => Promise<T>, samples: number[]): Promise<T> {
  const begun = performance.now();
  const result = await work();
  samples.push(performance.now() - begun);
  return result;
}

/** Measures test mode as a test file uses it. */
export async function runTestMode(print: (text: string) => void): Promise<TestModeFigures> {
  const [starts, resets, moves]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round += 1) {
    const platform = await timed(() => startPlatform({ server, env }), starts);
    const receiver = await platform.receiver();
    receiver.respond(500);
    await platform.client.call("task.create", { message: { content: "Hello." } });
    await platform.clock.advance({ seconds: 1 });
    await timed(() => platform.clock.advance({ days: 3 }), moves);
    await timed(() => platform.reset(), resets);
    await receiver.close();
    await platform.stop();
  }
  const figures = { start: median(starts), reset: median(resets), repeats: median(moves) };
  print(
    `startPlatform ${figures.start} ms, reset ${figures.reset} ms, three days of webhook repeats ${figures.repeats} ms`,
  );
  return figures;
}
