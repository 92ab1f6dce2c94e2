import type { Person, Service } from "../../support/service.ts";

/** A member with its identifiers. */
export interface Named {
  readonly id: string;
  readonly accountId: string;
  readonly email: string;
}

/** A team with a member in every state, and one of each object that a call can name. */
export interface SampleTeam {
  readonly owner: Named;
  readonly active: Named;
  readonly inactive: Named;
  readonly holder: Named;
  /** The profile that the holder holds. */
  readonly delegated: Named;
  readonly removed: Named;
  readonly project: string;
  readonly exported: string;
  /** All members, as the owner sees them. */
  members(): Promise<readonly unknown[]>;
  /** The members when the team was made. */
  readonly before: readonly unknown[];
}

/** Makes a team through the API, by its owner's general key. */
export async function createSampleTeam(
  service: Service,
  name: string,
): Promise<readonly [Person, SampleTeam]> {
  const owner = await service.person();
  const ask = async (operation: string, body: object) => {
    const reply = await owner.v2(operation, body);
    if (!reply.body.ok) throw new Error(`${operation}: ${JSON.stringify(reply.body)}`);
    return reply.body;
  };
  const named = async (id: string): Promise<Named> => {
    const row = await service.store.accounts.memberById(owner.spaceId, id);
    if (row === null) throw new Error(`there is no ${id}`);
    return { id, accountId: row.accountId, email: row.email };
  };
  const add = async (who: string): Promise<string> =>
    (await ask("team.user.create", { email: `${who}@${name}.test`, role: "TEAM_MEMBER_ROLE_MEMBER" }))["user"]
      .team_user_id;
  const update = (team_user_id: string, status: string) =>
    ask("team.user.update", { team_user_id, status: `USER_STATUS_${status}` });
  const ids = { active: await add("active"), inactive: await add("inactive"), holder: await add("holder") };
  const [delegated, removed] = [await add("delegated"), await add("removed")];
  for (const id of [ids.inactive, delegated]) await update(id, "INACTIVE");
  const role = "MIGRATED_PROFILE_ROLE_MEMBER";
  await ask("team.user.delegate", { team_user_id: delegated, target_team_user_id: ids.holder, role });
  await ask("team.user.remove", { team_user_id: removed });
  const active = await named(ids.active);
  const members = async () =>
    [
      await ask("team.user.list", {}),
      await ask("team.user.list", { status_filter: "USER_STATUS_REMOVED" }),
    ].map(({ users }) => users);
  return [
    owner,
    {
      owner: await named((await service.store.accounts.ownerOf(owner.spaceId))?.id ?? ""),
      active,
      ...{ inactive: await named(ids.inactive), holder: await named(ids.holder) },
      ...{ delegated: await named(delegated), removed: await named(removed) },
      project: (await ask("project.create", { name: "P", instruction: "" }))["project"].id,
      exported: (
        await ask("enterprise.export.create", {
          user_id: active.accountId,
          scope: "ENTERPRISE_EXPORT_SCOPE_FULL",
        })
      )["uid"],
      members,
      before: await members(),
    },
  ];
}
