import type { Caller } from "../accounts/caller.ts";
import type { AddressRules } from "../addresses/address.ts";
import { type Change, deferFailure } from "../deferred.ts";
import { Failure, invalidArgument } from "../failure.ts";
import {
  type AppParts,
  appsMax,
  checkEditable,
  lockEditable,
  newSecret,
  type OAuthApp,
  requireAppOfTeam,
  type TeamApp,
} from "../oauth/app.ts";
import { type AppSettings, checkSettings, isExpansion, type SettingsInput } from "../oauth/app-rules.ts";
import type { SkillOwner } from "../skills/skill.ts";
import { deleteSkills } from "../skills/store-skill.ts";
import type { Tx } from "../store.ts";
import type { AppWebhooks, SetAppWebhook } from "../webhooks/app-webhooks.ts";

export interface AppsParts extends AppParts {
  /** For reads before a change. */
  readonly store: Tx;
  readonly webhooks: AppWebhooks;
  readonly rules: AddressRules;
}

/** An app, and the webhook of its URL. */
export interface AppView extends OAuthApp {
  readonly webhookId: string | null;
}

/**
 * Apps of the caller's team (spec/oauth.md 1, 13). An app of another team is reported
 * as not found. The URL of a webhook is tested before the change (spec/decisions.md 43).
 */
export interface Apps {
  /** @throws Failure `invalid_argument`, or `resource_exhausted` when the team has 50. */
  create(caller: Caller, input: SettingsInput): Promise<Change<{ app: AppView; secret: string }>>;
  /** @throws Failure `not_found` */
  get(tx: Tx, caller: Caller, clientId: string): Promise<AppView>;
  /** Newest first. */
  list(tx: Tx, caller: Caller): Promise<readonly AppView[]>;
  /**
   * Replaces the settings by the edited ones.
   *
   * @throws Failure `not_found`, `permission_denied` or `invalid_argument`.
   */
  update(
    caller: Caller,
    clientId: string,
    edit: (current: SettingsInput) => SettingsInput,
  ): Promise<Change<AppView>>;
  /** @throws Failure `not_found` or `permission_denied`. */
  remove(tx: Tx, caller: Caller, clientId: string): Promise<void>;
}

export function apps({ clock, ids, random, store, webhooks, rules }: AppsParts): Apps {
  async function prepareWebhook(
    caller: Caller,
    clientId: string,
    edit: Parameters<Apps["update"]>[2],
  ): Promise<SetAppWebhook> {
    const app = checkEditable(await store.apps.find(clientId), caller);
    return webhooks.prepare(app, checkSettings(edit(toInput(app)), rules).webhookUrl);
  }

  /**
   * Ends the tokens with which an app acts as itself, and pauses the schedules that it has for the member.
   */
  async function endService(tx: Tx, { clientId, spaceId }: TeamApp, accountId: string): Promise<void> {
    await tx.families.revokeService(clientId, clock.now());
    await tx.schedules.pauseAll({ accountId, spaceId, clientId }, "grant_revoked", clock.now());
  }

  return {
    async create(caller, input) {
      const { accountId, spaceId } = caller;
      const settings = checkSettings(input, rules);
      await checkPrivate(store, null, settings.skillIds);
      const clientId = `client_${ids.short()}`;
      const setWebhook = await webhooks.prepare(
        { clientId, spaceId, creatorId: accountId },
        settings.webhookUrl,
      );
      return async (tx) => {
        await tx.accounts.lockSpace(spaceId);
        if ((await tx.apps.list(spaceId)).length >= appsMax)
          throw new Failure("resource_exhausted", `a team has at most ${appsMax} apps`);
        const now = clock.now();
        const app: OAuthApp = {
          ...settings,
          serviceAccountId: serviceAccountOf(input, null, caller),
          clientId,
          spaceId,
          creatorId: accountId,
          verified: true,
          generation: 1,
          createdAt: now,
          updatedAt: now,
        };
        const { secret, text } = newSecret({ now, ids, random }, clientId);
        await tx.apps.insert(app);
        if (app.allowedOrigins.length > 0) await tx.apps.setOrigins(clientId, app.allowedOrigins);
        await tx.apps.insertSecret(secret);
        const webhookId = await setWebhook(tx, app.webhookUrl);
        tx.audit.note({ subject: clientId, after: toAuditFacts(app) });
        return { app: { ...app, webhookId }, secret: text };
      };
    },

    async get(tx, caller, clientId) {
      const app = requireAppOfTeam(await tx.apps.find(clientId), caller);
      return { ...app, webhookId: (await tx.webhooks.findOfApp(clientId))?.id ?? null };
    },

    async list(tx, { spaceId }) {
      const webhookIds = await tx.webhooks.listIdsOfApps(spaceId);
      return (await tx.apps.list(spaceId)).map((app) => ({
        ...app,
        webhookId: webhookIds.get(app.clientId) ?? null,
      }));
    },

    async update(caller, clientId, edit) {
      const getSetter = await deferFailure(prepareWebhook(caller, clientId, edit));
      return async (tx) => {
        const setWebhook = getSetter();
        const before = await lockEditable(tx, caller, clientId);
        const input = edit(toInput(before));
        const settings = checkSettings(input, rules);
        const serviceAccountId = serviceAccountOf(input, before.serviceAccountId, caller);
        await checkPrivate(tx, before, settings.skillIds);
        // Users who consented to less must consent again, also to scopes that they granted before
        // (spec/decisions.md 30).
        const generation = before.generation + (isExpansion(before, settings) ? 1 : 0);
        const after: OAuthApp = {
          ...before,
          ...settings,
          serviceAccountId,
          generation,
          updatedAt: clock.now(),
        };
        await tx.apps.update(after);
        if (serviceAccountId === null && before.serviceAccountId !== null)
          await endService(tx, before, before.serviceAccountId);
        if (after.allowedOrigins.join() !== before.allowedOrigins.join())
          await tx.apps.setOrigins(clientId, after.allowedOrigins);
        const webhookId = await setWebhook(tx, after.webhookUrl);
        tx.audit.note({ subject: clientId, ...findDifference(before, after) });
        return { ...after, webhookId };
      };
    },

    async remove(tx, caller, clientId) {
      const app = await lockEditable(tx, caller, clientId);
      // Secrets, grants, codes and tokens are checked against this row: they become invalid with it.
      await tx.apps.remove(clientId, clock.now());
      await webhooks.remove(tx, clientId);
      await deleteSkills(tx, await tx.skills.listOfOwner(skillOwnerOf(app)), clock.now());
      const paused = await tx.schedules.pauseAll(
        { clientId, spaceId: app.spaceId },
        "app_deleted",
        clock.now(),
      );
      tx.audit.note({
        subject: clientId,
        before: toAuditFacts(app),
        ...(paused === 0 ? {} : { after: { schedules: paused } }),
      });
    },
  };
}

