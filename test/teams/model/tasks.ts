import { systemIds } from "../../../src/core/ids.ts";
import type { Person, Service } from "../../support/service.ts";
import type { StillClock } from "../../support/still-clock.ts";
import type { Side } from "./rig.ts";

/** A task as the exports should list it. */
export interface TaskFact {
  readonly id: string;
  readonly side: Side;
  readonly owner: string;
  readonly createdAt: number;
  readonly projectId: string | undefined;
  status: "RUNNING" | "STOPPED";
  deletedAt: number | undefined;
}

/** A user with tasks, by account; in both teams or in one. */
export interface Author {
  readonly accountId: string;
  readonly places: Readonly<Record<Side, Membership | undefined>>;
}

/** A current or former membership. */
export interface Membership {
  readonly person: Person;
  readonly memberId: string;
  readonly email: string;
  /** Whether the address was rewritten or the member removed; nothing more is created. */
  left: boolean;
}

/** Everything that was created, in a plain list. */
export interface TaskModel {
  readonly tasks: TaskFact[];
  readonly authors: readonly Author[];
}

/** The part of the platform that the commands need. */
export interface TaskReal {
  readonly service: Service;
  readonly clock: StillClock;
  readonly owners: Readonly<Record<Side, Person>>;
  readonly tally: Map<string, number>;
}

/** Two teams; one author in each, and one in both. */
export async function createAuthors({
  service,
  clock,
  tally,
}: Omit<TaskReal, "owners">): Promise<{ model: TaskModel; real: TaskReal }> {
  const owners = { north: await service.person(), south: await service.person() };
  const place = async (side: Side, as?: Person): Promise<Membership> => {
    const person = await service.person({ with: owners[side], ...(as ? { as } : {}) });
    const row = await service.store.accounts.member(`team-${person.spaceId}`, person.accountId);
    if (row === null) throw new Error("no member was added");
    return { person, memberId: row.id, email: row.email, left: false };
  };
  const author = ({ person: { accountId } }: Membership, places: Author["places"]): Author => ({
    accountId,
    places,
  });
  const [north, south, both] = [await place("north"), await place("south"), await place("north")];
  const authors = [
    author(north, { north, south: undefined }),
    author(south, { north: undefined, south }),
    author(both, { north: both, south: await addSecondMembership(both, owners.south, service) }),
  ];
  return { model: { tasks: [], authors }, real: { service, clock, owners, tally } };
}

/** The same account in another team, which knows it by another address. */
async function addSecondMembership(
  { person }: Membership,
  { spaceId }: Person,
  service: Service,
): Promise<Membership> {
  const id = systemIds.short();
  const email = `other-${id.toLowerCase()}@corp.test`;
  const { accountId } = person;
  const self = { accountId, spaceId };
  const made = {
    id,
    teamId: `team-${spaceId}`,
    spaceId,
    accountId,
    email,
    role: "member",
    status: "active",
  } as const;
  await service.store.change(({ accounts }) => accounts.insertMember({ ...made, createdAt: 1000 }));
  return { person: await service.person({ as: self, with: self }), memberId: id, email, left: false };
}

/** The input of ListTasks. */
export interface TaskQuery {
  readonly startTime: number | undefined;
  readonly endTime: number | undefined;
  readonly includeDeleted: boolean;
  readonly page: number;
  readonly pageSize: number;
}

/**
 * A page of a plain list: newest first, both bounds included, the total over all pages (spec/enterprise.md
 * 6.1, 13).
 */
export function pageOf({ tasks }: TaskModel, side: Side, owner: string, query: TaskQuery) {
  const { startTime = 0, endTime = Number.MAX_SAFE_INTEGER, includeDeleted, page, pageSize } = query;
  const all = tasks
    .filter((task) => task.side === side && task.owner === owner)
    .filter(({ createdAt }) => createdAt >= startTime && createdAt <= endTime)
    .filter(({ deletedAt }) => includeDeleted || deletedAt === undefined)
    .toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
  return { tasks: all.slice((page - 1) * pageSize, page * pageSize), total: all.length };
}
