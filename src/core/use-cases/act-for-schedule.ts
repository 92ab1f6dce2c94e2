import {
  type Caller,
  type CallerCredential,
  knownScopes,
  lockActiveMember,
  type TokenCredential,
} from "../accounts/caller.ts";
import { checkGranted } from "../connectors/granted.ts";
import { Failure } from "../failure.ts";
import type { OAuthApp } from "../oauth/app.ts";
import { serviceScopesOf } from "../oauth/service.ts";
import type { PauseReason, Schedule } from "../schedules/schedule.ts";
import type { Tx } from "../store.ts";
import type { Task } from "../tasks/task.ts";
import { isOutOfCredits } from "../usage/spend.ts";
import type { Tasks } from "./manage-tasks.ts";

type Owned = Pick<Schedule, "id" | "accountId" | "spaceId" | "clientId" | "apiKeyId">;

/** The caller in whose name a schedule creates tasks, or why it may not create any. */
export type Acting = { readonly caller: Caller } | { readonly ended: PauseReason };

/**
 * Finds the caller in whose name a schedule acts: its creator, or the app for its creator, with the rights
 * that they have now. Locks the membership, so that a person who is removed at the same time gets no further
 * task. No key or token takes part: the schedule stays when those that made it are revoked.
 */
export async function actFor(tx: Tx, schedule: Owned): Promise<Acting> {
  const { accountId, spaceId, clientId } = schedule;
  const team = await tx.accounts.teamOf(spaceId);
  const member = team && (await tx.accounts.member(team.id, accountId));
  if (team && !member) return { ended: "member_removed" };
  const profile = await tx.accounts.profile(accountId, spaceId);
  if (!profile) return { ended: "member_removed" };
  const person = { accountId, spaceId, role: member?.role ?? null, locale: profile.locale };
  const own: Caller = { ...person, credential: credentialOf(schedule) };
  if (!(await isActive(tx, own)))
    return { ended: member?.status === "removed" ? "member_removed" : "member_deactivated" };
  if (clientId === null) return { caller: own };
  const credential = await credentialOfApp(tx, { ...schedule, clientId });
  return typeof credential === "string" ? { ended: credential } : { caller: { ...person, credential } };
}

/**
 * The person's own rights. The key only labels the tasks: they notify the webhooks that its own tasks notify.
 */
const credentialOf = ({ id, apiKeyId }: Owned): CallerCredential =>
  apiKeyId === null
    ? { kind: "session", id, provedAt: 0, expiresAt: 0, operator: false }
    : { kind: "key", keyKind: "general", id: apiKeyId, scopes: null };

async function isActive(tx: Tx, caller: Caller): Promise<boolean> {
  try {
    await lockActiveMember(tx, caller);
    return true;
  } catch {
    return false;
  }
}

/**
 * The app's rights: those that both its user has granted and it still has.
 *
 * @throws Failure `permission_denied` while its user has not approved its newer permissions, and without a
 * scope for tasks.
 */
async function credentialOfApp(
  tx: Tx,
  { id, accountId, spaceId, clientId }: Owned & { clientId: string },
): Promise<TokenCredential | "app_deleted" | "grant_revoked"> {
  const app = await tx.apps.find(clientId);
  if (!app) return "app_deleted";
  const grant = await tx.grants.find({ accountId, spaceId, clientId });
  if (!grant) return app.serviceAccountId === accountId ? serviceCredential(id, app) : "grant_revoked";
  if (grant.generation !== app.generation)
    throw new Failure("permission_denied", "the app asks for more than its user has allowed");
  const scopes = knownScopes(app.scopes).filter((scope) => grant.scopes.includes(scope));
  if (!scopes.includes("create_task") && !scopes.includes("manage_all_tasks"))
    throw new Failure("insufficient_scope", "the app has no scope for tasks");
  const connectorUids = app.connectorUids.filter((uid) => grant.connectorUids.includes(uid));
  return { kind: "token", id, clientId, scopes, connectorUids, resource: null, service: false };
}

/** The rights of an app that acts as itself. */
const serviceCredential = (id: string, app: OAuthApp): TokenCredential => ({
  kind: "token",
  id,
  clientId: app.clientId,
  scopes: serviceScopesOf(app),
  connectorUids: [],
  resource: null,
  service: true,
});

/**
 * Creates a task of a schedule. @throws Failure as task.create, and when a budget is spent or a connector is
 * no longer granted.
 */
export async function createTaskOf(
  tx: Tx,
  tasks: Pick<Tasks, "create">,
  schedule: Schedule,
  caller: Caller,
  now: number,
): Promise<Task> {
  const { id, accountId, spaceId, clientId, template } = schedule;
  const { projectId = null } = template;
  if (await isOutOfCredits(tx, { id: "", rootId: null, accountId, spaceId, clientId, projectId }, now))
    throw new Failure("resource_exhausted", "a budget of the task is spent");
  checkGranted(caller, template.input.resources.connectors);
  const task = await tasks.create(tx, withReach(caller), { ...template, scheduleId: id });
  await tx.schedules.update(id, { lastRunAt: now, lastTaskId: task.id, updatedAt: now });
  return task;
}

/** An app without manage_all_tasks reaches only its own tasks. */
const withReach = (caller: Caller): Caller =>
  caller.credential.kind === "token" && !caller.credential.scopes.includes("manage_all_tasks")
    ? { ...caller, clientId: caller.credential.clientId }
    : caller;
