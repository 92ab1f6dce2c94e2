// Runs the tasks of the evaluation with a model, and reports how well it did them (eval/README.md).
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openPlatform } from "./support/platform.ts";
import { keepReport, type Row, reportOf } from "./support/report.ts";
import { type Result, runTask } from "./support/run.ts";
import { available, type EvalTask, loadTasks } from "./support/task.ts";

const { model, task, runs, files } = parseArgs({
  options: {
    model: { type: "string" },
    task: { type: "string" },
    runs: { type: "string", default: "3" },
    files: { type: "string" },
  },
}).values;
if (!model || process.env["MODELS_FILE"] === undefined)
  throw new Error(
    "use: MODELS_FILE=FILE npm run eval -- --model NAME [--task N] [--runs 3] [--files FOLDER]",
  );

/** Keeps what a run has delivered, for the rubrics. */
async function keep(
  { name }: EvalTask,
  run: number,
  { delivered: { files: all, text } }: Result,
): Promise<void> {
  if (files === undefined) return;
  const folder = join(files, name, String(run));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "answer.md"), text);
  // The names are those of the model: the platform refuses separators in them.
  for (const [filename, content] of all) await writeFile(join(folder, `file-${filename}`), content);
}

const env = { ...process.env, AGENT_PROFILES: `manus-1.6=model:${model}` };
const all = await loadTasks();
const chosen = all.filter(({ number }) => task === undefined || number === Number(task));
const rows: Row[] = [];
for (const each of chosen) {
  const results: Result[] = [];
  rows.push({ task: each, results });
  if (each.needs !== null && !available.has(each.needs)) continue;
  for (let run = 1; run <= Number(runs); run += 1) {
    // A run has its own server, so that no run knows what another has done.
    await using platform = await openPlatform(env);
    const result = await runTask(each, platform);
    results.push(result);
    await keep(each, run, result);
    console.info(`${each.name} run ${run}: ${result.fault ?? "passed"}`);
  }
}
const report = reportOf(model, rows);
console.info(report);
if (task === undefined) await keepReport(model, report);
