import { randomInt } from "node:crypto";
import type { Installed } from "../installed.ts";
import type { Contender } from "../load.ts";
import type { Seeded } from "../seed.ts";
import type { Server } from "../servers.ts";

type Answer = Readonly<Record<string, unknown>>;

/** A contender that posts one body after the other; `check` refuses an answer that is not what was asked for. */
export const posting = (
  name: string,
  server: Server,
  { path, body, check }: { readonly path: string; readonly body: () => unknown; readonly check: (answer: Answer) => boolean },
): Contender => ({
  name,
  pid: server.pid,
  async call() {
    const answer = await server.post(path, body());
    if (!check(answer)) throw new Error(`${name}: ${path} answered ${JSON.stringify(answer)}`);
  },
});

/** Any of the tasks that the caller has. */
export const anyTask = ({ taskIds }: Seeded): string => taskIds[randomInt(taskIds.length)] ?? "";

/** What a floor is told of its caller: it looks no credential up. */
export const asked = ({ owner }: Installed, taskId = "") => ({
  task_id: taskId,
  account_id: owner.accountId,
  space_id: owner.spaceId,
  digest: owner.digest,
});

/** Whether an answer's member is a list of so many. */
export const lists = (value: unknown, length: number): boolean => Array.isArray(value) && value.length === length;
