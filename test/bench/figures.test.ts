import { expect, test } from "vitest";
import { figureNames, selectFigures } from "../../bench/figures.ts";

test("every figure has its name, once, with the suffix .pg for PostgreSQL", () => {
  expect(figureNames.toSorted()).toEqual([
    "agent.bytes",
    "agent.next",
    "agent.reads",
    "export.archive",
    "export.archive.pg",
    "export.others",
    "export.others.pg",
    "export.tasks.deep",
    "export.tasks.deep.pg",
    "export.tasks.first",
    "export.tasks.first.pg",
    "file.download",
    "file.upload",
    "mcp.call",
    "mcp.list",
    "oauth.detail",
    "oauth.detail.pg",
    "oauth.exchange",
    "oauth.exchange.pg",
    "oauth.introspect",
    "oauth.introspect.pg",
    "oauth.refresh",
    "oauth.refresh.pg",
    "site.page",
    "task.create",
    "task.create.pg",
    "task.detail.connect",
    "task.detail.connect.pg",
    "task.detail.v2",
    "task.detail.v2.pg",
    "task.list.1m",
    "task.list.filters",
    "task.list.filters.pg",
    "task.list.waiting",
    "task.list.waiting.pg",
    "task.listMessages.1m",
    "task.run",
    "task.run.pg",
    "telemetry",
    "watch.deltas",
    "watch.sse.cpu",
    "watch.sse.memory",
    "webhooks",
    "webhooks.hanging",
    "webhooks.latency",
    "worker.run",
    "worker.run.batched",
    "worker.run.batched.pg",
    "worker.run.pg",
  ]);
});

test("measures the named figures, and all of them by default", () => {
  expect(selectFigures(["task.run"]).flatMap(({ names }) => names)).toEqual(["task.run"]);
  expect(selectFigures([]).flatMap(({ names }) => names)).toEqual(figureNames);
});
