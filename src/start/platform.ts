import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import type { Config } from "../config/config.ts";
import { inNetworks } from "../config/telemetry.ts";
import { currentBuild, version } from "../config/version.ts";
import { auditDownloadLinks } from "../core/audit/download-links.ts";
import { attachedBrowsers } from "../core/browsers/browser.ts";
import type { KeyRing } from "../core/cipher.ts";
import type { Failure } from "../core/failure.ts";
import { type KeyUses, keyUses } from "../core/keys/api-keys.ts";
import { createAccessTokenReader } from "../core/oauth/access-tokens.ts";
import { signingKeys } from "../core/oauth/signing-key.ts";
import { renewAfterMs } from "../core/sign-in/sign-in.ts";
import type { Store } from "../core/store.ts";
import { backlog } from "../core/tasks/backlog.ts";
import { lateClaims } from "../core/tasks/direct-claims.ts";
import { liveTexts } from "../core/tasks/live-texts.ts";
import { profilesOf } from "../core/tasks/profile.ts";
import { watchLinks } from "../core/tasks/watch-links.ts";
import { workerUseEveryMs } from "../core/workers/worker.ts";
import { adminServer } from "../http/admin.ts";
import { type FrontOptions, httpFront } from "../http/front.ts";
import { readiness } from "../http/health.ts";
import { addressReader, requestReader, sessionCookieReader } from "../http/request.ts";
import { httpServer } from "../http/server.ts";
import { allJobs } from "../jobs/all.ts";
import { startJobs } from "../jobs/timed.ts";
import { createA2a } from "../modules/a2a.ts";
import { createAgUiRoutes } from "../modules/agui.ts";
import { startAuditing } from "../modules/auditing.ts";
import { createConnectors } from "../modules/connectors.ts";
import { createFiles } from "../modules/files.ts";
import { createHandlers } from "../modules/handlers.ts";
import { countedLog, storeProfiles } from "../modules/installation.ts";
import { showKeys } from "../modules/key-ring.ts";
import { createMcpRoutes } from "../modules/mcp.ts";
import { callObserver, metricsAccess } from "../modules/observing.ts";
import { type ProcessContext, processContext } from "../modules/process-context.ts";
import { createRemoteWorkers } from "../modules/remote.ts";
import { createSending } from "../modules/sending.ts";
import { createAfterTask } from "../modules/tasks.ts";
import { createTeams } from "../modules/teams.ts";
import { startWatch } from "../modules/watching.ts";
import { createSites, customDomainCheck, webRoutes } from "../modules/web.ts";
import { startWork } from "../modules/work.ts";
import { admitAnonymous, createAdmit } from "../pipeline/admit.ts";
import { auditWriter, refusalNoter } from "../pipeline/audit.ts";
import { createIdentify } from "../pipeline/credential.ts";
import type { HandlerTable } from "../pipeline/handlers.ts";
import { idempotencyRecords } from "../pipeline/idempotency.ts";
import { limits } from "../pipeline/limit.ts";
import { operationTable } from "../pipeline/operations.ts";
import { performer } from "../pipeline/perform.ts";
import { services } from "../pipeline/services.ts";
import type { StartCheck } from "../runtime/lease.ts";
import { errorPagesPath } from "../sign-in-pages/error-pages.ts";
import type { Ambient } from "./installation.ts";
import { type ListenAddress, listenAddresses, listenFailure } from "./listening.ts";
import { type Step, unnamed } from "./process/ending.ts";

/** A serving process. */
export interface Platform {
  /** The port for calls. */
  readonly port: number;
  /** The URL at which callers reach it. */
  readonly baseUrl: string;
  /** The URL of the pages for sign-in and consent. */
  readonly pagesUrl: string;
  /** Reports not ready, refuses new calls, finishes running ones and releases runs; resolves when all is closed. */
  drain(step?: Step): Promise<void>;
}

/**
 * Wires one process over an open store and serves. Only this file and `modules/` know all modules.
 *
 * @param check runs before this process claims tasks; its error ends the start.
 */
