import { waitingNode } from "../../core/tasks/lifecycle.ts";
import type { ProfileRows } from "../../core/tasks/profile-settings.ts";
import { changeOf, type Session } from "../session.ts";
import { type Dialect, empty, join, raw, type Sql, sql } from "../statements.ts";
import { computedShape, integer, tables } from "../table.ts";

const { agentProfile, profileLabel } = tables;
const settings = sql`SELECT ${agentProfile.of("p")} FROM agent_profile p`;
const counted = computedShape({ count: integer(sql`COUNT(*)`) });

/** The tasks in run as `t`. SQLite's planner would scan all tasks of the space. */
const inRun: Record<Dialect, Sql> = {
  sqlite: raw("running_task t INDEXED BY running_task_profile"),
  postgresql: raw("running_task t"),
};

/**
 * The number of tasks of a space and profile that a process or a worker runs: a task that waits for its
 * subtasks has no run.
 */
const runsOf = (dialect: Dialect, spaceId: Sql, profile: Sql): Sql => sql`(
  SELECT COUNT(*) FROM ${inRun[dialect]} WHERE t.node_id IS NOT NULL
    AND t.node_id <> ${waitingNode} AND t.space_id = ${spaceId} AND t.agent_profile = ${profile})`;

/** The spaces and profiles that have as many runs as they may have, as a common table. */
export const fullProfiles = (dialect: Dialect): Sql => sql`full_profile (space_id, profile) AS MATERIALIZED (
  SELECT p.space_id, p.profile FROM agent_profile p
  WHERE p.concurrency IS NOT NULL AND p.concurrency <= ${runsOf(dialect, sql`p.space_id`, sql`p.profile`)}
)`;

export function agentProfileRows(session: Session): ProfileRows {
  const { execute, dialect } = session;
  const lock = dialect === "sqlite" ? empty : raw("FOR UPDATE");
  return {
    list: (spaceId) => agentProfile.rows(session)(sql`${settings} WHERE p.space_id = ${spaceId}`),
    async set(row, edit) {
      const changed = join(agentProfile.set({ ...edit, updatedAt: row.updatedAt }));
      await execute(
        sql`${agentProfile.insert({ ...edit, ...row })} ON CONFLICT (space_id, profile) DO UPDATE SET ${changed}`,
      );
    },
    async lockLimited(tasks) {
      changeOf(session);
      const pairs = join(
        [...new Map(tasks.map((task) => [`${task.spaceId} ${task.agentProfile}`, task])).values()].map(pair),
      );
      const rows = await agentProfile.rows(session)(sql`
        ${settings} WHERE p.concurrency IS NOT NULL AND (p.space_id, p.profile) IN (VALUES ${pairs}) ORDER BY p.space_id, p.profile ${lock}`);
      return rows.flatMap((row) =>
        row.concurrency === null ? [] : [{ ...row, concurrency: row.concurrency }],
      );
    },
    async countRuns({ spaceId, profile }) {
      const row = await counted.row(session)(
        sql`SELECT ${runsOf(dialect, sql`${spaceId}`, sql`${profile}`)} AS "count"`,
      );
      return row?.count ?? 0;
    },
    async setLabels(labels) {
      const rows = Object.entries(labels).flatMap(([profile, names]) =>
        names.map((label) => ({ profile, label })),
      );
      await execute(sql`DELETE FROM profile_label`);
      if (rows.length > 0) await execute(sql`${profileLabel.insertAll(rows)} ON CONFLICT DO NOTHING`);
    },
  };
}

const pair = ({
  spaceId,
  agentProfile: profile,
}: {
  readonly spaceId: string;
  readonly agentProfile: string;
}): Sql => sql`(${spaceId}, ${profile})`;
