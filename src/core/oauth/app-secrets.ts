import type { Caller } from "../caller.ts";
import { absent, Failure } from "../failure.ts";
import type { Tx } from "../store.ts";
import { activeSecretsMax, type OAuthSecret } from "./app.ts";
import { type AppParts, checkEditable, lockEditable } from "./apps.ts";
import { newSecret } from "./secret.ts";

/** Secrets of an app, for those who may change it (contract/oauth.md 1.4). Each throws Failure `absent` or `forbidden`. */
export interface AppSecrets {
  /** @throws Failure `exhausted` when 5 are active. */
  create(tx: Tx, caller: Caller, clientId: string): Promise<{ readonly secret: OAuthSecret; readonly text: string }>;
  /** Newest first. */
  list(tx: Tx, caller: Caller, clientId: string): Promise<readonly OAuthSecret[]>;
  /** At once; tokens that were issued with it live on (contract/oauth.md 8). */
  revoke(tx: Tx, caller: Caller, clientId: string, id: string): Promise<void>;
}

export function appSecrets({ clock, ids, random }: AppParts): AppSecrets {
  return {
    async create(tx, caller, clientId) {
      // The row lock makes counting and inserting one step.
      await lockEditable(tx, caller, clientId);
      if ((await tx.apps.secrets(clientId)).length >= activeSecretsMax) {
        throw new Failure("exhausted", `an app has at most ${activeSecretsMax} active secrets`);
      }
      const made = newSecret({ now: clock.now(), ids, random }, clientId);
      await tx.apps.insertSecret(made.secret);
      tx.audit.note({ subject: made.secret.id, after: { clientId, last4: made.secret.last4 } });
      return made;
    },

    async list(tx, caller, clientId) {
      checkEditable(await tx.apps.find(clientId), caller);
      return tx.apps.secrets(clientId);
    },

    async revoke(tx, caller, clientId, id) {
      await lockEditable(tx, caller, clientId);
      if (!(await tx.apps.revokeSecret(clientId, id, clock.now()))) throw absent("secret");
      tx.audit.note({ subject: id, before: { clientId } });
    },
  };
}
