import type { Caller } from "../caller.ts";
import type { Cipher } from "../cipher.ts";
import type { Clock } from "../clock.ts";
import { absent, Failure, invalid } from "../failure.ts";
import type { Ids } from "../ids.ts";
import type { OnBehalf } from "../on-behalf.ts";
import type { Project } from "../projects/project.ts";
import type { Store, Tx } from "../store.ts";
import {
  type ConnectorChanges,
  type ConnectorTool,
  connectorsMax,
  effective,
  type InstalledConnector,
  relisted,
  type ToolPolicy,
  typeOf,
} from "./connector.ts";
import { sealCredentials } from "./credentials.ts";
import { grantedOf } from "./granted.ts";
import type { ReachServer } from "./reach.ts";
import { SignInNeeded } from "./renew.ts";
import { type ConnectorServers, ServerFault } from "./server.ts";
import { checkServer, type ServerRules } from "./server-rules.ts";
import { checkPlace, readWanted, type WantedConnector } from "./wanted.ts";

/** A change whose slow part is done: the rest belongs into a transaction. */
export type Change = (tx: Tx, caller: Caller) => Promise<InstalledConnector>;

/** Connectors of a caller, its own and the space's. Of all with an id: @throws Failure `absent`, `forbidden` for the space's by whoever may not change them. */
export interface Connectors {
  /** @throws Failure `invalid`, `forbidden`; in the transaction `exists`, `exhausted`. */
  prepareInstall(caller: Caller, wanted: WantedConnector, gone: AbortSignal): Promise<Change>;
  /** @throws Failure `unavailable`, `precondition` when somebody has to sign in first. */
  prepareRefresh(caller: Caller, id: string, gone: AbortSignal): Promise<Change>;
  /** All that is installed, newest first. */
  list(tx: Tx, caller: Caller): Promise<readonly InstalledConnector[]>;
  /** One of each id, and for an app those alone that it was granted (contract/v2.md 8.20). */
  listUsable(tx: Tx, caller: Caller): Promise<readonly InstalledConnector[]>;
  setPolicy(tx: Tx, caller: Caller, id: string, policy: Readonly<Record<string, ToolPolicy>>): Promise<InstalledConnector>;
  setDefault(tx: Tx, caller: Caller, id: string, isDefault: boolean): Promise<InstalledConnector>;
  remove(tx: Tx, caller: Caller, id: string): Promise<void>;
  /** @throws Failure `absent` */
  projectDefaults(tx: Tx, caller: Caller, projectId: string): Promise<readonly string[]>;
  /** @throws Failure `absent`, `invalid` for one that is not installed. */
  setProjectDefaults(tx: Tx, caller: Caller, projectId: string, uids: readonly string[]): Promise<void>;
}

/** What connectors are made from. */
export interface ConnectorsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly cipher: Cipher;
  readonly rules: ServerRules;
  readonly servers: ConnectorServers;
  readonly reach: ReachServer;
}

/** Whether somebody may change what is the whole space's: in a team its owner, super admins and admins; in a personal space its account. */
export const mayChangeSpace = ({ role }: Pick<Caller, "role">): boolean =>
  role === null || role === "owner" || role === "super_admin" || role === "admin";

const notTheirs = (): Failure => new Failure("forbidden", "only owner, super admin and admin may change the connectors of a team's space");

