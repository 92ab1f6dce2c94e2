import type { Dialect } from "../../src/store/session.ts";
import { type Figure, race, type Stage } from "../figure.ts";
import { type Contender, sample } from "../load.ts";
import type { Seeded } from "../seed.ts";
import { type Server, startFloor, startPlatform } from "../servers.ts";
import { rounded } from "../statistics.ts";
import { anyTask, asked, lists, posting } from "./calls.ts";

const rows = 1_000_000;
const pageSize = 1_000;
/** Calls beside a list that is asked for again and again. */
const beside = { concurrency: 4, ms: 5_000 } as const;

const databaseOf = ({ databases }: Stage, dialect: Dialect): Promise<Seeded> => databases.seeded(dialect, rows, rows);

/** The bare queries also count the main task that has not begun. */
const whole =
  (all: number) =>
  ({ total, records }: Readonly<Record<string, unknown>>): boolean =>
    total === all && lists(records, pageSize);

const list = (server: Server, { owner }: Seeded, page: number): Contender =>
  posting("ours", server, {
    path: "/v2/enterprise.task.list",
    body: () => ({ user: owner.accountId, page, page_size: pageSize }),
    check: whole(rows),
  });

const detail = (server: Server, database: Seeded): Contender =>
  posting("task.detail", server, {
    path: "/v2/task.detail",
    body: () => ({ task_id: anyTask(database) }),
    check: ({ task }) => task !== undefined,
  });

/** What calls of others take while one caller lists, and while nobody does. */
async function othersOf(listing: Contender, other: Contender): Promise<Readonly<Record<string, unknown>>> {
  const alone = await sample(other, beside.concurrency, beside.ms);
  const [, during] = await Promise.all([sample(listing, 1, beside.ms), sample(other, beside.concurrency, beside.ms)]);
  return {
    ...{ detail_p50_ms: rounded(during.p50), detail_p99_ms: rounded(during.p99) },
    ...{ detail_alone_p50_ms: rounded(alone.p50), detail_alone_p99_ms: rounded(alone.p99) },
  };
}

/** A page of a person's million tasks and their exact number, beside the two queries that it takes at least. */
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
      const body = () => ({ ...asked(database), limit: pageSize, offset: (page - 1) * pageSize });
      return [list(server, database, page), posting("node:http, COUNT and page", floor, { path: "/tasks", body, check: whole(rows + 1) })];
    },
    async more(stage, ours) {
      const server = servers.get(name);
      if (!server) throw new Error("the server has not begun");
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
