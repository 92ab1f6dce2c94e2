import { dayStart } from "../../core/usage/day.ts";
import type { PeoplePage, UsageByPerson, UsageRows } from "../../core/usage/usage.ts";
import type { Session } from "../session.ts";
import { all, direction, empty, numberOf, raw, type Sql, sql, type Whole } from "../sql.ts";

interface PersonRow {
  readonly account_id: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly tasks: Whole;
  readonly credits: Whole;
}

/** The newest membership of an account, a living one before tombstones. */
const member = (what: Sql, spaceId: string, accountId: Sql): Sql => sql`
  (SELECT ${what} FROM membership m WHERE m.space_id = ${spaceId} AND m.account_id = ${accountId}
   ORDER BY CASE WHEN m.status = 'removed' THEN 1 ELSE 0 END, m.created_at DESC, m.id LIMIT 1)`;

/** The account's own name counts from the person's first sign-in to this team on (contract/decisions.md 5). */
const named = sql`COALESCE(m.name, (SELECT a.name FROM account a WHERE a.id = m.account_id AND m.signed_in_at IS NOT NULL), m.email)`;

/** What a member of a space's team is called, or else the address; null for somebody who never was one. */
export const personName = (spaceId: string, accountId: Sql): Sql => member(named, spaceId, accountId);

/** Everybody of a team, with what they used in a range. */
export const peopleOf =
  ({ query }: Session): UsageRows["people"] =>
  async (spaceId, page) => {
    const { sort, order, limit, after } = page;
    const rows = await query<PersonRow>(sql`
      WITH ${sums(spaceId, page)}
      SELECT p.account_id, p.tasks, p.credits, ${personName(spaceId, sql`p.account_id`)} AS name,
        ${member(sql`m.email`, spaceId, sql`p.account_id`)} AS email
      FROM person p WHERE ${after ? beyond(sort, order, after) : sql`1 = 1`}
      ORDER BY ${raw(`p.${sort}`)} ${direction(order)}, p.account_id ${direction(order)} LIMIT ${limit}`);
    return rows.map(personOf);
  };

/** `person`: account, tasks that used something, credits. */
function sums(spaceId: string, { range: { from, to }, accountId }: PeoplePage): Sql {
  const only = accountId === undefined ? empty : sql`AND account_id = ${accountId}`;
  const entries = all([sql`space_id = ${spaceId}`, sql`at >= ${dayStart(from)}`, sql`at < ${dayStart(to + 1)}`, sql`kind = 'cost'`]);
  return sql`
    worked (account_id, tasks) AS (
      SELECT account_id, COUNT(DISTINCT task_id) FROM usage_entry WHERE ${entries} ${only} GROUP BY account_id
    ),
    spent (account_id, credits) AS (
      SELECT account_id, CAST(SUM(credits) AS BIGINT) FROM usage_day
      WHERE space_id = ${spaceId} AND day >= ${from} AND day <= ${to} ${only} GROUP BY account_id
    ),
    somebody (account_id) AS (
      SELECT account_id FROM membership WHERE space_id = ${spaceId} AND status <> 'removed' ${only}
      UNION SELECT account_id FROM worked UNION SELECT account_id FROM spent
    ),
    person (account_id, tasks, credits) AS (
      SELECT s.account_id, COALESCE(worked.tasks, 0), COALESCE(spent.credits, 0) FROM somebody s
      LEFT JOIN worked ON worked.account_id = s.account_id LEFT JOIN spent ON spent.account_id = s.account_id
    )`;
}

function beyond(sort: PeoplePage["sort"], order: PeoplePage["order"], { value, id }: NonNullable<PeoplePage["after"]>): Sql {
  const column = raw(`p.${sort}`);
  const further = raw(order === "asc" ? ">" : "<");
  return sql`(${column} ${further} ${value} OR (${column} = ${value} AND p.account_id ${further} ${id}))`;
}

const personOf = ({ account_id: accountId, name, email, tasks, credits }: PersonRow): UsageByPerson => ({
  ...{ accountId, name: name ?? "", email: email ?? "", tasks: numberOf(tasks), credits: numberOf(credits) },
});
