import type { Dialect } from "../../src/store/statements.ts";
import { type Figure, race } from "../figure.ts";
import { seedFilters } from "../seed.ts";
import { startPlatform } from "../servers.ts";
import { createPoster, isListOf } from "./calls.ts";

const tasks = 1_000;
const waits = 40;

/**
 * All waiting tasks, the longest wait first, with the numbers by state: "Needs you" of the web application in
 * one request.
 */
const waiting = (name: string, dialect: Dialect): Figure =>
  race({
    name,
    concurrency: 1,
    async contenders({ databases, stack }) {
      const installed = await databases.empty(dialect);
      await seedFilters(installed, tasks, waits);
      const body = {
        status: "waiting",
        order_by: "waiting_since",
        order: "asc",
        limit: 50,
        include_counts: true,
      };
      return [
        createPoster("ours", stack.use(await startPlatform(installed)), {
          path: "/v2/task.list",
          body: () => body,
          check: ({ data, counts }) => isListOf(data, waits) && Number(Object(counts).waiting) === waits,
        }),
      ];
    },
  });

export const waitingFigures: readonly Figure[] = [
  waiting("task.list.waiting", "sqlite"),
  waiting("task.list.waiting.pg", "postgresql"),
];
