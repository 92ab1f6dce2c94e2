import type { Subject, SubjectRef, SubjectRows } from "../../core/exports/subject.ts";
import type { Session } from "../session.ts";
import { type Sql, sql } from "../sql.ts";

interface SubjectRow {
  readonly account_id: string;
  readonly team_id: string;
}

/** Persons as memberships: the tombstone of a removed one keeps account and address. */
export function subjectRows({ query }: Session): SubjectRows {
  return {
    async subject(spaceId, ref): Promise<Subject | null> {
      const [row] = await query<SubjectRow>(sql`
        SELECT account_id, team_id FROM membership WHERE space_id = ${spaceId} AND ${isMeant(ref)}
        ORDER BY CASE WHEN status = 'removed' THEN 2 WHEN ${isMeantNow(ref)} THEN 0 ELSE 1 END, removed_at DESC, created_at DESC, id LIMIT 1`);
      return row ? { accountId: row.account_id, teamId: row.team_id } : null;
    },
  };
}

function isMeant(ref: SubjectRef): Sql {
  if ("accountId" in ref) return sql`account_id = ${ref.accountId}`;
  if ("email" in ref) return hasAddress(ref.email);
  return sql`(account_id = ${ref.either} OR ${hasAddress(ref.either)})`;
}

/** By what the membership is called at present: an id always counts. */
function isMeantNow(ref: SubjectRef): Sql {
  if ("accountId" in ref) return sql`1 = 1`;
  if ("email" in ref) return sql`lower(email) = ${ref.email.toLowerCase()}`;
  return sql`(account_id = ${ref.either} OR lower(email) = ${ref.either.toLowerCase()})`;
}

const hasAddress = (address: string): Sql => {
  const folded = address.toLowerCase();
  return sql`(lower(email) = ${folded} OR lower(original_email) = ${folded})`;
};
