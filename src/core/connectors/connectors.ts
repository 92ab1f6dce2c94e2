import type { Caller, OnBehalf } from "../accounts/caller.ts";
import type { Cipher } from "../cipher.ts";
import type { Clock } from "../clock.ts";
import type { Change } from "../deferred.ts";
import { Failure, invalidArgument, notFound } from "../failure.ts";
import type { Ids } from "../ids.ts";
import type { Project } from "../projects/project.ts";
import type { Store, Tx } from "../store.ts";
import {
  type ConnectorChanges,
  type ConnectorTool,
  connectorsMax,
  connectorTypeOf,
  effectiveByUid,
  type InstalledConnector,
  mergeTools,
  type ToolPolicy,
} from "./connector.ts";
import {
  type ConnectorInput,
  checkCatalogueServer,
  checkServer,
  readConnectorInput,
  type ServerRules,
} from "./connector-input.ts";
import { filterGranted } from "./granted.ts";
import { type ReachServer, SignInNeeded } from "./renew.ts";
import { type ConnectorServers, ServerFault, type ServerFaultKind, sealCredentials } from "./server.ts";

/** The holder of connectors: a caller, or the account for which a command works. */
export type ConnectorHolder = Pick<Caller, "accountId" | "spaceId" | "role">;

/** The transactional part of an operation whose slow part is done. */
export type PreparedConnectorChange = (tx: Tx, caller: ConnectorHolder) => Promise<InstalledConnector>;

/**
 * Connectors of a caller: the account's and the space's. Every method with an id: @throws Failure
 * `not_found`, `permission_denied` for a connector of the space that the caller may not change.
 */
export interface Connectors {
  /**
   * @throws Failure `invalid_argument`, `permission_denied`; in the transaction `already_exists`,
   * `resource_exhausted`.
   */
  prepareInstall(
    caller: ConnectorHolder,
    input: ConnectorInput,
    gone: AbortSignal,
  ): Promise<PreparedConnectorChange>;
  /** @throws Failure `unavailable`, `failed_precondition` when a user has to sign in first. */
  prepareRefresh(caller: Caller, id: string, gone: AbortSignal): Promise<PreparedConnectorChange>;
  /** @throws Failure `failed_precondition` for a connector without a server. */
  prepareTest(caller: ConnectorHolder, id: string, gone: AbortSignal): Promise<Change<ConnectorTest>>;
  /** All installed connectors, newest first. */
  list(tx: Tx, caller: ConnectorHolder): Promise<readonly InstalledConnector[]>;
  /** One connector per uid; for an app only those granted to it (spec/api.md 8.20). */
  listUsable(tx: Tx, caller: Caller): Promise<readonly InstalledConnector[]>;
  setPolicy(
    tx: Tx,
    caller: Caller,
    id: string,
    policy: Readonly<Record<string, ToolPolicy>>,
  ): Promise<InstalledConnector>;
  setDefault(tx: Tx, caller: Caller, id: string, isDefault: boolean): Promise<InstalledConnector>;
  remove(tx: Tx, caller: ConnectorHolder, id: string): Promise<void>;
  /** @throws Failure `not_found` */
  projectDefaults(tx: Tx, caller: Caller, projectId: string): Promise<readonly string[]>;
  /** @throws Failure `not_found`, `invalid_argument` for one that is not installed. */
  setProjectDefaults(tx: Tx, caller: Caller, projectId: string, uids: readonly string[]): Promise<void>;
}

/** The result of a test. It has no text of the server. */
export interface ConnectorTest {
  /** Null after a success. */
  readonly failure: ServerFaultKind | "sign_in" | null;
  /** The failure as a sentence; empty after a success. */
  readonly message: string;
  readonly tools: number;
  readonly latencyMs: number;
}

const testMs = 15_000;

export interface ConnectorsParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly cipher: Cipher;
  readonly rules: ServerRules;
  readonly servers: ConnectorServers;
  readonly reach: ReachServer;
}

/**
 * Whether a caller may change the connectors of the entire space: in a team its owner, super admins and
 * admins; in a personal space its account.
 */
