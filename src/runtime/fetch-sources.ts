import { defined } from "../core/defined.ts";
import type { Tx } from "../core/store.ts";
import type { EventType, TaskEvent } from "../core/tasks/event.ts";
import type { Task } from "../core/tasks/task.ts";
import type { FetchSources } from "./agent.ts";

const messagesMax = 1_000;
const usesMax = 500;
/** A result can have more than 100 KiB. */
const pageMax = 50;

/** Reads what the rule of requests needs of a task. */
export function fetchSources(store: Pick<Tx, "events" | "agentProfiles">, task: Task): FetchSources {
  /** The events of a type, newest first. */
  async function* newest(
    id: string,
    type: EventType,
    max: number,
    beforeSeq?: number,
  ): AsyncGenerator<TaskEvent, void, void> {
    const window = { order: "desc", limit: pageMax, verbose: true, types: [type] } as const;
    for (let [before, read] = [beforeSeq, 0]; read < max; read += pageMax) {
      const page = await store.events.list(id, { ...window, ...defined({ beforeSeq: before }) });
      yield* page;
      before = page.at(-1)?.seq;
      if (page.length < pageMax) return;
    }
  }

  return {
    async settings() {
      const all = await store.agentProfiles.list(task.spaceId);
      return all.find(({ profile }) => profile === task.agentProfile) ?? { fetch: null, fetchHosts: null };
    },
    async *messages() {
      for await (const { seq, type, payload } of newest(task.id, "user_message", messagesMax))
        if (type === "user_message" && (task.rootId === null || seq > 1)) yield payload.content;
      if (task.rootId === null) return;
      for await (const { type, payload } of newest(task.rootId, "user_message", messagesMax))
        if (type === "user_message") yield payload.content;
    },
    async *results(tools) {
      for await (const { type, payload } of newest(task.id, "tool_used", usesMax, task.consumedSeq + 1))
        if (type === "tool_used" && payload.status === "success" && tools.includes(payload.tool))
          yield payload.result ?? null;
    },
  };
}
