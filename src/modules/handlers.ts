import { transcriber } from "../adapters/transcription/endpoint.ts";
import { transcripts } from "../adapters/transcription/transcripts.ts";
import { isModelAgent, modelName } from "../config/agent-profiles.ts";
import { customDomainReader } from "../config/custom-domain.ts";
import type { ModelConfig } from "../config/models.ts";
import type { OpenCall } from "../core/accounts/caller.ts";
import { ownership } from "../core/accounts/ownership.ts";
import { agents } from "../core/agents/agent.ts";
import { shares } from "../core/assets/share.ts";
import { auditDownloadLinks } from "../core/audit/download-links.ts";
import type { AttachedBrowsers } from "../core/browsers/browser.ts";
import { complianceExports, exports } from "../core/exports/exports.ts";
import { exportLinks } from "../core/exports/links.ts";
import { importedFiles } from "../core/imports/imported-files.ts";
import { importedTasks } from "../core/imports/imported-tasks.ts";
import { imports } from "../core/imports/imports.ts";
import { apiKeys } from "../core/keys/api-keys.ts";
import { appSecrets } from "../core/oauth/app.ts";
import { authorizedApps } from "../core/oauth/grant.ts";
import { projects } from "../core/projects/project.ts";
import { ownSessions } from "../core/sign-in/own-sessions.ts";
import { ownSpaces } from "../core/sign-in/own-spaces.ts";
import { checkPassword } from "../core/sign-in/password.ts";
import { skills } from "../core/skills/skills.ts";
import type { TranscribeRecordings } from "../core/speech/transcript.ts";
import type { Backlog } from "../core/tasks/backlog.ts";
import { conversations } from "../core/tasks/conversations.ts";
import type { DirectClaims } from "../core/tasks/direct-claims.ts";
import { listWatches } from "../core/tasks/list-watches.ts";
import { listings } from "../core/tasks/listings.ts";
import type { LiveTexts } from "../core/tasks/live-texts.ts";
import { profilesOf } from "../core/tasks/profile.ts";
import { type AgentProfiles, agentProfiles } from "../core/tasks/profile-settings.ts";
import { runStateReader } from "../core/tasks/run-state.ts";
import { findSharedTask, sharedTypes } from "../core/tasks/shared-task.ts";
import { taskSubscriptions } from "../core/tasks/task-subscriptions.ts";
import { watchLinks } from "../core/tasks/watch-links.ts";
import { watches } from "../core/tasks/watches.ts";
import type { Groups } from "../core/teams/group.ts";
import type { TeamUsers } from "../core/teams/team-user.ts";
import { budgets } from "../core/usage/budget.ts";
import { reports } from "../core/usage/reports.ts";
import { confirmations } from "../core/use-cases/confirm-action.ts";
import { apps } from "../core/use-cases/manage-oauth-apps.ts";
import { type Schedules, schedules } from "../core/use-cases/manage-schedules.ts";
import type { Tasks } from "../core/use-cases/manage-tasks.ts";
import { appWebhooks } from "../core/webhooks/app-webhooks.ts";
import type { SendWebhook } from "../core/webhooks/delivery.ts";
import { deliveries } from "../core/webhooks/delivery-log.ts";
import { type Listeners, listeners } from "../core/webhooks/listeners.ts";
import { testRequests } from "../core/webhooks/test-request.ts";
import { type WebhookParts, webhooks } from "../core/webhooks/webhooks.ts";
import { domains } from "../core/websites/domains.ts";
import { viewers } from "../core/websites/viewers.ts";
import { websites } from "../core/websites/websites.ts";
import type { RemoteRuns } from "../core/workers/remote-run.ts";
import { workers } from "../core/workers/worker.ts";
import { AgentProfileService } from "../gen/proto/agent/v2/agent_profile_service_pb.ts";
import { AgentService } from "../gen/proto/agent/v2/agent_service_pb.ts";
import { AuditService } from "../gen/proto/audit/v2/audit_service_pb.ts";
import { BrowserService } from "../gen/proto/browser/v2/browser_service_pb.ts";
import { ConnectorService } from "../gen/proto/connector/v2/connector_service_pb.ts";
import { EnterpriseDataExportService } from "../gen/proto/dataexport/v1/export_service_pb.ts";
import { EnterpriseDataExportV2Service } from "../gen/proto/dataexport/v2/export_service_pb.ts";
import { ImportService } from "../gen/proto/dataimport/v1/import_service_pb.ts";
import { FileService } from "../gen/proto/file/v2/file_service_pb.ts";
import { InstallationService } from "../gen/proto/installation/v1/installation_service_pb.ts";
import { OAuth2AppService } from "../gen/proto/oauth/v2/oauth2_app_service_pb.ts";
import { EnterpriseComplianceV2Service } from "../gen/proto/observability/v2/compliance_export_service_pb.ts";
import { ProjectService } from "../gen/proto/project/v2/project_service_pb.ts";
import { ScheduleService } from "../gen/proto/schedule/v1/schedule_service_pb.ts";
import { AccountService } from "../gen/proto/settings/v1/account_service_pb.ts";
import { ApiKeyService } from "../gen/proto/settings/v1/api_key_service_pb.ts";
import { BudgetService } from "../gen/proto/settings/v1/budget_service_pb.ts";
import { ConnectorService as ConnectorSettingsService } from "../gen/proto/settings/v1/connector_service_pb.ts";
import { SkillService as SkillSettingsService } from "../gen/proto/settings/v1/skill_service_pb.ts";
import { TeamService } from "../gen/proto/settings/v1/team_service_pb.ts";
import { WorkerService as WorkerSettingsService } from "../gen/proto/settings/v1/worker_service_pb.ts";
import { SkillService } from "../gen/proto/skill/v2/skill_service_pb.ts";
import { SharedTaskService } from "../gen/proto/task/v2/shared_task_service_pb.ts";
import { TaskService } from "../gen/proto/task/v2/task_service_pb.ts";
import { TeamAssetAuditApiV2Service } from "../gen/proto/team/v2/team_asset_audit_service_pb.ts";
import { TeamAssetManageApiV2Service } from "../gen/proto/team/v2/team_asset_manage_service_pb.ts";
import { TeamUserManagementApiV2Service } from "../gen/proto/team/v2/team_user_service_pb.ts";
import { UsageService } from "../gen/proto/usage/v2/usage_service_pb.ts";
import { UserService } from "../gen/proto/user/v2/user_service_pb.ts";
import { WebhookService } from "../gen/proto/webhook/v2/webhook_service_pb.ts";
import { WebsiteService } from "../gen/proto/website/v2/website_service_pb.ts";
import { WorkerService } from "../gen/proto/worker/v1/worker_service_pb.ts";
import { type HandlerTable, handlerTable, implement } from "../pipeline/handlers.ts";
import { services } from "../pipeline/services.ts";
import { agentHandlers } from "../rpc/agent.ts";
import { agentProfileHandlers } from "../rpc/agent-profile.ts";
import { apiKeyHandlers } from "../rpc/api-key.ts";
import { auditHandlers } from "../rpc/audit.ts";
import { browserHandlers } from "../rpc/browser.ts";
import { complianceExportHandlers } from "../rpc/compliance-export.ts";
import { connectorHandlers, connectorSettingsHandlers } from "../rpc/connector.ts";
import { dataExportHandlers, dataExportV2Handlers } from "../rpc/data-export.ts";
import { fileHandlers } from "../rpc/file.ts";
import { type ImportServiceParts, importHandlers } from "../rpc/import.ts";
import { installationHandlers } from "../rpc/installation.ts";
import { oauth2AppHandlers } from "../rpc/oauth2-app.ts";
import { projectHandlers } from "../rpc/project.ts";
import { scheduleHandlers } from "../rpc/schedule.ts";
import { type SharedTaskParts, sharedTaskHandlers } from "../rpc/shared-task.ts";
import { skillHandlers, skillSettingsHandlers } from "../rpc/skill.ts";
import { type TaskParts, taskHandlers } from "../rpc/task.ts";
import { teamHandlers, teamUserHandlers } from "../rpc/team.ts";
import { teamAssetAuditHandlers, teamAssetManageHandlers } from "../rpc/team-asset.ts";
import { budgetHandlers, usageHandlers } from "../rpc/usage.ts";
import { accountHandlers, userHandlers } from "../rpc/user.ts";
import { webhookHandlers } from "../rpc/webhook.ts";
import { type WebsiteServiceParts, websiteHandlers } from "../rpc/website.ts";
import { workerHandlers, workerSettingsHandlers } from "../rpc/worker.ts";
import type { ConnectorParts } from "./connectors.ts";
import type { FileParts } from "./files.ts";
import { type CountedLog, installationParts } from "./installation.ts";
import type { ProcessContext } from "./process-context.ts";
import { remoteProfiles } from "./remote.ts";
import type { Sending } from "./sending.ts";
import { createTasks, stepsOf } from "./tasks.ts";
import { createSiteUrl } from "./web.ts";

