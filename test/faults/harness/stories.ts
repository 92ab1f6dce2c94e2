import { setTimeout as delay } from "node:timers/promises";
import type { Answer, Caller } from "./caller.ts";
import { count, patienceMs } from "./caller.ts";
import { begins, planned, type ShownEvent, say, think, use } from "./events.ts";
import type { TaskRecord } from "./model.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { Unexpected } from "./violation.ts";

/** The inputs of a story. */
export interface StoryContext {
  readonly caller: Caller;
  readonly dice: SeededRandom;
  readonly task: TaskRecord;
  /** Called once the task exists. */
  readonly created: (id: string) => void;
}

/** The actions of a user on one task, from its creation to its end. */
export type Story = (teller: StoryContext) => Promise<void>;

/** How long a call is held. */
const holdSeconds = 2;

/** Creates the task, with retries, and adds the expected agent output to the model. */
async function create(
  { caller, task, created }: StoryContext,
  content: string,
  expected: readonly string[],
): Promise<void> {
  const { body } = await caller.settle(
    "task.create",
    { message: { content } },
    { key: `${task.name}-create` },
  );
  known({ task, created }, body["task_id"]);
  recordMessage(task, content, expected);
  count(caller.tally, "tasks");
}

/** The same key must always have created the same task. */
function known({ task, created }: Pick<StoryContext, "task" | "created">, id: string): void {
  if (task.id !== undefined && task.id !== id)
    throw new Unexpected(`one key made two tasks: ${task.id} and ${id}`);
  if (task.id !== undefined) return;
  task.id = id;
  created(id);
}

function recordMessage(task: TaskRecord, content: string, expected: readonly string[]): void {
  task.messages.push(content);
  task.segments.at(-1)?.push(...expected);
}

async function send(
  { caller, task }: StoryContext,
  content: string,
  expected: readonly string[],
): Promise<void> {
  const key = `${task.name}-message-${task.messages.length}`;
  await caller.settle("task.sendMessage", { task_id: task.id, message: { content } }, { key });
  recordMessage(task, content, expected);
  count(caller.tally, "messages");
}

async function stop({ caller, task }: StoryContext): Promise<void> {
  await caller.settle("task.stop", { task_id: task.id }, { key: `${task.name}-stop` });
  task.segments.push([]);
  count(caller.tally, "stops");
}

/** Waits until the task has this status. */
async function until({ caller, task }: Pick<StoryContext, "caller" | "task">, wanted: string): Promise<void> {
  for (const begun = performance.now(); ; ) {
    const { body } = await caller.settle("task.detail", { task_id: task.id, wait_seconds: holdSeconds });
    if (body["task"].status === wanted) return;
    const late = performance.now() - begun > patienceMs;
    if (late || body["task"].status !== "running")
      throw new Unexpected(`waits to be ${wanted}, and is ${body["task"].status}`);
  }
}

/** Several events, so that a fault can occur between any two. */
const steady: Story = async (teller) => {
  const { dice, task } = teller;
  const n = task.name;
  const content = `[[say ${n} 1]] [[think ${n} 2]] [[sleep ${dice.between(0.1, 2).toFixed(1)}]] [[tool ${n}]] [[say ${n} 3]]`;
  await create(teller, content, [say(`${n} 1`), think(`${n} 2`), use(n, "success"), say(`${n} 3`)]);
  for (let i = 4; dice.chance(0.5); i += 1) {
    await delay(dice.between(0, 800));
    await send(teller, `[[say ${n} ${i}]] [[sleep 0.2]] [[say ${n} ${i}b]]`, [
      say(`${n} ${i}`),
      say(`${n} ${i}b`),
    ]);
  }
};

/** Many events, without a rest. */
const chatty: Story = async (teller) => {
  const words = Array.from({ length: 40 }, (_, i) => `${teller.task.name} ${i}`);
  await create(teller, words.map((word) => `[[say ${word}]]`).join(" "), words.map(say));
};

/** A plan, which is resumed in the middle of a step. */
const planning: Story = async (teller) => {
  const n = teller.task.name;
  const content = `[[plan ${n} 1 | ${n} 2]] [[step]] [[sleep 0.5]] [[say ${n} 3]] [[step]] [[sleep 0.5]] [[step]] [[say ${n} 4]]`;
  const first = [planned(["todo", "todo"]), planned(["doing", "todo"]), begins(`${n} 1`), say(`${n} 3`)];
  await create(teller, content, [
    ...first,
    planned(["done", "doing"]),
    begins(`${n} 2`),
    planned(["done", "done"]),
    say(`${n} 4`),
  ]);
};

/** A question and its answer. */
const questionStory: Story = async (teller) => {
  const n = teller.task.name;
  await create(teller, `[[say ${n} 1]] [[ask ${n} 2 | Red | Blue]] [[say ${n} 3]]`, [
    say(`${n} 1`),
    say(`${n} 2`),
  ]);
  await until(teller, "waiting");
  await send(teller, `[[say ${n} 4]]`, [say(`${n} 3`), say(`${n} 4`)]);
};

