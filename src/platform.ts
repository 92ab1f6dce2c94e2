import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { admission } from "./call/admit.ts";
import { auditWriter } from "./call/audit.ts";
import { identifier } from "./call/credential.ts";
import { handlerTable, implement } from "./call/handlers.ts";
import { limits, network } from "./call/limit.ts";
import { performer } from "./call/perform.ts";
import { replays } from "./call/replay.ts";
import { startChores } from "./chores.ts";
import type { Config } from "./config.ts";
import { consentPages } from "./console/consent/pages.ts";
import { consolePages } from "./console/console.ts";
import type { ConsoleParts } from "./console/parts.ts";
import { oidcProvider } from "./console/provider.ts";
import { visits } from "./console/visits.ts";
import { ownership } from "./core/accounts/ownership.ts";
import { confirmations } from "./core/actions/confirm.ts";
import type { Cipher } from "./core/cipher.ts";
import type { Clock } from "./core/clock.ts";
import type { Failure } from "./core/failure.ts";
import { apiKeys } from "./core/keys/api-keys.ts";
import { keyUses } from "./core/keys/key-uses.ts";
import type { Log } from "./core/log.ts";
import { accessTokenReader } from "./core/oauth/access-tokens.ts";
import { appSecrets } from "./core/oauth/app-secrets.ts";
import { apps } from "./core/oauth/apps.ts";
import { authorizedApps } from "./core/oauth/authorized-apps.ts";
import { refreshTokens } from "./core/oauth/refresh-token.ts";
import { signingKeys } from "./core/oauth/signing-keys.ts";
import { projects } from "./core/projects/projects.ts";
import { attemptCounter } from "./core/sign-in/attempts.ts";
import { checkPassword } from "./core/sign-in/password.ts";
import type { Store } from "./core/store.ts";
import { backlog } from "./core/tasks/backlog.ts";
import { listings } from "./core/tasks/listings.ts";
import { taskSteps } from "./core/tasks/steps.ts";
import { tasks } from "./core/tasks/tasks.ts";
import { waitingRoom } from "./core/tasks/waiting-room.ts";
import { type Watches, watches } from "./core/tasks/watches.ts";
import { BrowserService } from "./gen/proto/browser/v2/browser_service_pb.ts";
import { ConnectorService } from "./gen/proto/connector/v2/connector_service_pb.ts";
import { OAuth2AppService } from "./gen/proto/oauth/v2/oauth2_app_service_pb.ts";
import { ProjectService } from "./gen/proto/project/v2/project_service_pb.ts";
import { ApiKeyService } from "./gen/proto/settings/v1/api_key_service_pb.ts";
import { TeamService } from "./gen/proto/settings/v1/team_service_pb.ts";
import { SkillService } from "./gen/proto/skill/v2/skill_service_pb.ts";
import { TaskService } from "./gen/proto/task/v2/task_service_pb.ts";
import { UserService } from "./gen/proto/user/v2/user_service_pb.ts";
import { type Front, httpFront } from "./http/front.ts";
import { readiness } from "./http/health.ts";
import { requestReader } from "./http/request.ts";
import { adminServer, httpServer } from "./http/server.ts";
import { sessionCookieReader } from "./http/session-cookie.ts";
import type { Surroundings } from "./installation.ts";
import { embeddedQueue } from "./jobs/embedded.ts";
import type { Queue } from "./jobs/queue.ts";
import { type OAuthRoutesParts, oauthRoutes } from "./oauth/routes.ts";
import { operationTable } from "./operations.ts";
import { apiKeyHandlers } from "./rpc/api-key.ts";
import { browserHandlers, connectorHandlers, skillHandlers } from "./rpc/catalogue.ts";
import { oauth2AppHandlers } from "./rpc/oauth2-app.ts";
import { projectHandlers } from "./rpc/project.ts";
import { taskHandlers } from "./rpc/task.ts";
import { teamHandlers } from "./rpc/team.ts";
import { userHandlers } from "./rpc/user.ts";
import type { Agent } from "./runtime/agent.ts";
import { offlineAgent } from "./runtime/agents/offline/offline.ts";
import { openLease } from "./runtime/lease.ts";
import { startRuns } from "./runtime/runs.ts";

/** A serving process. */
export interface Platform {
  /** The port that calls come in on. */
  readonly port: number;
  /** Gives notice, takes no new calls, finishes those that run, gives runs back; resolves when all is closed. */
  drain(): Promise<void>;
}

