import { createConnectQueryKey, useInfiniteQuery } from "@connectrpc/connect-query";
import type { InfiniteData } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { SortOrder, TaskOrder, TaskStatus } from "#proto/task/v2/task_pb.ts";
import { type ListTasksResponse, TaskService } from "#proto/task/v2/task_service_pb.ts";
import { clientOf, queryClient, transport } from "../api/client.ts";
import { type Connection, keepLive } from "../api/live.ts";
import { refreshCounts } from "./counts.ts";
import { mergePages } from "./merge.ts";
import { changesIn } from "./sections.ts";

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

/**
 * The lists of the page, in its order: what needs an answer, longest wait first; what runs; what has ended.
 */
export const sectionIds = ["waiting", "running", "ended"] as const;
export type SectionId = (typeof sectionIds)[number];

const inSection: Readonly<Record<SectionId, readonly TaskStatus[]>> = {
  waiting: [TaskStatus.WAITING],
  running: [TaskStatus.RUNNING],
  ended: [TaskStatus.STOPPED, TaskStatus.ERROR],
};

/** The states of a list below a filter; none for a list that the filter leaves out. */
const statesOf = (id: SectionId, wanted: TaskStatus | undefined): readonly TaskStatus[] =>
  inSection[id].filter((status) => wanted === undefined || wanted === status);

function inputOf(id: SectionId, { status, ...filters }: TaskFilters) {
  const input = { limit: 50, cursor: "", ...filters };
  if (id !== "waiting")
    return { ...input, orderBy: TaskOrder.UPDATED_AT, statuses: [...statesOf(id, status)] };
  return { ...input, orderBy: TaskOrder.WAITING_SINCE, order: SortOrder.ASC, status: TaskStatus.WAITING };
}

/** One list with separate pages. A list that a filter leaves out has no tasks. */
function useSection(id: SectionId, filters: TaskFilters) {
  const enabled = statesOf(id, filters.status).length > 0;
  const list = useInfiniteQuery(schema, inputOf(id, filters), {
    pageParamKey,
    getNextPageParam: (page) => page.nextCursor || undefined,
    placeholderData: (kept) => kept,
    enabled,
  });
  const tasks = enabled ? (list.data?.pages.flatMap((page) => page.data) ?? []) : [];
  return { id, list, tasks, isPending: enabled && list.isPending, hasNextPage: enabled && list.hasNextPage };
}

/** The tasks that match the filters in their lists, kept up to date by one WatchTasks. */
export function useLiveTasks(filters: TaskFilters) {
  const [connection, setConnection] = useState<Connection>({ kind: "waiting", until: 0 });
  const sections = [
    useSection("waiting", filters),
    useSection("running", filters),
    useSection("ended", filters),
  ] as const;
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
  return { sections, connection };
}

/** Applies the changes of all lists to their loaded pages. */
function sourceOf(filters: TaskFilters) {
  const { status, ...ofAnyState } = filters;
  const lists = sectionIds
    .filter((id) => statesOf(id, status).length > 0)
    .map((id) => {
      const queryKey = createConnectQueryKey({
        schema,
        transport,
        input: inputOf(id, filters),
        pageParamKey,
        cardinality: "infinite",
      });
      return { id, states: statesOf(id, status), queryKey };
    });
  const reload = async (): Promise<void> => {
    await Promise.all(
      lists.map(({ queryKey }) =>
        queryClient.refetchQueries({ queryKey, exact: true }, { throwOnError: true }),
      ),
    );
  };
  let cursor: string | undefined;
  return {
    load: async () => undefined,
    poll: async () => {
      refreshCounts();
      await reload();
    },
    pollMs,
    stream: async (signal: AbortSignal, heard: () => void): Promise<void> => {
      const request = {
        ...ofAnyState,
        follow: true,
        keepAlive: true,
        ...(cursor !== undefined && { cursor }),
      };
      for await (const response of clientOf(TaskService).watchTasks(request, { signal })) {
        heard();
        if (response.resync) await reload();
        for (const { id, states, queryKey } of lists)
          queryClient.setQueryData<InfiniteData<ListTasksResponse>>(queryKey, (known) => {
            if (!known) return known;
            const pages = mergePages(
              known.pages,
              changesIn(states, response),
              id === "waiting" ? "last" : "first",
            );
            if (id === "waiting" && countOf(pages) !== countOf(known.pages)) refreshCounts();
            return { ...known, pages };
          });
        cursor = response.cursor ?? cursor;
      }
    },
  };
}

const countOf = (pages: readonly ListTasksResponse[]): number =>
  pages.reduce((sum, { data }) => sum + data.length, 0);