/** An approval with two concurrent decisions: one of them wins, even if both calls are cut off. */
const approved: Story = async (teller) => {
  const { caller, task } = teller;
  const n = task.name;
  await create(teller, `[[say ${n} 1]] [[confirm terminalExecute]] [[say ${n} 2]]`, [
    say(`${n} 1`),
    use("terminal", "pending_confirmation"),
  ]);
  await until(teller, "waiting");
  const { body } = await caller.settle("task.listMessages", { task_id: task.id, limit: 1 });
  const [{ status_update: status } = {}] = body["messages"] as readonly ShownEvent[];
  const decision = {
    task_id: task.id,
    event_id: status?.status_detail?.waiting_for_event_id,
    input: { accept: true },
  };
  const decide = (rival: number) =>
    caller.settle("task.confirmAction", decision, { key: `${n}-confirm-${rival}`, refusals: [412] });
  const answers = await Promise.all([decide(1), decide(2)]);
  const won = answers.filter(({ status }) => status === 200);
  if (won.length !== 1 || !won.every(consumed))
    throw new Unexpected(`of two rival confirmations ${won.length} were acknowledged`);
  task.segments.at(-1)?.push(use("terminal", "success"), say(`${n} 2`));
  task.confirmations += 1;
  count(caller.tally, "confirmations");
};

const consumed = ({ body }: Answer): boolean => body["confirmed"] === true;

/** A task that never ends is stopped, and continued. */
const stopped: Story = async (teller) => {
  const { dice, task } = teller;
  await create(teller, `[[say ${task.name} 1]] [[forever]]`, [say(`${task.name} 1`)]);
  await delay(dice.between(0, 1_500));
  await stop(teller);
  if (dice.chance(0.5)) await send(teller, `[[say ${task.name} 2]]`, [say(`${task.name} 2`)]);
};

/** Its first run is lost on purpose. */
const crashed: Story = async (teller) => {
  const n = teller.task.name;
  await create(teller, `[[say ${n} 1]] [[crash]] [[say ${n} 2]]`, [say(`${n} 1`), say(`${n} 2`)]);
};

/** Several clients create the same task at once, with one key. */
const concurrentCreation: Story = async (teller) => {
  const { caller, task } = teller;
  const content = `[[say ${task.name} 1]]`;
  const rivals = Array.from({ length: 3 }, () =>
    caller.settle("task.create", { message: { content } }, { key: `${task.name}-create` }),
  );
  for (const { body } of await Promise.all(rivals)) known(teller, body["task_id"]);
  recordMessage(task, content, [say(`${task.name} 1`)]);
  count(caller.tally, "tasks");
  count(caller.tally, "rival creations with one key", rivals.length);
};

/** Sleeps while other tasks are killed. */
const sleepy: Story = async (teller) => {
  const n = teller.task.name;
  await create(
    teller,
    `[[say ${n} 1]] [[sleep 2]] [[say ${n} 2]] [[sleep 2]] [[say ${n} 3]]`,
    [1, 2, 3].map((i) => say(`${n} ${i}`)),
  );
};

/** Waits for its subtasks, of which one waits for its own. */
const waiting: Story = async (teller) => {
  const { dice, task } = teller;
  const n = task.name;
  const seconds = () => dice.between(0.1, 1.5).toFixed(1);
  const nested = `[[subtask [[sleep ${seconds()}]] [[say ${n} a]]]] [[wait all]] [[say ${n} b]]`;
  const content = `[[say ${n} 1]] [[subtask ${nested}]] [[subtask [[sleep ${seconds()}]] [[say ${n} c]]]] [[wait all]] [[say ${n} 2]]`;
  task.subtasks = [
    [use("subtask", "success"), use("wait_for_subtasks", "success"), say(`${n} b`)].join(", "),
    say(`${n} c`),
  ];
  const started = [use("subtask", "success"), use("subtask", "success"), use("wait_for_subtasks", "success")];
  await create(teller, content, [say(`${n} 1`), ...started, say(`${n} 2`)]);
};

/** Is stopped while it waits for a subtask that never ends. */
const stoppedWaiting: Story = async (teller) => {
  const { dice, task } = teller;
  const content = `[[say ${task.name} 1]] [[subtask [[subtask [[forever]]]] [[wait all]]]] [[wait all]]`;
  await create(teller, content, [say(`${task.name} 1`), use("subtask", "success")]);
  await delay(dice.between(0, 1_500));
  await stop(teller);
};

/** By name; the load picks among them evenly. */
export const stories = {
  steady,
  chatty,
  planning,
  asked: questionStory,
  approved,
  stopped,
  crashed,
  hurried: concurrentCreation,
  sleepy,
  waiting,
  stoppedWaiting,
};
