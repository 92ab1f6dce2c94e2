import { expect, test } from "vitest";
import { type Clock, systemClock } from "../../src/core/clock.ts";
import { atRest } from "../support/at-rest.ts";
import { describeOnOne } from "../support/database.ts";
import { openService } from "../support/service.ts";
import { createWorker, explain, remoteEnv } from "./worker-rig.ts";

/** Long sleeps never end, so that no maintenance runs in between. */
const clock: Clock = {
  ...systemClock,
  sleep: (ms, signal) => systemClock.sleep(ms < 900 ? ms : 2 ** 31 - 1, signal),
};

describeOnOne("statements of a worker's call", (database) => {
  test("are a few, BEGIN and COMMIT among them, however many events there are", async () => {
    await using service = await openService({ database, idle: true, clock, env: remoteEnv });
    await atRest(service);
    const ann = await service.person();
    const worker = await createWorker(service, ann);
    /** The statements of a call, and on PostgreSQL its round trips. */
    const costs = async (call: () => Promise<unknown>): Promise<number | string> => {
      const before = { statements: service.statements.length, trips: service.roundTrips() };
      await call();
      const statements = service.statements.length - before.statements;
      return database === "sqlite" ? statements : `${statements} in ${service.roundTrips() - before.trips}`;
    };
    // SQLite keeps the words of the final message by one more statement; PostgreSQL sends them with another.
    const expected =
      database === "sqlite"
        ? {
            poll: 9,
            append: 8,
            appendMany: 8,
            repeat: 12,
            writeText: 2,
            heartbeat: 5,
            emptyPoll: 2,
            finish: 9,
          }
        : {
            ...{
              poll: "5 in 5",
              append: "8 in 6",
              appendMany: "8 in 6",
              repeat: "12 in 10",
              writeText: "2 in 2",
            },
            ...{ heartbeat: "5 in 5", emptyPoll: "2 in 2", finish: "8 in 5" },
          };
    for (let n = 0; n < 2; n += 1) await ann.v2("task.create", { message: { content: "Hello" } });
    await worker.finish(await worker.poll(), { finish: { content: "Done" } });
    let run = { taskId: "", fence: 0 };
    const poll = await costs(async () => {
      run = await worker.poll();
    });
    await worker.append(run, [explain("0")]);
    const text = () =>
      worker.call("WriteText", { taskId: run.taskId, fence: run.fence, attempt: 1, text: "One" });
    await text();
    const many = Array.from({ length: 100 }, (_, i) => explain(`many ${i}`.replace(" ", "-")));
    expect({
      poll,
      append: await costs(() => worker.append(run, [explain("1")])),
      appendMany: await costs(() => worker.append(run, many)),
      repeat: await costs(() => worker.append(run, many)),
      writeText: await costs(text),
      heartbeat: await costs(() => worker.call("Heartbeat", { taskId: run.taskId, fence: run.fence })),
      emptyPoll: await costs(() => worker.poll()),
      finish: await costs(() => worker.finish(run, { finish: { content: "Done" } })),
    }).toEqual(expected);
  });
});
