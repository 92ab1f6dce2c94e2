import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { TestDatabase } from "../support/database.ts";
import { sample } from "../support/depth.ts";
import { runDirectly } from "../support/direct.ts";
import { checkAnswered } from "../support/invariants.ts";
import { testMs } from "../support/patience.ts";
import { sampledTest } from "../support/sampled.ts";
import type { V2Reply } from "../support/wires.ts";
import { eventually, installation, type Server, type User, userOf } from "./server.ts";

const test = sampledTest(3);

const rounds = sample(5, 2);
const many = sample(50, 10);
const shortSleeps = fileURLToPath(new URL("inside/short-sleeps.ts", import.meta.url));
const inStorm = sample(20, 10);

/** A user's requested task, with the key for retries. */
interface Wish {
  readonly key: string;
  readonly text: string;
  /** The follow-up, if there is one. */
  readonly next: string;
  /** The task, once its creation was acknowledged. */
  id?: string;
  /** The follow-up was acknowledged. */
  followed: boolean;
}

/** Tasks that run when the server is killed. */
const long = [
  (name: string) => `[[say ${name} one]] [[sleep 20]] [[say ${name} two]]`,
  (name: string) => `[[say ${name} one]] [[say ${name} two]] [[sleep 20]]`,
  (name: string) => `[[sleep 20]] [[say ${name} one]]`,
];
/** Tasks that start and end in the storm. */
const short = [
  (name: string) => `${name}: sort the post. Then answer it.`,
  (name: string) => `[[say ${name} one]] [[crash]] [[say ${name} two]]`,
];

const wishes = (round: number, kinds: readonly ((name: string) => string)[], count: number): Wish[] =>
  Array.from({ length: count }, (_, i) => {
    const name = `r${round}k${kinds.length}t${i}`;
    return {
      key: `wish-${name}`,
      text: kinds[i % kinds.length]?.(name) ?? name,
      next: i % 2 ? `[[say ${name} three]]` : "",
      followed: false,
    };
  });

async function create(user: User, wish: Wish): Promise<string> {
  const { body } = await user.call(
    "task.create",
    { message: { content: wish.text } },
    { "idempotency-key": wish.key },
  );
  wish.id ??= String(acknowledged(body)["task_id"]);
  return wish.id;
}

/** Sends requests that are not acknowledged so far; a call that is cut off stays unacknowledged. */
async function ask(user: User, wish: Wish): Promise<void> {
  const id = wish.id ?? (await create(user, wish));
  if (wish.next === "" || wish.followed) return;
  const message = { task_id: id, message: { content: wish.next } };
  acknowledged(
    (await user.call("task.sendMessage", message, { "idempotency-key": `${wish.key}-then` })).body,
  );
  wish.followed = true;
}

function acknowledged(body: V2Reply["body"]): V2Reply["body"] {
  if (!body.ok) throw new Error(JSON.stringify(body));
  return body;
}

/** Sends all requests at once, and kills the server when this many were answered. */
async function killWhileAsking(
  server: Server,
  user: User,
  asking: readonly Wish[],
  after: number,
): Promise<void> {
  let answered = 0;
  const enough = Promise.withResolvers<void>();
  const count = () => {
    answered += 1;
    if (answered >= after) enough.resolve();
  };
  const requests = asking.map((wish) => ask(user, wish).then(count, () => undefined));
  await enough.promise;
  await server.end("SIGKILL");
  await Promise.all(requests);
}

test(`acknowledged changes survive ${rounds} kills, and every task ends`, {
  timeout: testMs + rounds * 60_000,
}, async () => {
  using place = installation();
  const rows = async (where: string) => {
    const [row] = await runDirectly(database, `SELECT COUNT(*) AS n FROM task WHERE ${where}`);
    return Number(row?.["n"]);
  };
  const database: TestDatabase = {
    kind: "sqlite",
    url: `file:${join(place.dataDir, "platform.db")}`,
    [Symbol.asyncDispose]: async () => undefined,
  };
  const all: Wish[] = [];
  let server = await place.start();
  const key = await place.key();
  for (let round = 0; round < rounds; round += 1) {
    const running = wishes(round, long, many);
    const storm = wishes(round, short, inStorm);
    all.push(...running, ...storm);
    const user = userOf(server, key);
    await Promise.all(running.map((wish) => create(user, wish)));
    // Each kill a little later in the storm.
    await killWhileAsking(
      server,
      user,
      [...running.filter(({ next }) => next !== ""), ...storm],
      5 + round * 7,
    );
    expect(await rows("status = 'running'"), "tasks that ran when it was killed").toBeGreaterThanOrEqual(
      many,
    );
    // Tasks sleep long only in rounds with kills.
    server = await place.start(round === rounds - 1 ? { preloads: [shortSleeps] } : {});
  }

  const cutOff = all.filter(({ id, next, followed }) => id === undefined || (next !== "" && !followed));
  expect(cutOff.length, "calls that were cut off").toBeGreaterThan(0);
  const user = userOf(server, key);
  await Promise.all(cutOff.map((wish) => ask(user, wish)));
  expect(new Set(all.map(({ id }) => id)).size, "one task per key").toBe(all.length);
  expect(await rows("last_seq > 0"), "and none without").toBe(all.length);

  for (const { id = "", text, next } of all) {
    await eventually(`task ${id} ends`, async () => (await user.status(id)) !== "running");
    const task = await user.readTask(id);
    checkAnswered(task);
    expect(task.status).toBe("stopped");
    const messages = task.events.filter(({ type }) => type === "user_message").map((event) => event.text);
    expect(messages).toEqual(next === "" ? [text] : [text, next]);
    const said = task.events.flatMap((event) =>
      event.type === "assistant_message" ? (event.text ?? []) : [],
    );
    for (const [, wanted] of `${text}${next}`.matchAll(/\[\[say (.*?)\]\]/g)) {
      expect(
        said.filter((words) => words === wanted),
        `${id} says ${wanted} once`,
      ).toHaveLength(1);
    }
  }
  expect((await server.end("SIGTERM")).code).toBe(0);
});