export const mayChangeSpace = ({ role }: Pick<Caller, "role">): boolean =>
  role === null || role === "owner" || role === "super_admin" || role === "admin";

const mayNotChangeSpace = (): Failure =>
  new Failure(
    "permission_denied",
    "only owner, super admin and admin may change the connectors of a team's space",
  );

export function connectors({
  store,
  clock,
  ids,
  cipher,
  rules,
  servers,
  reach,
}: ConnectorsParts): Connectors {
  /** @param changesOf computes the changes from the locked connector. */
  async function change(
    tx: Tx,
    caller: ConnectorHolder,
    id: string,
    changesOf: (before: InstalledConnector) => ConnectorChanges,
  ) {
    const before = requireChangeableConnector(caller, await tx.connectors.lock(caller, id));
    const changes = { ...changesOf(before), updatedAt: clock.now() };
    await tx.connectors.update(id, changes);
    const after = { ...before, ...changes };
    tx.audit.note({ subject: id, before: auditedConnector(before), after: auditedConnector(after) });
    return after;
  }

  const list = (connector: InstalledConnector, by: OnBehalf): Promise<readonly ConnectorTool[]> =>
    reach(connector, (at) => servers.listTools(at, by));

  return {
    async prepareInstall(caller, input, gone) {
      if (input.forSpace && !mayChangeSpace(caller)) throw mayNotChangeSpace();
      const texts = readConnectorInput(input);
      const { server, credentials } = checkServer(input.server, rules);
      checkCatalogueServer(texts.uid, server);
      const id = ids.short();
      const needsSignIn = server.transport === "http" && server.auth === "oauth";
      const connector: InstalledConnector = {
        id,
        spaceId: caller.spaceId,
        accountId: input.forSpace ? null : caller.accountId,
        uid: texts.uid || ids.uuid(),
        name: texts.name,
        description: texts.description,
        category: texts.category,
        type: connectorTypeOf(server, { inCatalogue: texts.uid !== "" }),
        server,
        credentials: credentials && sealCredentials(cipher, id, credentials),
        state: needsSignIn ? "expired" : "ready",
        isDefault: input.isDefault,
        tools: [],
        toolsAt: null,
        policy: {},
        createdAt: clock.now(),
        updatedAt: clock.now(),
      };
      const hasTools = server.transport !== "none" && !needsSignIn;
      const tools = hasTools
        ? await list(connector, { accountId: caller.accountId, signal: gone }).catch((thrown) =>
            throwAsFailure(thrown, (why) => invalidArgument("server", why)),
          )
        : [];
      const installed = { ...connector, tools, toolsAt: hasTools ? clock.now() : null };
      return async (tx, holder) => {
        if (input.forSpace && !mayChangeSpace(holder)) throw mayNotChangeSpace();
        await tx.accounts.lockSpace(holder.spaceId);
        const others = (await tx.connectors.list(holder)).filter(
          ({ accountId }) => accountId === installed.accountId,
        );
        if (others.some(({ uid }) => uid === installed.uid))
          throw new Failure("already_exists", "the connector is installed already");
        if (others.length >= connectorsMax)
          throw new Failure("resource_exhausted", `at most ${connectorsMax} connectors can be installed`);
        await tx.connectors.insert(installed);
        tx.audit.note({ subject: id, after: auditedConnector(installed) });
        return installed;
      };
    },

    async prepareRefresh(caller, id, gone) {
      const connector = requireChangeableConnector(caller, await store.connectors.find(caller, id));
      const tools = await list(connector, { accountId: caller.accountId, signal: gone }).catch((thrown) =>
        throwAsFailure(thrown, (why) => new Failure("unavailable", why)),
      );
      return (tx, holder) => change(tx, holder, id, (before) => mergeTools(before, tools, clock.now()));
    },

    async prepareTest(caller, id, gone) {
      const connector = requireChangeableConnector(caller, await store.connectors.find(caller, id));
      if (connector.server.transport === "none")
        throw new Failure("failed_precondition", "the connector has no server");
      const since = clock.monotonic();
      const [ended, late] = [new AbortController(), new AbortController()];
      const timeUp = () => late.abort(new ServerFault("timeout"));
      void clock.sleep(testMs, ended.signal).then(timeUp, () => undefined);
      const outcome = await list(connector, {
        accountId: caller.accountId,
        signal: AbortSignal.any([gone, late.signal]),
      })
        .then(
          ({ length }) => ({ failure: null, message: "", tools: length }),
          (thrown: unknown) => ({ ...faultOf(thrown), tools: 0 }),
        )
        .finally(() => ended.abort());
      const latencyMs = Math.round(clock.monotonic() - since);
      return async (tx) => {
        tx.audit.note({ subject: id, after: { failure: outcome.failure } });
        return { ...outcome, latencyMs };
      };
    },

    list: (tx, caller) => tx.connectors.list(caller),

    async listUsable(tx, caller) {
      const byUid = effectiveByUid(await tx.connectors.list(caller));
      return filterGranted(caller, [...byUid.keys()]).flatMap((uid) => byUid.get(uid) ?? []);
    },

    setPolicy: (tx, caller, id, policy) => change(tx, caller, id, () => ({ policy })),
    setDefault: (tx, caller, id, isDefault) => change(tx, caller, id, () => ({ isDefault })),

    async remove(tx, caller, id) {
      const before = requireChangeableConnector(caller, await tx.connectors.lock(caller, id));
      await tx.connectors.tombstone(id, clock.now());
      tx.audit.note({ subject: id, before: auditedConnector(before) });
    },

    async projectDefaults(tx, caller, projectId) {
      await requireProject(tx, caller, projectId);
      return tx.connectors.defaultsOf(projectId);
    },

    async setProjectDefaults(tx, caller, projectId, uids) {
      // A project that is being deleted gets no defaults that its deletion would miss.
      await tx.projects.lock(caller, projectId);
      const project = await requireProject(tx, caller, projectId);
      const byUid = effectiveByUid(await tx.connectors.list(caller));
      const at = uids.findIndex((uid) => !byUid.has(uid));
      if (at >= 0) throw invalidArgument(`uids[${at}]`, "is not installed");
      await tx.accounts.lockSpace(caller.spaceId);
      const before = await tx.connectors.defaultsOf(projectId);
      await tx.connectors.setDefaultsOf(project, uids);
      tx.audit.note({ subject: projectId, before: { connectors: before }, after: { connectors: [...uids] } });
    },
  };
}

