import { systemIds } from "../../src/core/ids.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { putTask, userMessage } from "../store/samples.ts";
import { openService, type Person, type Service } from "../support/service.ts";

/** Paths of methods that enterprise clients call. */
export const removeMember = "team.v2.TeamUserManagementApiV2Service/RemoveMember";
export const listTasks = "dataexport.v1.EnterpriseDataExportService/ListTasks";

/** A person with two tasks and a deleted one. */
export const lea = "0b9f2f1e-3c55-4f0e-9d3a-5f1f9a7c2e10";

/** A platform of one team, with a key for each kind of enterprise client. */
export interface EnterpriseRig extends AsyncDisposable {
  readonly service: Service;
  readonly owner: { readonly memberId: string; readonly spaceId: string };
  /** The key's owner for team users. */
  readonly manager: Person;
  /** The key's owner for exports. */
  readonly reader: Person;
  /** Adds an admin `id`, to whom a member is delegated; clients remove the admin. */
  putMember(id: string): Promise<void>;
}

export async function openEnterpriseRig(): Promise<EnterpriseRig> {
  const service = await openService({ idle: true });
  const { store } = service;
  const owner = await service.person();
  const of = { as: owner, with: owner };
  const { spaceId } = owner;
  const teamId = `team-${spaceId}`;
  const [manager, reader] = [
    await service.person({ ...of, kind: "team_user_mgmt" }),
    await service.person({ ...of, kind: "ediscovery" }),
  ];

  async function put(
    id: string,
    facts: JsonObject & { readonly role: "admin" | "member"; readonly status: "active" | "inactive" },
    accountId: string,
  ) {
    const email = `${id}@corp.test`;
    await store.change(async ({ accounts, members }) => {
      await accounts.insertAccount({ id: accountId, email, name: null, locale: "en", createdAt: 1000 });
      const { role, status } = facts;
      await members.insert({
        id,
        teamId,
        spaceId,
        accountId,
        email,
        role,
        status,
        name: `Name of ${id}`,
        externalId: null,
        createdAt: 1000,
      });
    });
  }

  await put("lea", { role: "member", status: "active" }, lea);
  for (const [index, title] of ["Q3 memo", "Q4 memo", "Draft"].entries()) {
    const at = Date.UTC(2031, 3, index + 1, 8);
    const task = {
      id: `task-${index}`,
      accountId: lea,
      spaceId,
      title,
      createdAt: at,
      updatedAt: at + 60_000,
      lastMessageAt: at,
    };
    await putTask(store, { ...task, status: "stopped" }, [userMessage()]);
    if (title === "Draft") await store.change((tx) => tx.tasks.tombstone(task.id, at + 120_000, false));
  }
  const { id: memberId = "" } = (await store.accounts.ownerOf(spaceId)) ?? {};
  return {
    ...{ service, manager, reader, owner: { memberId, spaceId } },
    async putMember(id) {
      await put(id, { role: "admin", status: "active" }, systemIds.uuid());
      await put(`${id}-held`, { role: "member", status: "inactive" }, systemIds.uuid());
      const delegation = { to: id, at: 2000, originalEmail: `${id}-held@corp.test` };
      await store.change((tx) =>
        tx.members.update(spaceId, `${id}-held`, {
          email: `delegate-${id}@svc.test`,
          status: "active",
          delegation,
        }),
      );
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

/**
 * The expected lines of a client that removes a member, lists Lea's tasks and is refused; protobuf's JSON
 * form.
 */
export const enterpriseStory = (id: string, spaceId: string) => {
  const named = (name: string) => ({
    team_user_id: name,
    email: `${name}@corp.test`,
    user_name: `Name of ${name}`,
  });
  const cascade = {
    team_user_id: `${id}-held`,
    display_name: `Name of ${id}-held`,
    action: "returned_to_pool",
    new_status: "USER_STATUS_INACTIVE",
  };
  const record = (index: number, title: string) => ({
    ...{
      task_uid: `task-${index}`,
      user_id: lea,
      space_id: spaceId,
      title,
      status: "SESSION_STATUS_STOPPED",
    },
    ...{ created_at: `2031-04-0${index + 1}T08:00:00Z`, updated_at: `2031-04-0${index + 1}T08:01:00Z` },
  });
  const removed = { ...named(id), status: "USER_STATUS_REMOVED", role: "TEAM_MEMBER_ROLE_ADMIN" };
  const deleted = {
    ...record(2, "Draft"),
    is_deleted: true,
    updated_at: "2031-04-03T08:02:00Z",
    deleted_at: "2031-04-03T08:02:00Z",
  };
  return [
    { step: "removed", answer: { ok: true, user: removed, cascade_affected: [cascade] } },
    { step: "listed", answer: { total: 2, records: [record(1, "Q4 memo"), record(0, "Q3 memo")] } },
    {
      step: "listed with deleted ones",
      answer: { total: 3, records: [deleted, record(1, "Q4 memo"), record(0, "Q3 memo")] },
    },
    { step: "refused", what: "a second removal", code: "NOT_FOUND" },
    { step: "refused", what: "the owner's removal", code: "FAILED_PRECONDITION" },
    { step: "refused", what: "a removal with a key for exports", code: "PERMISSION_DENIED" },
    { step: "refused", what: "a list with a key for members", code: "PERMISSION_DENIED" },
    { step: "refused", what: "a list without a key", code: "UNAUTHENTICATED" },
    { step: "refused", what: "a list of an unknown user's tasks", code: "NOT_FOUND" },
    { step: "refused", what: "a list without a page", code: "INVALID_ARGUMENT" },
  ];
};

/** A client in some language: calls a method with a key, or throws the refusal as `{ code }`. */
export type EnterpriseCall = (rpc: string, key: string | null, request: JsonObject) => Promise<JsonObject>;

/** Removes a member, lists Lea's tasks, and returns the results. */
export async function runEnterpriseStory(
  call: EnterpriseCall,
  id: string,
  { owner, manager, reader }: EnterpriseRig,
): Promise<JsonObject[]> {
  const remove = (teamUserId: string, { key }: Person) =>
    call(removeMember, key, { team_user_id: teamUserId });
  const list = (key: string | null, asked: JsonObject = {}) =>
    call(listTasks, key, { user: "lea@corp.test", page: 1, page_size: 10, ...asked });
  const refused = async (what: string, work: Promise<unknown>) => {
    const refusal = await work.then(
      () => ({ code: "nothing" }),
      (thrown: unknown) => thrown as { readonly code: string },
    );
    return { step: "refused", what, code: refusal.code };
  };
  return [
    { step: "removed", answer: await remove(id, manager) },
    { step: "listed", answer: await list(reader.key) },
    { step: "listed with deleted ones", answer: await list(reader.key, { include_deleted: true }) },
    await refused("a second removal", remove(id, manager)),
    await refused("the owner's removal", remove(owner.memberId, manager)),
    await refused("a removal with a key for exports", remove("lea", reader)),
    await refused("a list with a key for members", list(manager.key)),
    await refused("a list without a key", list(null)),
    await refused("a list of an unknown user's tasks", list(reader.key, { user: "nobody@corp.test" })),
    await refused("a list without a page", list(reader.key, { page: 0 })),
  ];
}
