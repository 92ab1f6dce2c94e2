import { type Figure, race, type Stage } from "../figure.ts";
import { alternate, type Contender } from "../load.ts";
import type { Seeded } from "../seed.ts";
import { startFloor, startPlatform } from "../servers.ts";
import { median, roundSignificant } from "../statistics.ts";
import { createPoster, floorInput, isListOf } from "./calls.ts";

const concurrency = 16;
const many = 1_000_000;
const few = 10_000;
const growthRounds = { rounds: 9, ms: 500, warmUpMs: 1_500, concurrency };

/** The first page of a list, over v2 and from a floor. */
interface List {
  readonly name: string;
  readonly v2: {
    readonly path: string;
    readonly member: string;
    readonly body: (database: Seeded) => object;
  };
  readonly floorPath: string;
  readonly length: number;
}

const list = ({ name, v2, floorPath, length }: List): Figure => {
  async function platform({ stack }: Stage, database: Seeded): Promise<Contender> {
    return createPoster("ours", stack.use(await startPlatform(database)), {
      path: v2.path,
      body: () => v2.body(database),
      check: (answer) => isListOf(answer[v2.member], length),
    });
  }
  async function floor(
    { stack }: Stage,
    database: Seeded,
    [server, title]: readonly [string, string],
  ): Promise<Contender> {
    return createPoster(title, stack.use(await startFloor(server, database.env)), {
      path: floorPath,
      body: () => floorInput(database, database.longTaskId),
      check: (rows) => isListOf(rows, length),
    });
  }
  return race({
    name,
    concurrency,
    async contenders(stage) {
      const database = await stage.databases.seeded("sqlite", many);
      return [
        await platform(stage, database),
        await floor(stage, database, ["prisma", "node:http + Prisma findMany"]),
        await floor(stage, database, ["sqlite", "node:http + better-sqlite3"]),
      ];
    },
    async more(stage, ours) {
      const small = await platform(stage, await stage.databases.seeded("sqlite", few));
      const [large = [], little = []] = await alternate([ours, small], growthRounds);
      const growth = median(large.map(({ p50 }, round) => p50 / (little[round]?.p50 ?? Number.NaN)));
      return {
        p50_of_10k_ms: roundSignificant(median(little.map(({ p50 }) => p50))),
        p50_growth: roundSignificant(growth),
      };
    },
  });
};

/** First pages of a million rows. */
export const listFigures: readonly Figure[] = [
  list({
    name: "task.list.1m",
    v2: { path: "/v2/task.list", member: "data", body: () => ({ limit: 20 }) },
    floorPath: "/list",
    length: 20,
  }),
  list({
    name: "task.listMessages.1m",
    v2: {
      path: "/v2/task.listMessages",
      member: "messages",
      body: ({ longTaskId }) => ({ task_id: longTaskId, limit: 50 }),
    },
    floorPath: "/events",
    length: 50,
  }),
];
