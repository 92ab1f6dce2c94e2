import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { admission, anybody } from "./call/admit.ts";
import { auditWriter, refusalNoter } from "./call/audit.ts";
import { identifier } from "./call/credential.ts";
import { limits } from "./call/limit.ts";
import { performer } from "./call/perform.ts";
import { replays } from "./call/replay.ts";
import { startChores } from "./chores.ts";
import type { Config } from "./config.ts";
import { attachedBrowsers } from "./core/browsers/attached.ts";
import type { Cipher } from "./core/cipher.ts";
import { exportLinks } from "./core/exports/links.ts";
import type { Failure } from "./core/failure.ts";
import { type KeyUses, keyUses } from "./core/keys/key-uses.ts";
import { accessTokenReader } from "./core/oauth/access-tokens.ts";
import { signingKeys } from "./core/oauth/signing-keys.ts";
import type { Store } from "./core/store.ts";
import { backlog } from "./core/tasks/backlog.ts";
import { userNames } from "./egress/resolve.ts";
import { type Front, type FrontOptions, httpFront } from "./http/front.ts";
import { readiness } from "./http/health.ts";
import { addressReader, requestReader } from "./http/request.ts";
import { adminServer, httpServer } from "./http/server.ts";
import { sessionCookieReader } from "./http/session-cookie.ts";
import type { Surroundings } from "./installation.ts";
import { type ListenAddress, listenAddresses, listenFailure } from "./listening.ts";
import { operationTable } from "./operations.ts";
import type { StartCheck } from "./runtime/lease.ts";
import { startAuditing } from "./wiring/auditing.ts";
import { connectorsOf } from "./wiring/connectors.ts";
import { filesOf } from "./wiring/files.ts";
import type { Ground } from "./wiring/ground.ts";
import { handlersOf } from "./wiring/handlers.ts";
import { invitingOf } from "./wiring/inviting.ts";
import { remoteSide } from "./wiring/remote.ts";
import { sendingOf } from "./wiring/sending.ts";
import { sitesOf } from "./wiring/sites.ts";
import { teamUsersOf } from "./wiring/team-users.ts";
import { telling } from "./wiring/telling.ts";
import { webRoutes } from "./wiring/web.ts";
import { startWork } from "./wiring/work.ts";

/** A serving process. */
export interface Platform {
  /** The port that calls come in on. */
  readonly port: number;
  /** Where callers reach it. */
  readonly baseUrl: string;
  /** Gives notice, takes no new calls, finishes those that run, gives runs back; resolves when all is closed. */
  drain(): Promise<void>;
}

/**
 * Wires one process over an open store and serves: here, and in `wiring/`, all rooms meet.
 *
 * @param check asked before this process runs tasks; what it throws ends the start.
 */
