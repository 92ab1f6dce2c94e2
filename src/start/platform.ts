import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import type { Config } from "../config/config.ts";
import { currentBuild } from "../config/version.ts";
import type { KeyRing } from "../core/cipher.ts";
import type { Store } from "../core/store.ts";
import { noDirectClaims } from "../core/tasks/direct-claims.ts";
import { adminServer } from "../http/admin.ts";
import { type FrontOptions, httpFront } from "../http/front.ts";
import { type Readiness, readiness } from "../http/health.ts";
import { addressReader } from "../http/request.ts";
import { allModules } from "../modules/all.ts";
import { startBackground } from "../modules/background.ts";
import { createCalls } from "../modules/calls.ts";
import { metricsAccess } from "../modules/observing.ts";
import { type ProcessContext, processContext } from "../modules/process-context.ts";
import { createServer } from "../modules/server.ts";
import { openShared } from "../modules/shared.ts";
import { customDomainCheck } from "../modules/websites.ts";
import { startWork } from "../modules/work.ts";
import type { StartCheck } from "../runtime/lease.ts";
import type { Ambient } from "./installation.ts";
import { type ListenAddress, listenAddresses, listenFailure } from "./listening.ts";
import { type Step, unnamed } from "./process/ending.ts";

/** A serving process. */
export interface Platform {
  readonly port: number;
  readonly baseUrl: string;
  readonly pagesUrl: string;
  /**
   * Reports not ready, refuses new calls, finishes running ones and releases runs; resolves when all is
   * closed.
   */
  drain(step?: Step): Promise<void>;
}

/**
 * Wires one process over an open store and serves.
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
  const { clock, test, metrics } = ambient;
  const store = test?.store(opened) ?? opened;
  const context = processContext(config, { store, cipher }, ambient);
  const processId = ambient.ids.short();
  const front = httpFront(frontOptions(config));
  const shared = openShared(context, front.draining);
  const background = await startBackground(context, shared, processId);
  const calls = createCalls(context, background);
  const work = config.role === "api" ? null : await startWork(context, shared, processId, check);
  const ofModules = { ...context, ...shared, calls, direct: work?.direct ?? noDirectClaims };
  const modules = allModules.map((create) => create(ofModules));
  const ready = readiness({ ...ambient, ping: store.ping, onAway: store.onAway, leaving: front.leaving });
  const pushCreated = work?.watchPushes ?? (() => undefined);
  const app = createServer(ofModules, { front, readiness: ready, modules, pushCreated });
  const admin = await createAdmin(context, ready);
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
      if (config.role !== "worker" && config.noticeSeconds > 0)
        await clock.sleep(config.noticeSeconds * 1000);
      await Promise.all([
        step("calls", front.drain(config.drainSeconds)),
        background.stop(step),
        work?.stop(step),
        step("runs of workers", Promise.all(modules.map(({ drain }) => drain?.()))),
      ]);
      await step("connections", app.close());
      // After the last calls: this includes their invitations and refusals.
      await step("mail", shared.teams.drain());
      await background.finish(step);
      await admin?.close();
      metrics?.stop();
    },
  };
}

/** The server on ADMIN_PORT; undefined without one. */
async function createAdmin(context: ProcessContext, ready: Readiness): Promise<FastifyInstance | undefined> {
  const { config, store, metrics } = context;
  if (config.admin === null || metrics === undefined) return undefined;
  return adminServer(
    ready,
    customDomainCheck(store),
    metricsAccess(config.admin, metrics, store, context),
    await currentBuild(),
  );
}

/**
 * Behind a proxy, every connection is from the proxy. One complete body fits even if BODY_MEMORY is small.
 */
const frontOptions = ({
  maxConnections,
  maxConnectionsPerAddress,
  bodyMemory,
  bodyLimit,
  trustProxy,
}: Config): FrontOptions => ({
  connectionsMax: maxConnections,
  connectionsPerAddress: trustProxy === null ? maxConnectionsPerAddress : null,
  bodyMemory,
  // A body counts twice: its bytes, and the objects built from them.
  bodyShare: Math.max(bodyMemory / 4, 2 * bodyLimit),
  addressOf: addressReader(trustProxy),
});

async function listen(
  server: FastifyInstance | undefined,
  address: ListenAddress | undefined,
): Promise<void> {
  if (!server || !address) return;
  await server.listen({ host: address.host, port: address.port }).catch((thrown: unknown) => {
    throw listenFailure(thrown, address);
  });
}

/** PORT 0 means any free port, which is known only when the server listens. */
const resolvePort = (url: string, port: number): string => url.replace(/:0$/, `:${port}`);

const boundPort = ({ server }: FastifyInstance): number => (server.address() as AddressInfo).port; // It listens on TCP.
