import { execFile, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { median } from "./statistics.ts";

const rounds = 5;
const root = fileURLToPath(new URL("..", import.meta.url));
const port = 18_400;
const url = `http://127.0.0.1:${port}`;

/** Files of tests: of pure code, of an operation on SQLite, and of the store on both databases. */
const files = {
  pure: "test/core/ids.test.ts",
  operation: "test/projects/create.test.ts",
  postgresql: "test/store/rows/counter.test.ts",
};

/** Saved changes of a checkout: the text that is replaced, and what an answer has then. */
const saves = {
  ts: {
    file: "src/http/health.ts",
    from: 'send("ok\\n")',
    to: 'send("okay\\n")',
    path: "/livez",
    answers: "okay",
  },
  tsx: {
    file: "console/src/shell/shell.tsx",
    from: "Skip to content",
    to: "Go to content",
    path: "/src/shell/shell.tsx",
    answers: "Go to",
  },
  proto: {
    file: "proto/project/v2/project_service.proto",
    from: "max_len: 255",
    to: "max_len: 254",
    path: "/v2/project.create",
    answers: "at most 254",
  },
};
type Save = (typeof saves)[keyof typeof saves];

/** Milliseconds, each the median of its rounds. */
type LoopFigures = Readonly<Record<keyof typeof files | keyof typeof saves, number>>;

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

async function medianOf(work: () => Promise<number>): Promise<number> {
  const samples: number[] = [];
  for (let round = 0; round < rounds; round += 1) samples.push(await work());
  return Math.round(median(samples));
}

/** A copy of the checkout, whose files are saved. */
function copyOf(folder: string): void {
  const copies = [
    `git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents --no-dereference -t ${folder}`,
    `cp -al node_modules .setup ${folder}`,
    `cp -a src/gen ${folder}/src/gen`,
    // The files that the set-up writes and git does not have.
    `cd ${folder} && node scripts/setup.mjs --tests 2>/dev/null`,
  ];
  execFileSync("bash", ["-ec", copies.join("\n")], { cwd: root });
}

async function answer(folder: string, { path }: Save): Promise<string> {
  if (!path.startsWith("/v2/")) return (await fetch(`${url}${path}`)).text();
  const headers = { "x-service-api-key": readFileSync(join(folder, ".dev/key"), "utf8").trim() };
  return (
    await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify({ name: "x".repeat(300) }) })
  ).text();
}

/** Vite does not see a second save of a file within a few milliseconds. */
const betweenSavesMs = 500;

/** Saves a change, waits until it is answered, and the same back. Resolves with the time of the first. */
async function measureSave(folder: string, save: Save): Promise<number> {
  const path = join(folder, save.file);
  const source = readFileSync(path, "utf8");
  const until = async (isNew: boolean) => {
    while ((await answer(folder, save)).includes(save.answers) !== isNew) await delay(10);
  };
  writeFileSync(path, source.replace(save.from, save.to));
  const time = await timed(() => until(true));
  await delay(betweenSavesMs);
  writeFileSync(path, source);
  await until(false);
  await delay(betweenSavesMs);
  return time;
}

/** Measures what a contributor waits for: a file of tests, and a saved file under `npm run dev`. */
export async function runLoop(print: (text: string) => void): Promise<LoopFigures> {
  const run = (file: string) => () =>
    timed(() => promisify(execFile)(join(root, "node_modules/.bin/vitest"), ["run", file], { cwd: root }));
  const tests = {
    pure: await medianOf(run(files.pure)),
    operation: await medianOf(run(files.operation)),
    postgresql: await medianOf(run(files.postgresql)),
  };
  const folder = mkdtempSync(join(tmpdir(), "loop-"));
  copyOf(folder);
  const dev = spawn(process.execPath, ["scripts/dev/main.ts"], {
    cwd: folder,
    env: { ...process.env, PORT: `${port}` },
    stdio: ["ignore", "ignore", "pipe"],
  });
  try {
    await new Promise((resolve) =>
      dev.stderr.on(
        "data",
        (chunk: Buffer) => chunk.includes("API key               in") && resolve(undefined),
      ),
    );
    const measure = (save: Save) => medianOf(() => measureSave(folder, save));
    const figures = {
      ...tests,
      ts: await measure(saves.ts),
      tsx: await measure(saves.tsx),
      proto: await measure(saves.proto),
    };
    print(
      `vitest run: a pure file ${figures.pure} ms, an operation ${figures.operation} ms, both databases ${figures.postgresql} ms`,
    );
    print(`npm run dev: a saved .ts ${figures.ts} ms, .tsx ${figures.tsx} ms, .proto ${figures.proto} ms`);
    return figures;
  } finally {
    dev.kill("SIGTERM");
    await text(dev.stderr);
    rmSync(folder, { recursive: true, force: true });
  }
}