export function connectors({ store, clock, ids, cipher, rules, servers, reach }: ConnectorsParts): Connectors {
  /** @param changed what follows from the connector as it is, which is locked. */
  async function change(tx: Tx, caller: Caller, id: string, changed: (before: InstalledConnector) => ConnectorChanges) {
    const before = mine(caller, await tx.connectors.lock(caller, id));
    const after = { ...before, ...changed(before), updatedAt: clock.now() };
    await tx.connectors.update(id, after);
    tx.audit.note({ subject: id, before: told(before), after: told(after) });
    return after;
  }

  const list = (connector: InstalledConnector, by: OnBehalf): Promise<readonly ConnectorTool[]> =>
    reach(connector, (at) => servers.listTools(at, by));

  return {
    async prepareInstall(caller, wanted, gone) {
      if (wanted.forSpace && !mayChangeSpace(caller)) throw notTheirs();
      const wish = readWanted(wanted);
      const { server, credentials } = checkServer(wanted.server, rules);
      checkPlace(wish.uid, server);
      const id = ids.short();
      const needsSignIn = server.transport === "http" && server.auth === "oauth";
      const connector: InstalledConnector = {
        ...{ id, spaceId: caller.spaceId, accountId: wanted.forSpace ? null : caller.accountId, uid: wish.uid || ids.uuid() },
        ...{ name: wish.name, description: wish.description, category: wish.category },
        type: typeOf(server, { inCatalogue: wish.uid !== "" }),
        server,
        credentials: credentials && sealCredentials(cipher, id, credentials),
        state: needsSignIn ? "expired" : "ready",
        isDefault: wanted.isDefault,
        ...{ tools: [], toolsAt: null, policy: {} },
        ...{ createdAt: clock.now(), updatedAt: clock.now() },
      };
      const hasTools = server.transport !== "none" && !needsSignIn;
      const tools = hasTools
        ? await list(connector, { accountId: caller.accountId, signal: gone }).catch((thrown) =>
            refuse(thrown, (why) => invalid("server", why)),
          )
        : [];
      const whole = { ...connector, tools, toolsAt: hasTools ? clock.now() : null };
      return async (tx, holder) => {
        if (wanted.forSpace && !mayChangeSpace(holder)) throw notTheirs();
        await tx.accounts.lockSpace(holder.spaceId);
        const others = (await tx.connectors.list(holder)).filter(({ accountId }) => accountId === whole.accountId);
        if (others.some(({ uid }) => uid === whole.uid)) throw new Failure("exists", "the connector is installed already");
        if (others.length >= connectorsMax) throw new Failure("exhausted", `at most ${connectorsMax} connectors can be installed`);
        await tx.connectors.insert(whole);
        tx.audit.note({ subject: id, after: told(whole) });
        return whole;
      };
    },

    async prepareRefresh(caller, id, gone) {
      const connector = mine(caller, await store.connectors.find(caller, id));
      const tools = await list(connector, { accountId: caller.accountId, signal: gone }).catch((thrown) =>
        refuse(thrown, (why) => new Failure("unavailable", why)),
      );
      return (tx, holder) => change(tx, holder, id, (before) => relisted(before, tools, clock.now()));
    },

    list: (tx, caller) => tx.connectors.list(caller),

    async listUsable(tx, caller) {
      const byUid = effective(await tx.connectors.list(caller));
      return grantedOf(caller, [...byUid.keys()]).flatMap((uid) => byUid.get(uid) ?? []);
    },

    setPolicy: (tx, caller, id, policy) => change(tx, caller, id, () => ({ policy })),
    setDefault: (tx, caller, id, isDefault) => change(tx, caller, id, () => ({ isDefault })),

    async remove(tx, caller, id) {
      const before = mine(caller, await tx.connectors.lock(caller, id));
      await tx.connectors.bury(id, clock.now());
      tx.audit.note({ subject: id, before: told(before) });
    },

    async projectDefaults(tx, caller, projectId) {
      await projectOf(tx, caller, projectId);
      return tx.connectors.defaultsOf(projectId);
    },

    async setProjectDefaults(tx, caller, projectId, uids) {
      const project = await projectOf(tx, caller, projectId);
      const installed = effective(await tx.connectors.list(caller));
      const at = uids.findIndex((uid) => !installed.has(uid));
      if (at >= 0) throw invalid(`uids[${at}]`, "is not installed");
      await tx.accounts.lockSpace(caller.spaceId);
      const before = await tx.connectors.defaultsOf(projectId);
      await tx.connectors.setDefaultsOf(project, uids);
      tx.audit.note({ subject: projectId, before: { connectors: before }, after: { connectors: [...uids] } });
    },
  };
}

/** What the audit log is told: nothing secret, and no address, whose query may be. */
const told = ({ uid, name, type, accountId, isDefault, policy, tools }: InstalledConnector) => ({
  ...{ uid, name, type, isDefault, tools: tools.length },
  ...(accountId === null ? { forSpace: true } : {}),
  ...(Object.keys(policy).length === 0 ? {} : { policy }),
});

/** @throws Failure `absent`, `forbidden` */
export function mine(caller: Caller, found: InstalledConnector | null): InstalledConnector {
  if (found === null) throw absent("connector");
  if (found.accountId === null && !mayChangeSpace(caller)) throw notTheirs();
  return found;
}

async function projectOf(tx: Tx, caller: Caller, id: string): Promise<Project> {
  const project = await tx.projects.find(caller, id);
  if (!project) throw absent("project");
  return project;
}

function refuse(thrown: unknown, failure: (why: string) => Failure): never {
  if (thrown instanceof SignInNeeded) throw new Failure("precondition", "somebody has to sign in to the connector first");
  if (thrown instanceof ServerFault) throw failure(thrown.message);
  throw thrown;
}