export async function startPlatform(
  config: Config,
  opened: Store,
  cipher: KeyRing,
  ambient: Ambient,
  check?: StartCheck,
): Promise<Platform> {
  const { log, counts: logged } = countedLog(ambient.log);
  const { clock, ids, test } = ambient;
  const following = opened.withAfterTask(createAfterTask({ config, cipher, clock, ids, log }));
  const store = test?.store(following) ?? following;
  const context = processContext(config, { store, cipher }, { ...ambient, log });
  const processId = ids.short();
  const hideKeys = await showKeys({ store, ring: cipher, clock, log, process: { id: processId, role: config.role, version } });
  await store.change(async (tx) => {
    await tx.agentProfiles.setLabels(config.profileLabels);
    await storeProfiles(tx, config);
  });
  const front = httpFront(frontOptions(config));
  const uses = {
    keys: keyUses(store, clock),
    workers: keyUses(store, clock, ({ workers }) => workers, workerUseEveryMs),
    sessions: keyUses(store, clock, ({ sessions }) => sessions, renewAfterMs),
  };
  const queue = backlog(store, config.queueDepth);
  const direct = lateClaims();
  const keys = signingKeys({ store, cipher, clock, ids });
  const files = createFiles(context);
  store.readSegmentsBy(files.archive.readSegment);
  const written = combinedUses(Object.values(uses));
  const jobNeeds = { ...context, backlog: queue, uses: written, signingKeys: keys, files: files.sweep, archive: files.archive };
  const stopJobs = startJobs(allJobs, jobNeeds, processId);
  const stopWatch = startWatch(context);
  const auditing = startAuditing(context);
  const noteRefusal = refusalNoter(auditing.refusals);
  const readRequest = requestReader(ids.request, config.trustProxy, callObserver(context), inNetworks(config.traceTrust));
  const calls = {
    limits: limits(store.counters, clock, config.rateFactor),
    readRequest: test?.read(readRequest) ?? readRequest,
    readToken: createAccessTokenReader(keys, config.baseUrl),
    report: reporter(context),
    errorPages: `${config.consentUrl}${errorPagesPath}`,
    keys,
  };
  const sending = createSending(context);
  const sites = createSites(context, files.blobs);
  const teams = createTeams(context);
  const connected = createConnectors(context);
  const texts = liveTexts({ clock, feed: store.feed, broadcast: store.broadcast, stopped: front.draining });
  const remote = createRemoteWorkers(context, files, { connectors: connected.uses, texts, draining: front.draining });
  const browsers = attachedBrowsers({ store, clock, draining: front.draining });
  const operations = operationTable(test && [...services, ...test.services]);
  const ofServices = createHandlers(context, {
    ...{
      files,
      sending,
      teamUsers: teams.teamUsers,
      groups: teams.groups,
      backlog: queue,
      direct,
      remote: remote.runs,
      connected,
      browsers,
      texts,
      draining: front.draining,
    },
    rpcOf: (name) => operations.byName(name)?.rpc,
    logged,
  });
  const handlers = test ? new Map([...ofServices, ...test.handlers(context)]) : ofServices;
  const admit = createAdmit(createIdentify(store, clock, calls.readToken, uses, config), calls.limits, noteRefusal, uses.sessions);
  const entry = {
    operations,
    admit: test?.admit(admit) ?? admit,
    writeAudit: auditWriter(clock, ids),
  };
  const records = idempotencyRecords(cipher, clock.now);
  const performWith = (table: HandlerTable) => performer(store, table, records, { write: entry.writeAudit, noteRefusal });
  const perform = performWith(handlers);
  const ofDoors = { ...calls, ...entry, performer: perform };
  const a2a = createA2a(context, files, { ...ofDoors, performWith, anonymous: calls.limits.anonymous });
  const ready = readiness({ ...ambient, ping: store.ping, onAway: store.onAway, leaving: front.leaving });
  const app = httpServer({
    ...calls,
    ...entry,
    front,
    admitAnonymous: admitAnonymous(calls.limits),
    anonymous: calls.limits.anonymous,
    performer: perform,
    readSession: sessionCookieReader(config.consentUrl),
    clock,
    readiness: ready,
    bodyLimit: config.bodyLimit,
    ...{ store, uploads: files.uploads, blobs: files.blobs },
    ...{ baseUrl: config.baseUrl, hsts: config.hsts },
    watchLinks: watchLinks(cipher, config.baseUrl),
    auditLinks: auditDownloadLinks(cipher, config.baseUrl),
    responsesStatus: config.responsesStatus,
    profiles: profilesOf(Object.keys(config.agentProfiles)).names,
    corsOrigins: config.corsOrigins,
    conversationsOnly: config.role === "worker",
    sites: sites.server,
    ...(test && { around: test.serve }),
    doors: [createMcpRoutes(context, files, ofDoors), createAgUiRoutes(context, files, ofDoors), a2a.routes],
    rpcDoors: [a2a.service],
    ...webRoutes(
      context,
      files,
      { sites, connectors: connected.signIns },
      {
        ...calls,
        askOwner: teams.askOwner,
        sendRecoveryMail: teams.sendRecoveryMail,
        mailLink: teams.mailLink,
        scim: { ...entry, teamUsers: teams.teamUsers, groups: teams.groups, bodyLimit: config.bodyLimit },
      },
    ),
  });
  const parts = {
    files,
    connectors: connected.uses,
    sending,
    browsers,
    texts,
    check,
    processId,
    backlog: queue,
    direct,
    pushes: a2a.pushes,
  };
  const work = config.role === "api" ? null : await startWork(context, parts);
  const { metrics } = ambient;
  const admin =
    config.admin === null || metrics === undefined
      ? undefined
      : adminServer(ready, customDomainCheck(store), metricsAccess(config.admin, metrics, store, context), await currentBuild());
  const [address, adminAddress] = listenAddresses(config);
  await listen(app, address);
  await listen(admin, adminAddress);
  const port = boundPort(app);
  if (config.role === "all") await work?.announce(resolvePort(config.consentUrl, port));
  return {
    port,
    baseUrl: resolvePort(config.baseUrl, port),
    pagesUrl: resolvePort(config.consentUrl, port),
    async drain(step = unnamed) {
      front.leave();
      // A load balancer keeps sending calls until its next readiness check; a worker receives none.
      if (config.role !== "worker" && config.noticeSeconds > 0) await clock.sleep(config.noticeSeconds * 1000);
      await Promise.all([
        step("calls", front.drain(config.drainSeconds)),
        step("timed jobs", stopJobs()),
        step("warnings", stopWatch()),
        work?.stop(step),
        step("runs of workers", remote.drain()),
      ]);
      await step("connections", app.close());
      // After the last calls: this includes their invitations and refusals.
      await step("mail", teams.drain());
      await step("audit", auditing.stop());
      await written.write().catch((cause: unknown) => log("error", "the last uses of keys were not written", { cause }));
      await hideKeys();
      await admin?.close();
      metrics?.stop();
    },
  };
}

