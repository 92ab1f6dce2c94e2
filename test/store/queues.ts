import type { TestDatabase } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";

const columns = `id, account_id, space_id, type, title, status, share_visibility, hidden, agent_profile, locale, interactive, task_references,
  credits, created_at, updated_at, last_message_at, last_seq, last_timestamp, message_seq, answered_seq, consumed_seq, fence, node_id,
  claims, idle_claims, queued_at`;

/**
 * Puts `count` running tasks without events into the queue of an account, the oldest first: `ACCOUNT-1`,
 * `ACCOUNT-2`, …
 */
export async function putQueue(
  database: TestDatabase,
  accountId: string,
  count: number,
  nodeId?: string,
): Promise<void> {
  const node = nodeId === undefined ? "NULL" : `'${nodeId}'`;
  await runDirectly(
    database,
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    INSERT INTO task (${columns}) SELECT '${accountId}-' || i, '${accountId}', 'north', 'standard', 'Post', 'running', 'private', FALSE, 'manus-1.6',
      'en', FALSE, '[]', 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, ${node}, 0, 0, i FROM n`,
  );
}
