import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Json, JsonObject } from "../../src/core/json.ts";
import type { World } from "./world.ts";

/** What a task has delivered, for its checker. */
export interface Delivered {
  /** The agent's last message. */
  readonly text: string;
  /** Its last messages of the turns before, oldest first. */
  readonly earlier: readonly string[];
  /** The structured value; null without a schema, and when there is none. */
  readonly value: Json;
  /** The delivered files by name; of equal names the newest. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** Reads a path of the published website; null when there is no website. */
  readonly site: ((path: string) => Promise<{ readonly status: number; readonly text: string }>) | null;
  /** The acts that the task requested and the policy refused: a tool's name, or the kind of the approval. */
  readonly refused: readonly string[];
}

/** What `check.ts` of a task exports: its world, and a checker that throws when the job is not done. */
export interface Checked<W extends World = World> {
  open(): Promise<W>;
  check(delivered: Delivered, world: W): void | Promise<void>;
}

/** Types a checker by its world. Without `open` the task has only its static inputs. */
export function defineTask<W extends World>(task: Checked<W>): Checked<W>;
export function defineTask(task: Pick<Checked, "check">): Checked;
export function defineTask(task: Pick<Checked, "check"> & Partial<Checked>): Checked {
  return { open: async () => ({ vars: {}, [Symbol.asyncDispose]: async () => undefined }), ...task };
}

/** What a task may need that is not in each release. */
export type Need = "computer" | "browser" | "office";
/** What agents of this release have of it. */
export const available: ReadonlySet<Need> = new Set();

/** A folder of `eval/`. */
export interface EvalTask {
  /** From 1. */
  readonly number: number;
  /** The folder's name. */
  readonly name: string;
  readonly folder: string;
  /** One line on what the task measures. */
  readonly title: string;
  readonly needs: Need | null;
  /** Names of tools, and kinds of approvals, that the policy approves. */
  readonly approves: readonly string[];
  /** Has `{{name}}` for a value of the world. */
  readonly prompt: string;
  readonly schema: JsonObject | null;
  /** The files of the message: those of `fixtures/inputs`. */
  readonly inputs: Readonly<Record<string, Buffer>>;
  readonly checked: Checked;
}

const home = fileURLToPath(new URL("..", import.meta.url));

/** All tasks in order. */
export async function loadTasks(): Promise<readonly EvalTask[]> {
  const names = (await readdir(home)).filter((name) => /^\d\d-/.test(name)).toSorted();
  return Promise.all(names.map(loadTask));
}

async function loadTask(name: string): Promise<EvalTask> {
  const folder = join(home, name);
  const text = await readFile(join(folder, "prompt.md"), "utf8");
  const [, head = "", prompt = ""] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? [];
  const members = new Map(head.split("\n").map((line) => line.split(": ", 2) as [string, string]));
  const schema = await readFile(join(folder, "fixtures/schema.json"), "utf8").catch(() => null);
  const { default: checked } = await import(pathToFileURL(join(folder, "check.ts")).href);
  return {
    number: Number(name.slice(0, 2)),
    ...{ name, folder, checked },
    title: members.get("title") ?? "",
    needs: (members.get("needs") as Need | undefined) ?? null,
    approves: members.get("approves")?.split(", ") ?? [],
    prompt: prompt.trim(),
    schema: schema === null ? null : JSON.parse(schema),
    inputs: await readInputs(join(folder, "fixtures/inputs")),
  };
}

async function readInputs(folder: string): Promise<Readonly<Record<string, Buffer>>> {
  const names = await readdir(folder).catch(() => []);
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name))])),
  );
}
