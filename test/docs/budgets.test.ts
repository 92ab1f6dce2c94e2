import { afterAll, beforeAll, expect } from "vitest";
import { type Checkout, freePort, sharedCheckout } from "../commands/checkout.ts";
import { sampledTest } from "../support/sampled.ts";
import { blocksIn, readPage } from "./page.ts";

const test = sampledTest(3);

const page = readPage("docs/operate/budgets.md");
const [start = ""] = blocksIn(page, "bash");
const [reports = "", budgets = "", beyond = "", moves = ""] = blocksIn(page, "sh");

let checkout: Checkout;
beforeAll(() => {
  checkout = sharedCheckout();
});
afterAll(() => checkout[Symbol.dispose]());

test("docs/operate/budgets.md shows prices, reports, budgets, refunds and grants by its commands", async () => {
  const port = await freePort();
  const env = { DATA_DIR: "data", PORT: `${port}`, ATP_URL: `http://127.0.0.1:${port}` };
  const server = checkout.command(["bash", "-ec", start], env);
  await server.says(/"msg":"ready"/);
  const { out: key } = await checkout.atp("key", ["--name", "docs"], env).ended;
  const said = async (
    lines: string,
    more: Readonly<Record<string, string>> = {},
  ): Promise<readonly string[]> => {
    const { code, out, err } = await checkout.command(["bash", "-ec", checkout.lines(lines)], {
      ...env,
      ATP_KEY: key.trim(),
      ...more,
    }).ended;
    expect({ code, err: err.replaceAll(/^installation: .*\n/gm, "") }).toEqual({ code: 0, err: "" });
    return out.replaceAll("}{", "}\n{").trim().split("\n");
  };

  const [detail, list, days, log, available, told] = (
    await said(`${reports}\necho; echo "{\\"id\\":\\"$id\\"}"`)
  )
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
  // The turn costs one.
  expect(detail.task).toMatchObject({ status: "stopped", credit_usage: 31 });
  expect(list.data).toMatchObject([{ task_id: told.id, credits: -31, type: "cost" }]);
  expect(days.data.at(-1)).toMatchObject({ credits: 31 });
  expect(log.data).toMatchObject([{ email: "owner@localhost", task_count: 1, credits: 31 }]);
  expect(available.data).toMatchObject({ total_credits: 1_000_000_000 });

  const { id } = told;
  const set = (await said(budgets, { id })).map((line) => JSON.parse(line));
  expect(set.slice(0, 3)).toMatchObject([
    { kind: "team", period: "month", credits: 1000, spent: 31 },
    { kind: "account", period: "total", credits: 60, spent: 31 },
    { kind: "task", subject: id, credits: 100, spent: 31 },
  ]);
  expect(set).toHaveLength(7);
  expect(set.at(-1).budget).toMatchObject({ kind: "BUDGET_KIND_TEAM", credits: "500", spent: "31" });

  const ended = async () => {
    const [made] = await said(beyond);
    const { task_id } = JSON.parse(made ?? "");
    const [seen] = await said(
      `curl -s "$ATP_URL/v2/task.detail?task_id=${task_id}&wait_seconds=30" -H "x-service-api-key: $ATP_KEY"`,
    );
    return JSON.parse(seen ?? "").task;
  };
  // Less than a step is left of the account's 60, and the next turn does not begin.
  const spent = (await ended()).credit_usage;
  expect(spent).toBeGreaterThanOrEqual(11);
  const refused = await ended();
  expect(refused).toMatchObject({ status: "error" });
  expect(refused).not.toHaveProperty("credit_usage");
  expect(await said(moves, { id })).toEqual(["10", "21", "50"]);
  const [after] = await said(`curl -s "$ATP_URL/v2/usage.availableCredits" -H "x-service-api-key: $ATP_KEY"`);
  expect(JSON.parse(after ?? "").data.total_credits).toBe(60 - spent + 50);
  server.child.kill("SIGTERM");
  await server.ended;
});
