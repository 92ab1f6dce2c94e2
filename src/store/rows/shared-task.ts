import type { SharedTask } from "../../core/tasks/task.ts";
import type { Session } from "../session.ts";
import { type Sql, sql } from "../statements.ts";
import { tables } from "../table.ts";
import { later } from "./task-row.ts";

const shape = tables.task
  .pick("id", "title", "status", "createdAt", "updatedAt", "touchedAt", "lastSeq")
  .derive("updatedAt", ["updatedAt", "touchedAt"], later);

/** Reads a task by its share link: both its setting and its team's cap must open it to the visitor. */
export const findShared =
  (session: Session) =>
  (teamSpaceId: string | null, id: string): Promise<SharedTask | null> => {
    const opens = (visibility: Sql): Sql =>
      teamSpaceId === null
        ? sql`${visibility} = 'public'`
        : sql`(${visibility} = 'public' OR (${visibility} = 'team' AND t.space_id = ${teamSpaceId}))`;
    return shape.row(session)(sql`
      SELECT ${shape.of("t")} FROM task t WHERE t.id = ${id} AND t.deleted_at IS NULL
        AND ${opens(sql`t.share_visibility`)} AND (t.max_visibility IS NULL OR ${opens(sql`t.max_visibility`)})`);
  };
