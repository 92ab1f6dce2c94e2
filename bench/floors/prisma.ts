// The floor of a task's read and of its creation: node:http and one Prisma statement on
// the same table, as durable as ours, with no credential, rule, limit or audit.
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { PrismaBetterSqlite3 } from "@prisma/adapter-better-sqlite3";
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/ids.ts";
import { PrismaClient } from "../../src/gen/prisma/sqlite/client.ts";
import { openStore } from "../../src/store/open.ts";

const { DATA_DIR = ".", PORT = "0" } = process.env;
const url = `file:${join(DATA_DIR, "floor.db")}`;
await (await openStore({ databaseUrl: url, clock: systemClock, random: systemRandom })).close();
const prisma = new PrismaClient({ adapter: new PrismaBetterSqlite3({ url }) });
await prisma.$queryRawUnsafe("PRAGMA journal_mode = WAL");
await prisma.$executeRawUnsafe("PRAGMA synchronous = FULL");

const task = (id: string) => ({
  id,
  accountId: "account",
  spaceId: "space",
  type: "standard",
  title: "What is 12 * 4?",
  status: "stopped",
  shareVisibility: "private",
  hidden: false,
  agentProfile: "manus-1.6",
  locale: "en",
  interactive: false,
  references: "[]",
  credits: 0,
  createdAt: BigInt(Date.now()),
  updatedAt: BigInt(Date.now()),
  lastMessageAt: BigInt(Date.now()),
  lastSeq: 0,
  lastTimestamp: 0n,
  messageSeq: 0,
  answeredSeq: 0,
  consumedSeq: 0,
  fence: 0,
  claims: 0,
  idleClaims: 0,
  queuedAt: 0n,
});

const routes: Readonly<Record<string, (body: { readonly task_id: string }) => Promise<unknown>>> = {
  "/detail": ({ task_id: id }) => prisma.task.findUnique({ where: { id } }),
  "/create": () => prisma.task.create({ data: task(randomUUID()) }),
};

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += chunk;
  return text;
}

createServer(async (request, response) => {
  const answer = await routes[request.url ?? ""]?.(JSON.parse(await textOf(request)));
  const text = JSON.stringify(answer, (_key, value: unknown) => (typeof value === "bigint" ? Number(value) : value));
  response.writeHead(200, { "content-type": "application/json" }).end(text);
}).listen(Number(PORT), "127.0.0.1", () => process.stdout.write("floor ready\n"));
