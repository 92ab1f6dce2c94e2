import type { Dialect } from "../../src/store/statements.ts";
import { type Figure, race, type Stage } from "../figure.ts";
import { type Contender, sample } from "../load.ts";
import type { Seeded } from "../seed.ts";
import { type Server, startFloor, startPlatform } from "../servers.ts";
import { roundSignificant } from "../statistics.ts";
import { anyTask, createPoster, floorInput, isListOf } from "./calls.ts";

const rows = 1_000_000;
const pageSize = 1_000;
/** Other calls during repeated list calls. */
const otherCalls = { concurrency: 4, ms: 5_000 } as const;

const databaseOf = ({ databases }: Stage, dialect: Dialect): Promise<Seeded> =>
  databases.seeded(dialect, rows, rows);

/** The bare queries also count the main task, which has not started. */
const isCompletePage =
  (all: number) =>
  ({ total, records }: Readonly<Record<string, unknown>>): boolean =>
    total === all && isListOf(records, pageSize);

const list = (server: Server, { owner }: Seeded, page: number): Contender =>
  createPoster("ours", server, {
    path: "/v2/enterprise.task.list",
    body: () => ({ user: owner.accountId, page, page_size: pageSize }),
    check: isCompletePage(rows),
  });

const detail = (server: Server, database: Seeded): Contender =>
  createPoster("task.detail", server, {
    path: "/v2/task.detail",
    body: () => ({ task_id: anyTask(database) }),
    check: ({ task }) => task !== undefined,
  });

/** Measures other callers' calls while one caller lists, and without it. */
async function othersOf(listing: Contender, other: Contender): Promise<Readonly<Record<string, unknown>>> {
  const alone = await sample(other, otherCalls.concurrency, otherCalls.ms);
  const [, during] = await Promise.all([
    sample(listing, 1, otherCalls.ms),
    sample(other, otherCalls.concurrency, otherCalls.ms),
  ]);
  return {
    detail_p50_ms: roundSignificant(during.p50),
    detail_p99_ms: roundSignificant(during.p99),
    detail_alone_p50_ms: roundSignificant(alone.p50),
    detail_alone_p99_ms: roundSignificant(alone.p99),
  };
}

/**
 * A page of a user's million tasks and their exact count, compared with the two queries that it needs at
 * least.
 */
function figure(name: string, dialect: Dialect, page: number): Figure {
  const servers = new Map<string, Server>();
  return race({
    name,
    concurrency: 1,
    async contenders(stage) {
      const database = await databaseOf(stage, dialect);
      const server = stage.stack.use(await startPlatform(database));
      servers.set(name, server);
      const floor = stage.stack.use(await startFloor(dialect === "sqlite" ? "sqlite" : "pg", database.env));
      const body = () => ({ ...floorInput(database), limit: pageSize, offset: (page - 1) * pageSize });
      return [
        list(server, database, page),
        createPoster("node:http, COUNT and page", floor, {
          path: "/tasks",
          body,
          check: isCompletePage(rows + 1),
        }),
      ];
    },
    async more(stage, ours) {
      const server = servers.get(name);
      if (!server) throw new Error("the server has not started");
      return othersOf(ours, detail(server, await databaseOf(stage, dialect)));
    },
  });
}

/** First and late pages of an export's tasks. */
export const exportFigures: readonly Figure[] = [
  figure("export.tasks.first", "sqlite", 1),
  figure("export.tasks.deep", "sqlite", 900),
  figure("export.tasks.first.pg", "postgresql", 1),
  figure("export.tasks.deep.pg", "postgresql", 900),
];
