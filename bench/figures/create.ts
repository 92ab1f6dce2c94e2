import type { Dialect } from "../../src/store/statements.ts";
import { type Figure, race } from "../figure.ts";
import type { Installed } from "../installed.ts";
import type { Contender } from "../load.ts";
import { type Server, startFloor, startPlatform } from "../servers.ts";
import { createPoster, floorInput } from "./calls.ts";

const concurrency = 32;

/**
 * One slot for runs, which the first task occupies permanently, so that only creating is measured, without
 * agents' work.
 */
const busy = { RUN_CONCURRENCY: "1", QUEUE_DEPTH: "1000000" };

const ours = (server: Server): Contender =>
  createPoster("ours", server, {
    path: "/v2/task.create",
    body: () => ({ message: { content: "[[forever]]" } }),
    check: (answer) => answer["task_id"] !== undefined,
  });

/** A floor that creates one row, or does the work of its name. */
export const createFloorContender = (
  name: string,
  server: Server,
  database: Installed,
  path = "/create",
): Contender =>
  createPoster(name, server, {
    path,
    body: () => floorInput(database),
    check: (answer) => (answer["id"] ?? answer["task_id"]) !== undefined,
  });

/** The floors of figures that create tasks, each on a separate database. */
export const creatingFloors: Readonly<Record<Dialect, readonly (readonly [floor: string, name: string])[]>> =
  {
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
        floors.push(createFloorContender(title, stack.use(await startFloor(floor, database.env)), database));
      }
      return [ours(platform), ...floors];
    },
  });

/** Creating a task, acknowledged when it is durable. */
export const createFigures: readonly Figure[] = [
  create("task.create", "sqlite"),
  create("task.create.pg", "postgresql"),
];