/** The connector for the audit log: no secrets, and no address, because its query may hold secrets. */
const auditedConnector = ({ uid, name, type, accountId, isDefault, policy, tools }: InstalledConnector) => ({
  uid,
  name,
  type,
  isDefault,
  tools: tools.length,
  ...(accountId === null ? { forSpace: true } : {}),
  ...(Object.keys(policy).length === 0 ? {} : { policy }),
});

/** Returns a connector that the caller may change. @throws Failure `not_found`, `permission_denied` */
export function requireChangeableConnector(
  caller: ConnectorHolder,
  found: InstalledConnector | null,
): InstalledConnector {
  if (found === null) throw notFound("connector");
  if (found.accountId === null && !mayChangeSpace(caller)) throw mayNotChangeSpace();
  return found;
}

async function requireProject(tx: Tx, caller: Caller, id: string): Promise<Project> {
  const project = await tx.projects.find(caller, id);
  if (!project) throw notFound("project");
  return project;
}

/** @throws the exception itself when it is not a fault of the server. */
function faultOf(thrown: unknown): Pick<ConnectorTest, "message"> & { failure: ServerFaultKind | "sign_in" } {
  if (thrown instanceof SignInNeeded) return { failure: "sign_in", message: signInNeeded };
  if (thrown instanceof ServerFault) return { failure: thrown.kind, message: thrown.message };
  throw thrown;
}

const signInNeeded = "a user has to sign in to the connector first";

function throwAsFailure(thrown: unknown, failure: (why: string) => Failure): never {
  if (thrown instanceof SignInNeeded) throw new Failure("failed_precondition", signInNeeded);
  if (thrown instanceof ServerFault) throw failure(thrown.message);
  throw thrown;
}