/** What the operations share with other parts of the process. */
export interface HandlerParts {
  readonly files: FileParts;
  readonly sending: Sending;
  readonly teamUsers: TeamUsers;
  readonly groups: Groups;
  readonly backlog: Backlog;
  /** Claims of this process in the changes of calls. */
  readonly direct: DirectClaims;
  readonly remote: RemoteRuns;
  readonly connected: ConnectorParts;
  readonly browsers: AttachedBrowsers;
  readonly texts: LiveTexts;
  /** Aborted when held calls must end. */
  readonly draining: AbortSignal;
  /** The RPC of a v2 name. */
  readonly rpcOf: (name: string) => string | undefined;
  readonly logged: CountedLog["counts"];
}

/** The handlers of all implemented operations. */
export function createHandlers(
  context: ProcessContext,
  {
    files,
    sending,
    teamUsers,
    groups,
    backlog: waiting,
    direct,
    remote,
    connected,
    browsers,
    texts,
    draining,
    rpcOf,
    logged,
  }: HandlerParts,
): HandlerTable {
  const { config, store, cipher, clock, ids, random } = context;
  const hooks = webhookParts(context, sending.send);
  const creation = { clock, ids, random };
  const owners = ownership({ clock, counters: store.counters, checkPassword: (accountId, text) => checkPassword(store, accountId, text) });
  const links = exportLinks(cipher, config.baseUrl);
  const dataExports = exports({ clock, ids, links });
  const assets = shares(clock);
  const stepExports = complianceExports({ clock, ids, links, payloads: config.siemPayloads });
  const manageTasks = createTasks(context, waiting, direct);
  const manageSchedules = schedules({ clock, ids, tasks: manageTasks });
  const catalogue = skills({ ...creation, ...files, store });
  return handlerTable(services, [
    implement(UserService, userHandlers),
    implement(AccountService, accountHandlers(ownSessions(clock), ownSpaces(clock))),
    implement(ProjectService, projectHandlers(projects(clock, ids), clock)),
    implement(
      TaskService,
      taskHandlers(taskParts(context, files, { tasks: manageTasks, schedules: manageSchedules, waiting, direct, texts, draining })),
    ),
    implement(ScheduleService, scheduleHandlers(manageSchedules, config.appUrl)),
    implement(SharedTaskService, sharedTaskHandlers(sharedTaskParts(context, files, draining))),
    implement(FileService, fileHandlers(files.files, files.links, clock)),
    implement(SkillService, skillHandlers(catalogue)),
    implement(SkillSettingsService, skillSettingsHandlers(catalogue)),
    implement(ConnectorService, connectorHandlers(connected.connectors)),
    implement(AgentService, agentHandlers(agents)),
    implement(AgentProfileService, agentProfileHandlers(profilesIn(context), config.prices)),
    implement(BrowserService, browserHandlers(browsers)),
    implement(ApiKeyService, apiKeyHandlers(apiKeys(creation))),
    implement(UsageService, usageHandlers(reports(clock, config.credits))),
    implement(BudgetService, budgetHandlers(budgets(creation))),
    implement(TeamService, teamHandlers(owners, teamUsers, groups)),
    implement(TeamUserManagementApiV2Service, teamUserHandlers(teamUsers)),
    implement(TeamAssetAuditApiV2Service, teamAssetAuditHandlers(assets)),
    implement(TeamAssetManageApiV2Service, teamAssetManageHandlers(assets)),
    implement(WorkerSettingsService, workerSettingsHandlers(workers({ ...creation, remoteProfiles: remoteProfiles(config) }))),
    implement(ConnectorSettingsService, connectorSettingsHandlers(connected.connectors, connected.signIns)),
    implement(
      WorkerService,
      workerHandlers(remote, (fileId) => files.links.download(fileId, clock.now())),
    ),
    implement(
      OAuth2AppService,
      oauth2AppHandlers({
        apps: apps({ ...creation, ...hooks, webhooks: appWebhooks(hooks) }),
        secrets: appSecrets(creation),
        authorized: authorizedApps(clock),
        clock,
      }),
    ),
    implement(AuditService, auditHandlers({ rpcOf, downloadLinks: auditDownloadLinks(cipher, config.baseUrl), clock })),
    implement(InstallationService, installationHandlers(installationParts(context, logged))),
    implement(
      WebhookService,
      webhookHandlers({
        webhooks: webhooks(hooks),
        deliveries: deliveries(clock),
        listeners: listenersOf(context, sending, draining),
        keys: sending.keys,
      }),
    ),
    implement(WebsiteService, websiteHandlers(websiteParts(context))),
    implement(EnterpriseDataExportService, dataExportHandlers(dataExports)),
    implement(EnterpriseDataExportV2Service, dataExportV2Handlers(dataExports)),
    implement(ImportService, importHandlers(importParts(context, hooks))),
    implement(EnterpriseComplianceV2Service, complianceExportHandlers(stepExports)),
  ]);
}