/** Wires one process over an open store and serves: the only place where all rooms meet. */
export async function startPlatform(config: Config, store: Store, cipher: Cipher, outside: Surroundings): Promise<Platform> {
  const { clock, ids, random, log } = outside;
  const operations = operationTable();
  const front = httpFront();
  const report = (failure: Failure, requestId: string) => {
    if (failure.reason === "internal") log("error", "a call failed", { requestId, cause: failure.cause });
  };
  const uses = keyUses(store, clock);
  const waiting = backlog(store, config.queueDepth);
  const signing = signingKeys({ store, cipher, clock, ids });
  const readToken = accessTokenReader(signing, config.baseUrl);
  const stopChores = startChores(store, clock, log, waiting, config, uses, signing);
  const steps = taskSteps(clock);
  const making = { clock, ids, random };
  const handlers = handlerTable([
    implement(UserService, userHandlers),
    implement(ProjectService, projectHandlers(projects(clock, ids))),
    implement(
      TaskService,
      taskHandlers({
        tasks: tasks({ clock, ids, backlog: waiting, steps, keepsEvents: config.deletedTaskDays > 0 }),
        listings,
        confirmations: confirmations(clock, cipher, waiting, steps),
        watches: watchesOf(config, store, clock, front.draining),
        appUrl: config.appUrl,
      }),
    ),
    implement(SkillService, skillHandlers),
    implement(ConnectorService, connectorHandlers),
    implement(BrowserService, browserHandlers),
    implement(ApiKeyService, apiKeyHandlers(apiKeys(making))),
    implement(
      TeamService,
      teamHandlers(
        ownership({ clock, counters: store.counters, checkPassword: (accountId, text) => checkPassword(store, accountId, text) }),
      ),
    ),
    implement(OAuth2AppService, oauth2AppHandlers({ apps: apps(making), secrets: appSecrets(making), authorized: authorizedApps(clock) })),
  ]);
  const callLimits = limits(store.counters, clock, config.rateFactor);
  const readRequest = requestReader(ids.request, config.trustProxy);
  const oauth: OAuthRoutesParts = {
    ...{ store, clock, ids, limits: callLimits, keys: signing, readToken, readRequest, report },
    refreshTokens: refreshTokens(cipher, ids),
    issuer: config.baseUrl,
    consentUrl: config.consentUrl,
  };
  const notice = new AbortController();
  const ready = readiness(store.ping, clock, AbortSignal.any([notice.signal, front.draining]));
  const app = httpServer({
    front,
    operations,
    admit: admission(identifier(store, clock, readToken, uses), callLimits),
    anonymous: callLimits.anonymous,
    performer: performer(store, handlers, replays(cipher, clock.now), auditWriter(clock, ids)),
    readRequest,
    readSession: sessionCookieReader(config.consentUrl),
    clock,
    readiness: ready,
    bodyLimit: config.bodyLimit,
    corsOrigins: config.corsOrigins,
    probesOnly: config.role === "worker",
    report,
    routes: [
      (scope) => oauthRoutes(scope, oauth),
      (scope) => consolePages(scope, consoleParts(config, store, cipher, outside, { readRequest, report }), [consentPages(config.baseUrl)]),
    ],
  });
  const stopWork = config.role === "api" ? async () => undefined : await startWork(config, store, cipher, { clock, ids, log });
  await app.listen({ host: config.host, port: config.port });
  const admin = config.adminPort === null ? undefined : adminServer(ready);
  await admin?.listen({ host: config.host, port: config.adminPort ?? 0 });
  return {
    port: portOf(app),
    async drain() {
      notice.abort();
      // A load balancer asks every so often, and sends calls until then; a worker gets none.
      if (config.role !== "worker" && config.noticeSeconds > 0) await clock.sleep(config.noticeSeconds * 1000);
      await drain(app, front, config.drainSeconds, [stopChores, stopWork]);
      await admin?.close();
    },
  };
}

function consoleParts(
  { consentUrl, singleSignOn }: Config,
  store: Store,
  cipher: Cipher,
  { clock, ids, random, log }: Surroundings,
  calls: Pick<ConsoleParts, "readRequest" | "report">,
): ConsoleParts {
  const provider = singleSignOn && oidcProvider({ ...singleSignOn, redirectUri: `${consentUrl}/sign-in/callback` });
  const countAttempt = attemptCounter(store.counters, clock, network);
  return { ...calls, visits: visits({ store, clock, random, consentUrl }), store, clock, ids, random, cipher, log, countAttempt, provider };
}

/** News of other processes is not heard, only looked for; on SQLite there are none. */
function watchesOf({ database, watchLimit }: Config, { feed }: Store, clock: Clock, draining: AbortSignal): Watches {
  const lookMs = database === "sqlite" ? 5_000 : 1_000;
  return watches(waitingRoom(feed, clock, { limit: watchLimit, lookMs, draining }), clock, draining);
}

/** Agents by the name that AGENT_PROFILES gives them. */
const agents: Readonly<Record<Config["agentProfiles"][string], Agent>> = { offline: offlineAgent };

/** Runs tasks in this process; the answer gives them back. */
async function startWork(
  config: Config,
  store: Store,
  cipher: Cipher,
  { clock, ids, log }: Pick<Surroundings, "clock" | "ids" | "log">,
): Promise<() => Promise<void>> {
  const agentFor = (profile: string): Agent => agents[config.agentProfiles[profile] ?? "offline"];
  const lease = await openLease(store, clock, ids, config.database === "sqlite");
  const runs = startRuns({ store, clock, ids, cipher, log, lease, concurrency: config.runConcurrency, agentFor });
  const queue = await openQueue(config, store, clock, log);
  await queue.subscribe("run", runs.wake);
  return async () => {
    await queue.drain();
    await runs.drain();
  };
}

/** pg-boss is loaded only where it is wanted. */
async function openQueue({ database, databaseUrl }: Config, store: Store, clock: Clock, log: Log): Promise<Queue> {
  if (database === "sqlite") return embeddedQueue(store, clock, log);
  return (await import("./jobs/postgres.ts")).postgresQueue(databaseUrl, store.feed, log);
}

const portOf = ({ server }: FastifyInstance): number => (server.address() as AddressInfo).port; // It listens on TCP.

/** Calls end first, as far as they end in time; the work of agents stops beside them. */
async function drain(app: FastifyInstance, front: Front, seconds: number, stops: readonly (() => Promise<void>)[]): Promise<void> {
  await Promise.all([front.drain(seconds), ...stops.map((stop) => stop())]);
  await app.close();
}