/**
 * The member for whom an app acts as itself: who allows it. A key, which may be limited, cannot allow an app
 * more than it can do itself.
 *
 * @throws Failure `permission_denied` without a session.
 */
function serviceAccountOf(
  { clientCredentials }: SettingsInput,
  before: string | null,
  { accountId, credential }: Caller,
): string | null {
  if (!clientCredentials) return null;
  if (before !== null) return before;
  if (credential.kind === "session") return accountId;
  throw new Failure(
    "permission_denied",
    "client_credentials: only a signed-in person can let an app act as itself",
  );
}

/** The owner of an app's private skills (spec/oauth.md 11). */
const skillOwnerOf = ({ clientId, spaceId }: TeamApp): SkillOwner => ({
  ownerType: "app",
  clientId,
  spaceId,
  accountId: null,
  projectId: null,
});

/**
 * Only an app's own private skills can be added to it; skills that its settings named before may stay.
 *
 * @param app null before it is created: then it has none.
 * @throws Failure `invalid_argument`
 */
async function checkPrivate(tx: Tx, app: TeamApp | null, ids: readonly string[]): Promise<void> {
  const added = ids.filter((id) => !app?.skillIds.includes(id));
  if (added.length === 0) return;
  const own = app ? (await tx.skills.listOfOwner(skillOwnerOf(app))).map(({ id }) => id) : [];
  const foreign = added.find((id) => !own.includes(id));
  if (foreign !== undefined)
    throw invalidArgument(`skill_ids[${ids.indexOf(foreign)}]`, "is not a private skill of this app");
}

const toInput = ({
  scopes,
  connectorUids,
  webhookUrl,
  serviceAccountId,
  ...app
}: OAuthApp): SettingsInput => ({
  clientCredentials: serviceAccountId !== null,
  name: app.name,
  description: app.description,
  redirectUris: app.redirectUris,
  allowedOrigins: app.allowedOrigins,
  homepageUrl: app.homepageUrl,
  webhookUrl: webhookUrl ?? "",
  skillIds: app.skillIds,
  confidentialOnly: app.confidentialOnly,
  loopbackAnyPort: app.loopbackAnyPort,
  deviceAuthorization: app.deviceAuthorization,
  scopeConfig: { scopes, connectorUids },
});

type AuditFacts = Readonly<Record<string, unknown>>;

/** Contains only the host of the webhook's URL: its path may be a secret (spec/decisions.md 44). */
const toAuditFacts = ({
  webhookUrl,
  ...app
}: AppSettings & Pick<OAuthApp, "serviceAccountId">): AuditFacts => ({
  name: app.name,
  description: app.description,
  redirectUris: app.redirectUris,
  allowedOrigins: app.allowedOrigins,
  homepageUrl: app.homepageUrl,
  webhookHost: webhookUrl && new URL(webhookUrl).host,
  skillIds: app.skillIds,
  confidentialOnly: app.confidentialOnly,
  loopbackAnyPort: app.loopbackAnyPort,
  deviceAuthorization: app.deviceAuthorization,
  serviceAccountId: app.serviceAccountId,
  scopes: app.scopes,
  connectorUids: app.connectorUids,
});

/** The changed settings, before and after. */
function findDifference(before: OAuthApp, after: OAuthApp): { before: AuditFacts; after: AuditFacts } {
  const [was, is] = [toAuditFacts(before), toAuditFacts(after)];
  const changed = Object.keys(is).filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]));
  const pickChanged = (all: AuditFacts) => Object.fromEntries(changed.map((name) => [name, all[name]]));
  return { before: pickChanged(was), after: pickChanged(is) };
}