function websiteParts({ config, store, clock, ids, random, prove }: ProcessContext): WebsiteServiceParts {
  return {
    websites: websites(clock),
    viewers: viewers(clock),
    domains: domains({ store, clock, ids, random, prove, readDomain: customDomainReader(config) }),
    siteUrl: createSiteUrl(config),
  };
}

function importParts({ config, clock, ids }: ProcessContext, hooks: WebhookParts): ImportServiceParts {
  const profiles = profilesOf(Object.keys(config.agentProfiles));
  return { imports: imports(hooks), tasks: importedTasks({ clock, ids, profiles }), files: importedFiles(clock) };
}

function webhookParts({ config, store, clock, ids, random, cipher }: ProcessContext, send: SendWebhook): WebhookParts {
  const rules = { plainLoopback: config.webhookAllow.some(({ kind }) => kind === "loopback") };
  return { store, clock, ids, random, cipher, tests: testRequests({ send, clock, appUrl: config.appUrl }), rules };
}

/** The number of listeners is limited by their rows, so their subscriptions are not. */
function listenersOf(
  { config, store, clock, ids, random, cipher, log }: ProcessContext,
  { sign }: Sending,
  draining: AbortSignal,
): Listeners {
  const rules = { limit: Number.POSITIVE_INFINITY, pollMs: pollMsOf(config), draining };
  const subscriptions = taskSubscriptions(store.feed, clock, rules);
  return listeners({ store, clock, ids, random, cipher, log, sign, subscriptions, draining });
}

