// A durable queue of another program behind node:http: a job is stored before /create answers, and /wait
// answers when it has run. Plain JavaScript, because its packages may not be installed.

import { createServer } from "node:http";

const databaseUrl = process.env.DATABASE_URL;
const concurrency = 32;

/** Ends of jobs that no call waits for yet, and the waiting calls. */
const ends = new Map();
const endOf = (id) => {
  if (!ends.has(id)) ends.set(id, Promise.withResolvers());
  return ends.get(id);
};

const engines = {
  "pg-boss": async () => {
    const { PgBoss } = await import("pg-boss");
    const boss = new PgBoss(databaseUrl);
    await boss.start();
    await boss.createQueue("tasks");
    const options = { batchSize: concurrency, pollingIntervalSeconds: 0.5, includeMetadata: false };
    await boss.work("tasks", options, async (jobs) => {
      for (const { id } of jobs) setImmediate(() => endOf(id).resolve());
    });
    return () => boss.send("tasks", {});
  },
  "graphile-worker": async () => {
    const { run } = await import("graphile-worker");
    const runner = await run({
      connectionString: databaseUrl,
      concurrency,
      noHandleSignals: true,
      pollInterval: 1000,
      taskList: { work: async () => undefined },
    });
    runner.events.on("job:success", ({ job }) => endOf(String(job.id)).resolve());
    return async () => String((await runner.addJob("work", {})).id);
  },
  dbos: async () => {
    const { DBOS } = await import("@dbos-inc/dbos-sdk");
    const work = DBOS.registerWorkflow(async () => "done", { name: "work" });
    DBOS.setConfig({
      name: "bench",
      systemDatabaseUrl: databaseUrl,
      logLevel: "error",
      runAdminServer: false,
    });
    await DBOS.launch();
    return async () => {
      const handle = await DBOS.startWorkflow(work)();
      handle.getResult().then(endOf(handle.workflowID).resolve);
      return handle.workflowID;
    };
  },
};

const create = await engines[process.env.ENGINE]();

async function answer(request) {
  let text = "";
  for await (const piece of request) text += piece;
  if (request.url === "/create") return { id: await create() };
  const { id } = JSON.parse(text);
  await endOf(id).promise;
  ends.delete(id);
  return {};
}

createServer((request, response) => {
  answer(request).then(
    (body) => response.setHeader("content-type", "application/json").end(JSON.stringify(body)),
    (thrown) => response.writeHead(500).end(String(thrown)),
  );
}).listen(Number(process.env.PORT), "127.0.0.1", () => process.stdout.write("peer ready\n"));
