// The floor of the token endpoint: node:http and one Prisma transaction with the same writes and the same
// durability. It does not authenticate clients, check rules or sign tokens.
import { randomUUID } from "node:crypto";
import { PrismaBetterSqlite3 } from "@prisma/adapter-better-sqlite3";
import { PrismaPg } from "@prisma/adapter-pg";
import { accessMs } from "../../src/core/oauth/access-token.ts";
import { refreshDigest, refreshMs } from "../../src/core/oauth/family.ts";
import { PrismaClient as PgClient } from "../../src/gen/prisma/postgresql/client.ts";
import { PrismaClient } from "../../src/gen/prisma/sqlite/client.ts";
import { serve } from "./serve.ts";

const url = process.env["DATABASE_URL"] ?? "";

async function onSqlite(): Promise<PrismaClient> {
  const prisma = new PrismaClient({ adapter: new PrismaBetterSqlite3({ url }) });
  await prisma.$queryRawUnsafe("PRAGMA journal_mode = WAL");
  await prisma.$executeRawUnsafe("PRAGMA synchronous = FULL");
  return prisma;
}

/** The same models: this file uses only features of SQLite's client. */
const onPostgres = (): PrismaClient =>
  new PgClient({ adapter: new PrismaPg({ connectionString: url, max: 10 }) }) as unknown as PrismaClient;

const prisma = url.startsWith("file:") ? await onSqlite() : onPostgres();

/** A family with the digest of its active refresh token. */
interface Family {
  readonly family_id: string;
  readonly digest: string;
}

/** A code's digest with its client, grant, account and space. */
interface Code {
  readonly code_digest: string;
  readonly client_id: string;
  readonly grant_id: string;
  readonly account_id: string;
  readonly space_id: string;
}

const newPair = (now: number) => ({
  accessId: randomUUID(),
  accessExpiresAt: now + accessMs,
  refreshDigest: refreshDigest(randomUUID()),
  refreshExpiresAt: now + refreshMs,
});

async function refresh({ family_id: id, digest }: Family): Promise<Family> {
  const now = Date.now();
  const next = newPair(now);
  const data = { ...next, rotatedDigest: digest, rotatedAt: now, rotatedFrom: "127.0.0.1" };
  const [{ count }] = await prisma.$transaction([
    prisma.oAuthFamily.updateMany({ where: { id, refreshDigest: digest, revokedAt: null }, data }),
  ]);
  if (count !== 1) throw new Error("the family does not exist");
  return { family_id: id, digest: next.refreshDigest };
}

async function exchange({ code_digest: digest, ...of }: Code): Promise<Family> {
  const now = Date.now();
  const familyId = randomUUID();
  const { client_id: clientId, grant_id: grantId, account_id: accountId, space_id: spaceId } = of;
  const family = {
    ...newPair(now),
    clientId,
    grantId,
    accountId,
    spaceId,
    generation: 1,
    needsSecret: true,
    createdAt: now,
  };
  const event = {
    credential: `app:${clientId}`,
    operation: "oauth/token",
    requestId: randomUUID(),
    address: "127.0.0.1",
  };
  const [{ count }] = await prisma.$transaction([
    prisma.oAuthCode.updateMany({ where: { digest, usedAt: null }, data: { usedAt: now, familyId } }),
    prisma.oAuthFamily.create({
      data: { id: familyId, scopes: '["create_task","manage_all_tasks"]', ...family },
    }),
    prisma.auditEvent.create({
      data: {
        ...event,
        id: randomUUID(),
        at: now,
        spaceId,
        accountId,
        subject: familyId,
        after: '{"event":"token_issued"}',
      },
    }),
  ]);
  if (count !== 1) throw new Error("the code does not exist");
  return { family_id: familyId, digest: family.refreshDigest };
}

serve<Family & Code>({ "/refresh": refresh, "/exchange": exchange });
