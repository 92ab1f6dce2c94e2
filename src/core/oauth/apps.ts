import type { Role } from "../accounts/account.ts";
import type { Caller } from "../caller.ts";
import type { Clock } from "../clock.ts";
import { absent, Failure } from "../failure.ts";
import type { Ids, Random } from "../ids.ts";
import type { Tx } from "../store.ts";
import { appsMax, type OAuthApp } from "./app.ts";
import { type AppSettings, checkSettings, isExpansion, type WantedSettings } from "./app-rules.ts";
import { newSecret } from "./secret.ts";

/** What new rows are made from. */
export interface AppParts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
}

/** Apps of the caller's team (contract/oauth.md 1, 13). What is not the team's is as absent as no app. */
export interface Apps {
  /** @throws Failure `invalid`, or `exhausted` when the team has 50. */
  create(tx: Tx, caller: Caller, wanted: WantedSettings): Promise<{ readonly app: OAuthApp; readonly secret: string }>;
  /** @throws Failure `absent` */
  get(tx: Tx, caller: Caller, clientId: string): Promise<OAuthApp>;
  /** Newest first. */
  list(tx: Tx, caller: Caller): Promise<readonly OAuthApp[]>;
  /**
   * Sets what the edit makes of the present settings.
   *
   * @throws Failure `absent`, `forbidden` or `invalid`.
   */
  update(tx: Tx, caller: Caller, clientId: string, edit: (present: WantedSettings) => WantedSettings): Promise<OAuthApp>;
  /** @throws Failure `absent` or `forbidden`. */
  remove(tx: Tx, caller: Caller, clientId: string): Promise<void>;
}

export function apps({ clock, ids, random }: AppParts): Apps {
  return {
    async create(tx, { accountId, spaceId }, wanted) {
      const settings = checkSettings(wanted);
      await tx.accounts.lockSpace(spaceId);
      if ((await tx.apps.list(spaceId)).length >= appsMax) throw new Failure("exhausted", `a team has at most ${appsMax} apps`);
      const now = clock.now();
      const clientId = `client_${ids.short()}`;
      const app: OAuthApp = { ...settings, clientId, spaceId, creatorId: accountId, generation: 1, createdAt: now, updatedAt: now };
      const { secret, text } = newSecret({ now, ids, random }, clientId);
      await tx.apps.insert(app);
      await tx.apps.insertSecret(secret);
      tx.audit.note({ subject: clientId, after: auditOf(app) });
      return { app, secret: text };
    },

    async get(tx, caller, clientId) {
      return ofTeam(await tx.apps.find(clientId), caller);
    },

    list: (tx, { spaceId }) => tx.apps.list(spaceId),

    async update(tx, caller, clientId, edit) {
      const before = await lockEditable(tx, caller, clientId);
      const settings = checkSettings(edit(presentOf(before)));
      // Whoever consented to less is asked again, also where it was granted long ago (contract/decisions.md 30).
      const generation = before.generation + (isExpansion(before, settings) ? 1 : 0);
      const after: OAuthApp = { ...before, ...settings, generation, updatedAt: clock.now() };
      await tx.apps.update(after);
      tx.audit.note({ subject: clientId, ...differenceOf(before, after) });
      return after;
    },

    async remove(tx, caller, clientId) {
      const app = await lockEditable(tx, caller, clientId);
      // Secrets, grants, codes and tokens are judged through this row: they are dead with it.
      await tx.apps.remove(clientId, clock.now());
      tx.audit.note({ subject: clientId, before: auditOf(app) });
    },
  };
}

/** Who may change, delete and give secrets to any app of the team; whoever made one may too (contract/oauth.md 13). */
const editors: readonly (Role | null)[] = ["owner", "super_admin", "admin"];

/** @throws Failure `absent` or `forbidden`. */
export function checkEditable(app: OAuthApp | null, caller: Caller): OAuthApp {
  const found = ofTeam(app, caller);
  if (found.creatorId === caller.accountId || editors.includes(caller.role)) return found;
  throw new Failure("forbidden", "an app is changed by whoever made it, the team's owner, a super admin or an admin");
}

/** An app that the caller may change, and nobody else changes before this change ends. */
export const lockEditable = async (tx: Tx, caller: Caller, clientId: string): Promise<OAuthApp> =>
  checkEditable(await tx.apps.lock(clientId), caller);

function ofTeam(app: OAuthApp | null, { spaceId }: Caller): OAuthApp {
  if (app?.spaceId !== spaceId) throw absent("app");
  return app;
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
