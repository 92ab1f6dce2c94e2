import { expect, test } from "vitest";
import { install } from "../../bench/installed.ts";
import { halfYear, liveYears, type Month } from "../../bench/years.ts";
import { databaseUrl, describeOnOne } from "../support/database.ts";

describeOnOne("16 months of 60 tasks each, with retention", (kind) => {
  /**
   * PostgreSQL chooses between the indexes of small tables by estimates, which change; so only what it reads
   * as a whole counts.
   */
  const comparable = (month: Month | undefined) =>
    month?.plans.map((plan) => (kind === "sqlite" ? plan : plan.match(/Seq Scan on .*/g)));

  test("keep the numbers of rows, the size of the database and the plans of lists as they were after half a year", async () => {
    await using database = await databaseUrl(kind);
    const installed = await install({
      DATABASE_URL: database.url,
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString("base64"),
    });
    const months: Month[] = [];
    const years = { months: 16, tasksEach: 60, accounts: 2, eventsEach: 8, retention: halfYear, lists: 3 };
    for await (const month of liveYears(installed, years)) months.push(month);
    // Half a year of tasks, and the tombstones of the half year before; details older than a month are gone.
    const rows = Array.from({ length: 16 }, (_, month) => Math.min(month + 1, 13) * 60);
    expect(months.map(({ tasks }) => tasks)).toEqual(rows.map((count) => count + 1)); // and the task of the agent
    const [full, steady, last] = [months[5], months[12], months[15]];
    expect(last?.events).toBe(full?.events);
    expect(full?.events).toBe(5 * 60 * 2 + 60 * 8);
    expect(last?.bytes).toBeLessThan((steady?.bytes ?? 0) * 1.1);
    expect(comparable(last)).toEqual(comparable(steady));
    expect(last?.plans.length).toBeGreaterThan(0);
  });
});
