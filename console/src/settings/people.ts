import { useInfiniteQuery, useQuery } from "@connectrpc/connect-query";
import { type TeamPerson, TeamService } from "#proto/settings/v1/team_service_pb.ts";
import { type TeamMemberRole, type TeamUser, UserStatus } from "#proto/team/v2/team_user_pb.ts";
import { TeamUserManagementApiV2Service } from "#proto/team/v2/team_user_service_pb.ts";
import { useMe, useRole } from "../api/me.ts";

/** A member of the team as the caller may see it. */
export interface Person {
  readonly id: string;
  /** Name, or else the address, or else the id. */
  readonly name: string;
  /** Only for the owner and super admins. */
  readonly email: string | undefined;
  readonly role: TeamMemberRole;
  readonly status: UserStatus;
  /** Id of the member who holds the delegated profile. */
  readonly delegatedTo: string | undefined;
}

const pageSize = 100;

/** Offset of the page after these, or undefined after the last one. */
const nextOffset = <P extends { total: number }>(
  pages: readonly P[],
  countOf: (page: P) => number,
): number | undefined => {
  const seen = pages.reduce((sum, page) => sum + countOf(page), 0);
  const total = pages.at(-1)?.total ?? 0;
  return seen < total ? seen : undefined;
};

/**
 * The members of the team, by pages. The owner and super admins see inactive ones and addresses too; a search
 * finds active ones.
 */
export function usePeople(query: string) {
  const { isAdmin } = useRole();
  const me = useMe().data;
  const ownName = (email: string | undefined): string | undefined =>
    email !== undefined && email === me?.email ? me.name : undefined;
  const isManaged = isAdmin && query === "";
  const managed = useInfiniteQuery(
    TeamUserManagementApiV2Service.method.listUsers,
    { limit: pageSize, offset: 0 },
    {
      enabled: isManaged,
      pageParamKey: "offset",
      getNextPageParam: (_, pages) => nextOffset(pages, ({ users }) => users.length),
    },
  );
  const directory = useInfiniteQuery(
    TeamService.method.listMembers,
    { query, limit: pageSize, offset: 0 },
    {
      enabled: !isManaged,
      pageParamKey: "offset",
      getNextPageParam: (_, pages) => nextOffset(pages, ({ data }) => data.length),
      placeholderData: (kept) => kept,
    },
  );
  const { error, isFetching, hasNextPage, fetchNextPage, refetch } = isManaged ? managed : directory;
  const people = isManaged
    ? managed.data?.pages.flatMap((page) =>
        page.users.map((user) => personOfUser(user, ownName(user.originalEmail ?? user.email))),
      )
    : directory.data?.pages.flatMap((page) =>
        page.data.map(
          ({ teamUserId, name, email, role }): Person => ({
            id: teamUserId,
            name: name ?? ownName(email) ?? email ?? teamUserId,
            email,
            role,
            status: UserStatus.ACTIVE,
            delegatedTo: undefined,
          }),
        ),
      );
  return {
    people,
    error,
    isFetching,
    hasNextPage,
    more: () => void fetchNextPage(),
    refresh: () => void refetch(),
  };
}

const personOfUser = (user: TeamUser, ownName: string | undefined): Person => ({
  id: user.teamUserId,
  name: user.userName ?? ownName ?? user.originalEmail ?? user.email,
  email: user.originalEmail ?? user.email,
  role: user.role,
  status: user.status,
  delegatedTo: user.delegatedTo,
});

/**
 * The active members, at most 200: for choices and for names of ids. Without a name in the team, the person
 * has that of the account.
 */
export function useDirectory() {
  const { isTeam } = useRole();
  const me = useMe().data;
  const { data } = useQuery(
    TeamService.method.listMembers,
    { limit: 200 },
    { enabled: isTeam, staleTime: 60_000 },
  );
  return (data?.data ?? []).map((person) =>
    person.accountId === me?.userId ? { ...person, name: person.name ?? me.name } : person,
  );
}

type Named<Id extends keyof TeamPerson> = Pick<TeamPerson, Id> & {
  readonly name?: string | undefined;
  readonly email?: string | undefined;
};

/** A member as a choice of a list, by the id in the team. */
export const choiceOf = ({ teamUserId, name, email }: Named<"teamUserId">) =>
  [teamUserId, name ?? email ?? teamUserId] as const;

/** A member as a choice of a list, by the account. */
export const accountChoiceOf = ({ accountId, name, email }: Named<"accountId">) =>
  [accountId, name ?? email ?? accountId] as const;
