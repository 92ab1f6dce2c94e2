import { createConnectQueryKey, useQuery } from "@connectrpc/connect-query";
import { TaskStatus } from "#proto/task/v2/task_pb.ts";
import { TaskService } from "#proto/task/v2/task_service_pb.ts";
import { queryClient } from "../api/client.ts";
import type { TaskFilters } from "./live-tasks.ts";

const schema = TaskService.method.listTasks;

/** How often the numbers are read again where no stream reports a change. */
const everyMs = 30_000;
/** The shortest time between two reads that changes cause. */
const pauseMs = 1_000;

/**
 * The numbers of tasks by state, exact for those that wait or run. A hidden tab reads them too: its title and
 * icon show them.
 */
export const useCounts = ({ status: _, ...filters }: TaskFilters = {}) =>
  useQuery(
    schema,
    { limit: 1, status: TaskStatus.WAITING, includeCounts: true, ...filters },
    { refetchInterval: everyMs, refetchIntervalInBackground: true, placeholderData: (kept) => kept },
  ).data?.counts;

let isDue = false;

/** Reads the numbers again soon: a task has begun or ended to wait. Many changes cause one read a second. */
export function refreshCounts(): void {
  if (isDue) return;
  isDue = true;
  setTimeout(() => {
    isDue = false;
    void queryClient.invalidateQueries({
      queryKey: createConnectQueryKey({ schema, cardinality: "finite" }),
    });
  }, pauseMs);
}
