import type { Caller } from "../caller.ts";
import type { Clock } from "../clock.ts";
import { type Change, deferred } from "../deferred.ts";
import { absent, Failure, invalid } from "../failure.ts";
import type { Ids, Random } from "../ids.ts";
import { dropSkills } from "../skills/keep.ts";
import type { SkillShelf } from "../skills/skill.ts";
import type { Tx } from "../store.ts";
import type { AddressRules } from "../webhooks/address.ts";
import type { AppWebhooks, SetAppWebhook } from "../webhooks/app-webhooks.ts";
import { appsMax, editsAllApps, type OAuthApp } from "./app.ts";
import { type AppSettings, checkSettings, isExpansion, type WantedSettings } from "./app-rules.ts";
import { newSecret } from "./secret.ts";

/** What new rows are made from. */
export interface AppParts {
  readonly clock: Pick<Clock, "now">;
  readonly ids: Ids;
  readonly random: Random;
}

/** What apps are made of. */
export interface AppsParts extends AppParts {
  /** Read before a change. */
  readonly store: Tx;
  readonly webhooks: AppWebhooks;
  readonly rules: AddressRules;
}

/** An app, and the webhook behind its URL. */
export interface AppView extends OAuthApp {
  readonly webhookId: string | null;
}

/**
 * Apps of the caller's team (contract/oauth.md 1, 13). What is not the team's is as
 * absent as no app. A webhook's URL is tested before the change (contract/decisions.md 43).
 */
export interface Apps {
  /** @throws Failure `invalid`, or `exhausted` when the team has 50. */
  create(caller: Caller, wanted: WantedSettings): Promise<Change<{ readonly app: AppView; readonly secret: string }>>;
  /** @throws Failure `absent` */
  get(tx: Tx, caller: Caller, clientId: string): Promise<AppView>;
  /** Newest first. */
  list(tx: Tx, caller: Caller): Promise<readonly AppView[]>;
  /**
   * Sets what the edit makes of the present settings.
   *
   * @throws Failure `absent`, `forbidden` or `invalid`.
   */
  update(caller: Caller, clientId: string, edit: (present: WantedSettings) => WantedSettings): Promise<Change<AppView>>;
  /** @throws Failure `absent` or `forbidden`. */
  remove(tx: Tx, caller: Caller, clientId: string): Promise<void>;
}

export function apps({ clock, ids, random, store, webhooks, rules }: AppsParts): Apps {
  async function prepareWebhook(caller: Caller, clientId: string, edit: Parameters<Apps["update"]>[2]): Promise<SetAppWebhook> {
    const app = checkEditable(await store.apps.find(clientId), caller);
    return webhooks.prepare(app, checkSettings(edit(presentOf(app)), rules).webhookUrl);
  }

  return {
    async create(caller, wanted) {
      const { accountId: creatorId, spaceId } = caller;
      const settings = checkSettings(wanted, rules);
      await checkPrivate(store, null, settings.skillIds);
      const clientId = `client_${ids.short()}`;
      const setWebhook = await webhooks.prepare({ clientId, spaceId, creatorId }, settings.webhookUrl);
      return async (tx) => {
        await tx.accounts.lockSpace(spaceId);
        if ((await tx.apps.list(spaceId)).length >= appsMax) throw new Failure("exhausted", `a team has at most ${appsMax} apps`);
        const now = clock.now();
        const app: OAuthApp = { ...settings, clientId, spaceId, creatorId, generation: 1, createdAt: now, updatedAt: now };
        const { secret, text } = newSecret({ now, ids, random }, clientId);
        await tx.apps.insert(app);
        await tx.apps.insertSecret(secret);
        const webhookId = await setWebhook(tx, app.webhookUrl);
        tx.audit.note({ subject: clientId, after: auditOf(app) });
        return { app: { ...app, webhookId }, secret: text };
      };
    },

    async get(tx, caller, clientId) {
      const app = ofTeam(await tx.apps.find(clientId), caller);
      return { ...app, webhookId: (await tx.webhooks.ofApp(clientId))?.id ?? null };
    },

    async list(tx, { spaceId }) {
      const webhookIds = await tx.webhooks.idsOfApps(spaceId);
      return (await tx.apps.list(spaceId)).map((app) => ({ ...app, webhookId: webhookIds.get(app.clientId) ?? null }));
    },

    async update(caller, clientId, edit) {
      const webhook = await deferred(prepareWebhook(caller, clientId, edit));
      return async (tx) => {
        const setWebhook = webhook();
        const before = await lockEditable(tx, caller, clientId);
        const settings = checkSettings(edit(presentOf(before)), rules);
        await checkPrivate(tx, before, settings.skillIds);
        // Whoever consented to less is asked again, also where it was granted long ago (contract/decisions.md 30).
        const generation = before.generation + (isExpansion(before, settings) ? 1 : 0);
        const after: OAuthApp = { ...before, ...settings, generation, updatedAt: clock.now() };
        await tx.apps.update(after);
        const webhookId = await setWebhook(tx, after.webhookUrl);
        tx.audit.note({ subject: clientId, ...differenceOf(before, after) });
        return { ...after, webhookId };
      };
    },

    async remove(tx, caller, clientId) {
      const app = await lockEditable(tx, caller, clientId);
      // Secrets, grants, codes and tokens are judged through this row: they are dead with it.
      await tx.apps.remove(clientId, clock.now());
      await webhooks.remove(tx, clientId);
      await dropSkills(tx, await tx.skills.onShelf(shelfOf(app)), clock.now());
      tx.audit.note({ subject: clientId, before: auditOf(app) });
    },
  };
}