export async function startPlatform(
  config: Config,
  opened: Store,
  cipher: Cipher,
  outside: Surroundings,
  check?: StartCheck,
): Promise<Platform> {
  const { clock, ids } = outside;
  const store = telling(opened, { ...outside, config, cipher });
  const ground: Ground = { ...outside, config, store, cipher, resolve: userNames({ clock }) };
  const front = httpFront(frontOptions(config));
  const uses = { keys: keyUses(store, clock), workers: keyUses(store, clock, ({ workers }) => workers) };
  const waiting = backlog(store, config.queueDepth);
  const keys = signingKeys({ store, cipher, clock, ids });
  const files = filesOf(ground);
  const stopChores = startChores(ground, waiting, writingAll(Object.values(uses)), keys, files.sweep);
  const auditing = startAuditing(ground);
  const refused = refusalNoter(auditing.refusals);
  const calls = {
    limits: limits(store.counters, clock, config.rateFactor),
    readRequest: requestReader(ids.request, config.trustProxy),
    readToken: accessTokenReader(keys, config.baseUrl),
    report: reporter(ground),
    keys,
  };
  const sending = sendingOf(ground);
  const sites = sitesOf(ground, files.blobs);
  const inviting = invitingOf(ground);
  const teamUsers = teamUsersOf(ground, inviting);
  const links = exportLinks(cipher, config.baseUrl);
  const connected = connectorsOf(ground);
  const remote = remoteSide(ground, files, connected.uses, front.draining);
  const browsers = attachedBrowsers({ store, clock, draining: front.draining });
  const operations = operationTable();
  const handlers = handlersOf(ground, {
    ...{ files, exportLinks: links, sending, teamUsers, waiting, remote: remote.runs, connected, browsers, draining: front.draining },
    rpcOf: (name) => operations.byName(name)?.rpc,
  });
  const entry = {
    operations,
    admit: admission(identifier(store, clock, calls.readToken, uses), calls.limits, refused),
    writeAudit: auditWriter(clock, ids),
  };
  const notice = new AbortController();
  const ready = readiness({ ...outside, ping: store.ping, leaving: AbortSignal.any([notice.signal, front.draining]) });
  const app = httpServer({
    ...calls,
    ...entry,
    front,
    admitAnybody: anybody(calls.limits),
    anonymous: calls.limits.anonymous,
    performer: performer(store, handlers, replays(cipher, clock.now), { write: entry.writeAudit, refused }),
    readSession: sessionCookieReader(config.consentUrl),
    clock,
    readiness: ready,
    bodyLimit: config.bodyLimit,
    ...{ store, uploads: files.uploads, blobs: files.blobs },
    baseUrl: config.baseUrl,
    corsOrigins: config.corsOrigins,
    conversationsOnly: config.role === "worker",
    sites: sites.server,
    routes: webRoutes(
      ground,
      files,
      { sites, connectors: connected.signIns },
      { ...calls, scim: { ...entry, teamUsers, bodyLimit: config.bodyLimit } },
    ),
  });
  const parts = { files, connectors: connected.uses, sending, browsers, check };
  const work = config.role === "api" ? null : await startWork(ground, parts);
  const admin = config.adminPort === null ? undefined : adminServer(ready);
  const [address, adminAddress] = listenAddresses(config);
  await listen(app, address);
  await listen(admin, adminAddress);
  const port = portOf(app);
  if (config.role === "all") await work?.announce(withPort(config.consentUrl, port));
  return {
    port,
    baseUrl: withPort(config.baseUrl, port),
    async drain() {
      notice.abort();
      // A load balancer asks every so often, and sends calls until then; a worker gets none.
      if (config.role !== "worker" && config.noticeSeconds > 0) await clock.sleep(config.noticeSeconds * 1000);
      await drain(app, front, config.drainSeconds, [stopChores, async () => work?.stop(), remote.drain]);
      // Those of the last calls too.
      await inviting.drain();
      await auditing.stop();
      await admin?.close();
    },
  };
}

/** Behind a proxy every connection is the proxy's. However small BODY_MEMORY is, one whole body has room. */
const frontOptions = ({ maxConnections, maxConnectionsPerAddress, bodyMemory, bodyLimit, trustProxy }: Config): FrontOptions => ({
  connectionsMax: maxConnections,
  connectionsPerAddress: trustProxy === null ? maxConnectionsPerAddress : null,
  bodyMemory,
  // A body counts twice: as its bytes, and as what is made of them.
  bodyShare: Math.max(bodyMemory / 4, 2 * bodyLimit),
  addressOf: addressReader(trustProxy),
});

const writingAll = (uses: readonly Pick<KeyUses, "write">[]): Pick<KeyUses, "write"> => ({
  write: async () => void (await Promise.all(uses.map((each) => each.write()))),
});

/** What a caller must not see of a failure of our own stands in the process log. */
const reporter =
  ({ log }: Ground) =>
  (failure: Failure, requestId: string): void => {
    if (failure.reason === "internal") log("error", "a call failed", { requestId, cause: failure.cause });
  };

async function listen(server: FastifyInstance | undefined, address: ListenAddress | undefined): Promise<void> {
  if (!server || !address) return;
  await server.listen({ host: address.host, port: address.port }).catch((thrown: unknown) => {
    throw listenFailure(thrown, address);
  });
}

/** PORT 0 takes any free port: only once the server listens is it known which. */
const withPort = (url: string, port: number): string => url.replace(/:0$/, `:${port}`);

const portOf = ({ server }: FastifyInstance): number => (server.address() as AddressInfo).port; // It listens on TCP.

/** Calls end first, as far as they end in time; the work of agents stops beside them. */
async function drain(app: FastifyInstance, front: Front, seconds: number, stops: readonly (() => Promise<void>)[]): Promise<void> {
  await Promise.all([front.drain(seconds), ...stops.map((stop) => stop())]);
  await app.close();
}
