// The floor of reads and creates: node:http and one Prisma statement on the same tables, with the same
// durability, without credentials, rules, limits or audit.
import { PrismaBetterSqlite3 } from "@prisma/adapter-better-sqlite3";
import { PrismaClient } from "../../src/gen/prisma/sqlite/client.ts";
import { type FloorInput, newTask } from "./rows.ts";
import { serve } from "./serve.ts";

const prisma = new PrismaClient({
  adapter: new PrismaBetterSqlite3({ url: process.env["DATABASE_URL"] ?? "" }),
});
await prisma.$queryRawUnsafe("PRAGMA journal_mode = WAL");
await prisma.$executeRawUnsafe("PRAGMA synchronous = FULL");

function create(input: FloorInput) {
  const { hasOutputSchema, hasMemoOrRequest, ...columns } = newTask(input);
  return prisma.task.create({
    data: {
      ...columns,
      references: "[]",
      allowed: "[]",
      permissions: "[]",
      metadata: "{}",
      importedFrom: null,
    },
  });
}

serve<FloorInput>({
  "/detail": ({ task_id: id }) => prisma.task.findUnique({ where: { id } }),
  "/create": create,
  "/list": ({ account_id: accountId, space_id: spaceId }) =>
    prisma.task.findMany({
      where: { accountId, spaceId },
      orderBy: [{ createdAt: "desc" }, { id: "desc" }],
      take: 20,
    }),
  "/events": ({ task_id: taskId }) =>
    prisma.taskEvent.findMany({ where: { taskId }, orderBy: { seq: "desc" }, take: 50 }),
});
