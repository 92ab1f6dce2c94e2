import type { Role } from "../../src/core/accounts/account.ts";
import type { Store } from "../../src/core/store.ts";
import { idleTask } from "../../src/core/tasks/lifecycle.ts";
import type { Task } from "../../src/core/tasks/task.ts";
import { type DatabaseKind, openTestStore, rowsIn, runOn } from "../support/database.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";

/** A person's account, and the address of the membership. */
export interface Member {
  readonly accountId: string;
  readonly email: string;
}

/** A service without background work, with a team whose owner exports the data of Bo. */
export interface ExportsRig extends AsyncDisposable {
  readonly service: Service;
  readonly store: Store;
  readonly clock: StillClock;
  readonly owner: Person;
  readonly bo: Member;
  /** An e-Discovery key of the owner's, in the header of the enterprise surfaces. */
  readonly headers: Readonly<Record<string, string>>;
  addMember(role?: Role): Promise<Member>;
  /** A task of a member. */
  putTask(of: Member, members?: Partial<Task>): Promise<Task>;
  /**
   * Leaves the state of a removed member: the tombstone of spec/decisions.md 5, without the account and
   * everything that depends on it.
   */
  removeMember(of: Member): Promise<void>;
  run(statement: string): Promise<void>;
  /** The address of the database. */
  readonly url: string;
  /** The number of exports. */
  count(): Promise<number>;
  /** The keys of the jobs that wait for an exporter. */
  jobs(): Promise<readonly string[]>;
}

export async function exportsRig(kind: DatabaseKind): Promise<ExportsRig> {
  const clock = stillClock();
  const database = await openTestStore(kind, { clock });
  const service = await openService({ over: database, clock, idle: true });
  const { store } = service;
  const owner = await service.person();
  const { key } = await service.person({ kind: "ediscovery", as: owner, with: owner });
  const run = (statement: string) => runOn(database.url, statement);

  async function addMember(role: Role = "member"): Promise<Member> {
    const { accountId } = await service.person({ with: owner, role });
    const member = await store.accounts.member(`team-${owner.spaceId}`, accountId);
    if (member === null) throw new Error("no such member");
    return { accountId, email: member.email };
  }

  return {
    ...{ service, store, clock, owner, run, addMember, bo: await addMember(), headers: { "x-api-key": key } },
    async putTask({ accountId }, members = {}) {
      tasks += 1;
      const task = idleTask(`task-${tasks}`, { accountId, spaceId: owner.spaceId }, clock.now());
      return (await store.change((tx) => tx.tasks.insert({ ...task, title: "Post", ...members }, []))).task;
    },
    async removeMember({ accountId }) {
      await run(
        `UPDATE membership SET status = 'removed', removed_at = ${clock.now()} WHERE account_id = '${accountId}'`,
      );
      await run(`DELETE FROM api_key WHERE account_id = '${accountId}'`);
      await run(`DELETE FROM account WHERE id = '${accountId}'`);
    },
    url: database.url,
    count: async () => Number((await rowsIn(database.url, "SELECT COUNT(*) AS n FROM export"))[0]?.["n"]),
    async jobs() {
      const query =
        kind === "sqlite"
          ? "SELECT key FROM job WHERE kind = 'export'"
          : "SELECT singleton_key AS key FROM pgboss.job WHERE name = 'export'";
      return (await rowsIn(database.url, query)).map(({ key }) => String(key));
    },
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

let tasks = 0;
