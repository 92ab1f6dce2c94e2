import type { Dialect } from "../../src/store/session.ts";
import { type Figure, race } from "../figure.ts";
import type { Installed } from "../installed.ts";
import type { Contender } from "../load.ts";
import { type Server, startFloor, startPlatform } from "../servers.ts";
import { asked, posting } from "./calls.ts";

const concurrency = 32;

/** One slot for runs, taken for ever by the first task: so that creating is measured, and not what agents do after it. */
const busy = { RUN_CONCURRENCY: "1", QUEUE_DEPTH: "1000000" };

const ours = (server: Server): Contender =>
  posting("ours", server, {
    path: "/v2/task.create",
    body: () => ({ message: { content: "[[forever]]" } }),
    check: (answer) => answer["task_id"] !== undefined,
  });

/** A floor that creates one row, or does what its name says. */
export const creatingFloor = (name: string, server: Server, database: Installed, path = "/create"): Contender =>
  posting(name, server, {
    path,
    body: () => asked(database),
    check: (answer) => (answer["id"] ?? answer["task_id"]) !== undefined,
  });

/** The floors of everything that creates, each on a database of its own. */
export const creatingFloors: Readonly<Record<Dialect, readonly (readonly [floor: string, name: string])[]>> = {
  sqlite: [
    ["prisma", "node:http + Prisma create"],
    ["sqlite", "node:http + better-sqlite3 create"],
  ],
  postgresql: [["pg", "node:http + pg, the statements of a create"]],
};

const create = (name: string, dialect: Dialect): Figure =>
  race({
    name,
    concurrency,
    async contenders({ databases, stack }) {
      const platform = stack.use(await startPlatform(await databases.empty(dialect), busy));
      const floors: Contender[] = [];
      for (const [floor, title] of creatingFloors[dialect]) {
        const database = await databases.empty(dialect);
        floors.push(creatingFloor(title, stack.use(await startFloor(floor, database.env)), database));
      }
      return [ours(platform), ...floors];
    },
  });

/** A new task, acknowledged when it is durable. */
export const createFigures: readonly Figure[] = [create("task.create", "sqlite"), create("task.create.pg", "postgresql")];
