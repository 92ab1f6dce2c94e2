import { createConnectQueryKey, useInfiniteQuery } from "@connectrpc/connect-query";
import type { InfiniteData } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { TaskOrder, type TaskStatus } from "#proto/task/v2/task_pb.ts";
import { type ListTasksResponse, TaskService } from "#proto/task/v2/task_service_pb.ts";
import { clientOf, queryClient, transport } from "../api/client.ts";
import { type Connection, keepLive } from "../api/live.ts";
import { mergePages } from "./merge.ts";

/** What a list has. */
export interface TaskFilters {
  readonly query?: string;
  readonly status?: TaskStatus;
  readonly projectId?: string;
  readonly createdByApp?: string;
}

/** How often a list asks for changes where it has no stream. */
const pollMs = 4_000;
const pageParamKey = "cursor";
const schema = TaskService.method.listTasks;

/** The tasks that match the filters, kept up to date by WatchTasks. */
export function useLiveTasks(filters: TaskFilters) {
  const [connection, setConnection] = useState<Connection>({ kind: "waiting", until: 0 });
  const input = { limit: 50, cursor: "", orderBy: TaskOrder.UPDATED_AT, ...filters };
  const tasks = useInfiniteQuery(schema, input, {
    pageParamKey,
    getNextPageParam: (page) => page.nextCursor || undefined,
    placeholderData: (kept) => kept,
  });
  const { query, status, projectId, createdByApp } = filters;
  useEffect(() => {
    const stop = new AbortController();
    const chosen = {
      ...(query !== undefined && { query }),
      ...(status !== undefined && { status }),
      ...(projectId !== undefined && { projectId }),
      ...(createdByApp !== undefined && { createdByApp }),
    };
    void keepLive(sourceOf(chosen), setConnection, stop.signal);
    return () => stop.abort();
  }, [query, status, projectId, createdByApp]);
  return { tasks, connection };
}

/** Applies the changes of a list to its loaded pages. */
function sourceOf({ status, ...filters }: TaskFilters) {
  const input = { limit: 50, cursor: "", orderBy: TaskOrder.UPDATED_AT, ...filters, ...(status !== undefined && { status }) };
  const queryKey = createConnectQueryKey({ schema, transport, input, pageParamKey, cardinality: "infinite" });
  const reload = (): Promise<void> => queryClient.refetchQueries({ queryKey, exact: true }, { throwOnError: true });
  let cursor: string | undefined;
  return {
    load: async () => undefined,
    poll: reload,
    pollMs,
    stream: async (signal: AbortSignal, heard: () => void): Promise<void> => {
      const statuses = status === undefined ? [] : [status];
      const request = { ...filters, statuses, follow: true, keepAlive: true, ...(cursor !== undefined && { cursor }) };
      for await (const response of clientOf(TaskService).watchTasks(request, { signal })) {
        heard();
        if (response.resync) await reload();
        queryClient.setQueryData<InfiniteData<ListTasksResponse>>(
          queryKey,
          (known) => known && { ...known, pages: mergePages(known.pages, response) },
        );
        cursor = response.cursor ?? cursor;
      }
    },
  };
}
