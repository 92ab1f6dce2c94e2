import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { install, sharedCheckout } from "../commands/checkout.ts";
import { databaseUrl, postgresTemplate } from "../support/database.ts";
import { depth } from "../support/depth.ts";
import { startS3 } from "../support/s3-server.ts";
import { sampledTest } from "../support/sampled.ts";
import { blocksIn, readPage } from "./page.ts";

const test = sampledTest(3);

test.skipIf(postgresTemplate === undefined)(
  "the commands of docs/operate/move.md move an installation to PostgreSQL and back, give a move up, and copy files to a bucket",
  async () => {
    using checkout = sharedCheckout();
    await using one = await databaseUrl("postgresql", { empty: true });
    await using other = await databaseUrl("postgresql", { empty: true });
    await using s3 = await startS3();
    await install(checkout, "source");
    const key = readFileSync(checkout.path("source/encryption-key"), "utf8").trim();
    const [move = "", abandon = "", copy = "", back = ""] = blocksIn(readPage("docs/operate/move.md"), "sh");
    const run = (lines: string, env: Readonly<Record<string, string>>, target = one.url) => {
      const adapted = lines
        .replace("postgresql://platform:secret@db.example.com/platform", target)
        .replaceAll("/srv/agent-task-platform-2", checkout.path("home"))
        .replaceAll("https://s3.example.com", s3.bucket.endpoint ?? "")
        .replaceAll("=platform ", "=S3RVER ")
        .replaceAll("=secret", "=S3RVER")
        .replaceAll("task-files", s3.bucket.name);
      return checkout.command(["bash", "-ec", checkout.lines(adapted)], env).ended;
    };
    const source = { DATA_DIR: checkout.path("source") };

    const moved = await run(move, source);
    expect(moved, moved.err).toMatchObject({
      code: 0,
      out: expect.stringMatching(/moved \d+ rows and 0 files, verified\n$/),
    });
    expect(moved.err).toContain("The old database is held. Start servers with the settings of the target");
    const refused = await checkout.atp("serve", [], source).ended;
    expect(refused).toMatchObject({
      code: 1,
      err: expect.stringContaining("this installation was moved to the database"),
    });

    if (depth === "short") return;
    const home = await run(back, {
      ...source,
      DATABASE_URL: one.url,
      ENCRYPTION_KEY: key,
      DATA_DIR_SHARED: "true",
    });
    expect(home, home.err).toMatchObject({ code: 0, out: expect.stringContaining(checkout.path("home")) });

    const resumed = await run(abandon, source);
    expect(resumed, resumed.err).toMatchObject({ code: 0, out: expect.stringContaining("no longer held") });
    const bucket = { S3_REGION: s3.bucket.region, S3_PATH_STYLE: "on" };
    const env = { ...source, ...bucket, ENCRYPTION_KEY: key, TARGET_DATABASE_URL: other.url };
    const copied = await run(copy, env);
    expect(copied, copied.err).toMatchObject({ code: 0 });
  },
);
