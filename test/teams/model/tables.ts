import type { DirectConnection } from "../../support/direct.ts";

const textOf = (value: unknown): string | null => (value === null ? null : String(value));

/** A space's memberships by id, including tombstones. */
export async function membersIn({ query }: DirectConnection, spaceId: string) {
  const rows = await query(`SELECT * FROM membership WHERE space_id = '${spaceId}' ORDER BY id`);
  const members = rows.map((row) => ({
    ...{ id: String(row["id"]), email: String(row["email"]), name: textOf(row["name"]) },
    ...{ role: String(row["role"]), status: String(row["status"]) },
    delegatedTo: textOf(row["delegated_to"]),
    originalEmail: textOf(row["original_email"]),
    delegatedAt: row["delegated_at"] === null ? null : Number(row["delegated_at"]),
  }));
  return members.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** The addresses that have an account. */
export async function accountsIn(
  { query }: DirectConnection,
  addresses: readonly string[],
): Promise<readonly string[]> {
  const rows = await query(
    `SELECT email FROM account WHERE email IN (${addresses.map((each) => `'${each}'`).join(", ")})`,
  );
  return addresses.filter((address) => rows.some(({ email }) => email === address));
}

/** A space's tasks, each as id and status. */
export async function workIn({ query }: DirectConnection, spaceId: string): Promise<readonly string[]> {
  const rows = await query(`SELECT id, status FROM task WHERE space_id = '${spaceId}' AND agent_id IS NULL`);
  return rows.map(({ id, status }) => `${id} ${status}`).toSorted();
}

/** A space's changes by a service, each as request id, method and subject. */
export async function auditIn(
  { query }: DirectConnection,
  spaceId: string,
  service: string,
): Promise<readonly string[]> {
  const rows = await query(
    `SELECT request_id, operation, subject FROM audit_event WHERE space_id = '${spaceId}' AND outcome = 'done' AND operation LIKE '${service}/%'`,
  );
  return rows.map(
    (row) => `${row["request_id"]} ${String(row["operation"]).split("/")[1]} ${row["subject"]}`,
  );
}