function taskParts(
  context: ProcessContext,
  files: FileParts,
  {
    tasks,
    schedules: proposed,
    waiting,
    direct,
    texts,
    draining,
  }: { readonly tasks: Tasks; readonly schedules: Schedules; readonly waiting: Backlog } & Pick<
    HandlerParts,
    "direct" | "texts" | "draining"
  >,
): TaskParts {
  const { config, clock, cipher } = context;
  return {
    tasks,
    listings,
    conversations,
    confirmations: confirmations({ clock, cipher, backlog: waiting, steps: stepsOf(context, direct), schedules: proposed }),
    ...watchesOf(context, texts, draining),
    watchLinks: watchLinks(cipher, config.baseUrl),
    clock,
    appUrl: config.appUrl,
    fetchFiles: files.fetchFiles,
    transcribe: transcriptsOf(context),
    link: (fileId) => files.links.download(fileId, clock.now()),
    outputTokensMax: (profile) => modelOf(config, profile)?.maxOutputTokens,
    readRunState: runStateReader(clock, remoteProfiles(config)),
  };
}

function transcriptsOf({ config: { transcription }, store, clock, log }: ProcessContext): TranscribeRecordings {
  const transcribe = transcription && transcriber(transcription);
  return transcripts({ transcribe, price: transcription?.price ?? 0, store, clock, log });
}

const profilesIn = ({ config, clock }: ProcessContext): AgentProfiles =>
  agentProfiles({
    clock,
    profiles: profilesOf(Object.keys(config.agentProfiles)),
    remoteProfiles: remoteProfiles(config),
    labels: config.profileLabels,
    entryOf: (profile) => modelOf(config, profile) ?? null,
  });

/** The model of a profile; undefined when its agent uses none. */
function modelOf({ agentProfiles: agentNames, models }: ProcessContext["config"], profile: string): ModelConfig | undefined {
  const agent = agentNames[profile];
  return agent !== undefined && isModelAgent(agent) ? models[modelName(agent)] : undefined;
}

/** Changes of other processes are polled, not notified; on SQLite there are no other processes. */
const pollMsOf = ({ database }: ProcessContext["config"]): number => (database === "sqlite" ? 5_000 : 1_000);

function watchesOf(
  { config, store: { feed }, clock, observe }: ProcessContext,
  texts: LiveTexts,
  draining: AbortSignal,
): Pick<TaskParts, "watches" | "listWatches"> {
  const { watchLimit: limit, waitSeconds: holdSeconds } = config;
  // Watches of both kinds share the slots of an account.
  const subscriptions = taskSubscriptions(feed, clock, { limit, pollMs: pollMsOf(config), draining });
  observe.watchers("own", subscriptions.size);
  return {
    watches: watches(subscriptions, clock, { draining, holdSeconds, texts }),
    listWatches: listWatches(subscriptions, clock, draining),
  };
}

/** Open watches of shared tasks of one network address (spec/decisions.md 58). */
const sharedWatchesMax = 5;

/** Watches of shared tasks have their own slots: visitors never take those of accounts. */
function sharedTaskParts(
  { config, store: { feed }, clock, observe }: ProcessContext,
  files: FileParts,
  draining: AbortSignal,
): SharedTaskParts {
  const rules = { limit: sharedWatchesMax, pollMs: pollMsOf(config), draining, holderOf: ({ network }: OpenCall) => network };
  const source = { find: findSharedTask, types: sharedTypes };
  const subscriptions = taskSubscriptions(feed, clock, rules);
  observe.watchers("shared", subscriptions.size);
  return {
    watches: watches(subscriptions, clock, { draining, holdSeconds: config.waitSeconds, source }),
    clock,
    link: (fileId) => files.links.shortDownload(fileId, clock.now()).url,
  };
}