/** Behind a proxy, every connection is from the proxy. One complete body fits even if BODY_MEMORY is small. */
const frontOptions = ({ maxConnections, maxConnectionsPerAddress, bodyMemory, bodyLimit, trustProxy }: Config): FrontOptions => ({
  connectionsMax: maxConnections,
  connectionsPerAddress: trustProxy === null ? maxConnectionsPerAddress : null,
  bodyMemory,
  // A body counts twice: its bytes, and the objects built from them.
  bodyShare: Math.max(bodyMemory / 4, 2 * bodyLimit),
  addressOf: addressReader(trustProxy),
});

const combinedUses = (uses: readonly Pick<KeyUses, "write">[]): Pick<KeyUses, "write"> => ({
  write: async () => void (await Promise.all(uses.map((each) => each.write()))),
});

/** Logs the cause of internal failures, which callers must not see. */
const reporter =
  ({ log }: ProcessContext) =>
  (failure: Failure, requestId: string): void => {
    if (failure.reason === "internal") log("error", "a call failed", { requestId, cause: failure.cause });
  };

async function listen(server: FastifyInstance | undefined, address: ListenAddress | undefined): Promise<void> {
  if (!server || !address) return;
  await server.listen({ host: address.host, port: address.port }).catch((thrown: unknown) => {
    throw listenFailure(thrown, address);
  });
}

/** PORT 0 means any free port, which is known only when the server listens. */
const resolvePort = (url: string, port: number): string => url.replace(/:0$/, `:${port}`);

const boundPort = ({ server }: FastifyInstance): number => (server.address() as AddressInfo).port; // It listens on TCP.