/** @throws Failure `absent` or `forbidden`. */
export function checkEditable(app: OAuthApp | null, caller: Caller): OAuthApp {
  const found = ofTeam(app, caller);
  if (found.creatorId === caller.accountId || editsAllApps(caller)) return found;
  throw new Failure("forbidden", "an app is changed by whoever made it, the team's owner, a super admin or an admin");
}

/** An app that the caller may change, and nobody else changes before this change ends. */
export const lockEditable = async (tx: Tx, caller: Caller, clientId: string): Promise<OAuthApp> =>
  checkEditable(await tx.apps.lock(clientId), caller);

function ofTeam(app: OAuthApp | null, { spaceId }: Caller): OAuthApp {
  if (app?.spaceId !== spaceId) throw absent("app");
  return app;
}

/** The list of an app's private skills (contract/oauth.md 11). */
const shelfOf = ({ clientId, spaceId }: OAuthApp): SkillShelf => ({
  ownerType: "app",
  clientId,
  spaceId,
  accountId: null,
  projectId: null,
});

/**
 * An app can be given its own private skills alone; whatever its settings named before may stay.
 *
 * @param app null before it is made: then it has none.
 * @throws Failure `invalid`
 */
async function checkPrivate(tx: Tx, app: OAuthApp | null, ids: readonly string[]): Promise<void> {
  const added = ids.filter((id) => !app?.skillIds.includes(id));
  if (added.length === 0) return;
  const own = app ? (await tx.skills.onShelf(shelfOf(app))).map(({ id }) => id) : [];
  const stray = added.find((id) => !own.includes(id));
  if (stray !== undefined) throw invalid(`skill_ids[${ids.indexOf(stray)}]`, "is no private skill of this app");
}

const presentOf = ({ scopes, connectorUids, webhookUrl, ...app }: OAuthApp): WantedSettings => ({
  name: app.name,
  description: app.description,
  redirectUris: app.redirectUris,
  homepageUrl: app.homepageUrl,
  webhookUrl: webhookUrl ?? "",
  skillIds: app.skillIds,
  confidentialOnly: app.confidentialOnly,
  loopbackAnyPort: app.loopbackAnyPort,
  scopeConfig: { scopes, connectorUids },
});

type Audited = Readonly<Record<string, unknown>>;

/** Of the webhook's URL only the host: its path may be a secret (contract/decisions.md 44). */
const auditOf = ({ webhookUrl, ...app }: AppSettings): Audited => ({
  name: app.name,
  description: app.description,
  redirectUris: app.redirectUris,
  homepageUrl: app.homepageUrl,
  webhookHost: webhookUrl && new URL(webhookUrl).host,
  skillIds: app.skillIds,
  confidentialOnly: app.confidentialOnly,
  loopbackAnyPort: app.loopbackAnyPort,
  scopes: app.scopes,
  connectorUids: app.connectorUids,
});

/** What a change of settings replaced, and by what. */
function differenceOf(before: OAuthApp, after: OAuthApp): { readonly before: Audited; readonly after: Audited } {
  const [was, is] = [auditOf(before), auditOf(after)];
  const changed = Object.keys(is).filter((name) => JSON.stringify(was[name]) !== JSON.stringify(is[name]));
  const of = (all: Audited) => Object.fromEntries(changed.map((name) => [name, all[name]]));
  return { before: of(was), after: of(is) };
}
