import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { untilReady } from "../../scripts/scratch-postgres.ts";

const refused = "FATAL:  the database system is starting up\n";

test("a PostgreSQL of tests is ready also after many refused connections during its recovery", async () => {
  const log = new PassThrough();
  const ready = untilReady(log);
  for (let line = 0; line < 1_000; line += 1) log.write(refused);
  log.write(`LOG:  database system is ready to accept connections\n${refused.repeat(1_000)}`);
  await expect(ready).resolves.toBeUndefined();
});

test("a PostgreSQL of tests that ends before it is ready is reported with the end of its log", async () => {
  const log = new PassThrough();
  const ready = untilReady(log);
  log.end(`${refused.repeat(1_000)}FATAL:  could not create any TCP/IP sockets\n`);
  await expect(ready).rejects.toThrow("could not create any TCP/IP sockets");
});
