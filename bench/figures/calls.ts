import { randomInt } from "node:crypto";
import type { Installed } from "../installed.ts";
import type { Contender } from "../load.ts";
import type { Seeded } from "../seed.ts";
import type { Server } from "../servers.ts";

type Answer = Readonly<Record<string, unknown>>;

/** A contender that posts bodies sequentially; `check` rejects unexpected responses. */
export const createPoster = (
  name: string,
  server: Server,
  {
    path,
    body,
    check,
  }: { readonly path: string; readonly body: () => unknown; readonly check: (answer: Answer) => boolean },
): Contender => ({
  name,
  pid: server.pid,
  async call() {
    const answer = await server.post(path, body());
    if (!check(answer)) throw new Error(`${name}: ${path} answered ${JSON.stringify(answer)}`);
  },
});

/** A random task of the caller. */
export const anyTask = ({ taskIds }: Seeded): string => taskIds[randomInt(taskIds.length)] ?? "";

/** The caller's data for a floor, which does not look up credentials. */
export const floorInput = ({ owner }: Installed, taskId = "") => ({
  task_id: taskId,
  account_id: owner.accountId,
  space_id: owner.spaceId,
  digest: owner.digest,
});

/** Whether a member of a response is a list with this length. */
export const isListOf = (value: unknown, length: number): boolean =>
  Array.isArray(value) && value.length === length;
