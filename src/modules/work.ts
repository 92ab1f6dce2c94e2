import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { createMailer, webhookOffMail } from "../adapters/mail/mail.ts";
import type { Dispatcher } from "../async/dispatcher.ts";
import type { Config } from "../config/config.ts";
import type { AttachedBrowsers } from "../core/browsers/browser.ts";
import type { ConnectorUses } from "../core/connectors/use.ts";
import type { Backlog } from "../core/tasks/backlog.ts";
import type { LateClaims } from "../core/tasks/direct-claims.ts";
import type { LiveTexts } from "../core/tasks/live-texts.ts";
import { createDeploy, createSaveSite } from "../core/websites/save.ts";
import { AgentSchema } from "../gen/proto/agent/v2/agent_pb.ts";
import { EnterpriseTaskRecordSchema } from "../gen/proto/dataexport/v1/export_pb.ts";
import { FileDetailSchema } from "../gen/proto/file/v2/file_pb.ts";
import { OAuth2GrantSchema } from "../gen/proto/oauth/v2/oauth2_app_pb.ts";
import { ProjectSchema } from "../gen/proto/project/v2/project_pb.ts";
import { ScheduleSchema } from "../gen/proto/schedule/v1/schedule_pb.ts";
import { InstalledConnectorSchema } from "../gen/proto/settings/v1/connector_pb.ts";
import { SkillSchema } from "../gen/proto/skill/v2/skill_pb.ts";
import { TaskEventSchema } from "../gen/proto/task/v2/task_event_pb.ts";
import { DeliveryAttemptSchema, DeliverySchema, WebhookSchema } from "../gen/proto/webhook/v2/webhook_pb.ts";
import { WebsiteCheckpointSchema } from "../gen/proto/website/v2/website_pb.ts";
import { GetWebsiteStatusResponseSchema } from "../gen/proto/website/v2/website_service_pb.ts";
import { compileBareWriter } from "../http/v2/writer.ts";
import { embeddedQueue, observedQueue, type Queue } from "../jobs/embedded.ts";
import { toAgent } from "../rpc/agent.ts";
import { toInstalled } from "../rpc/connector.ts";
import { taskMessage } from "../rpc/data-export-messages.ts";
import { eventMessage } from "../rpc/event.ts";
import { toDetail } from "../rpc/file.ts";
import { toGrant } from "../rpc/oauth2-app.ts";
import { toProject } from "../rpc/project.ts";
import { toSchedule } from "../rpc/schedule.ts";
import { toListed } from "../rpc/skill.ts";
import { toAttempt, toDelivery, toWebhook } from "../rpc/webhook.ts";
import { type SiteUrl, toCheckpoint, toStatus } from "../rpc/website.ts";
import { connectorTools } from "../runtime/agents/model/connector-tool.ts";
import { browserTools } from "../runtime/agents/model/tools/browser.ts";
import { subtaskTools } from "../runtime/agents/model/tools/subtasks.ts";
import { startExporter } from "../runtime/exports/exporter.ts";
import type { Writers } from "../runtime/exports/json.ts";
import { openLease, type StartCheck } from "../runtime/lease.ts";
import { startParents } from "../runtime/parents.ts";
import { startRuns } from "../runtime/runs.ts";
import { startSchedules } from "../runtime/schedules.ts";
import { startWakes } from "../runtime/wakes.ts";
import type { Step } from "../start/process/ending.ts";
import { type SenderParts, startSender } from "../webhooks/sender.ts";
import { createAgents, createTools } from "./agents.ts";
import type { FileParts } from "./files.ts";
import type { ProcessContext } from "./process-context.ts";
import { type PushNews, startPushes } from "./push.ts";
import { remoteProfiles } from "./remote.ts";
import type { Sending } from "./sending.ts";
import { createTasks, pauseNotifier } from "./tasks.ts";
import { createSiteUrl } from "./web.ts";

/** Returns a function that writes messages of a type as v2 JSON. */
function jsonWriter<Desc extends DescMessage>(desc: Desc): (message: MessageInitShape<Desc>) => string {
  const write = compileBareWriter(desc);
  return (message) => write(create(desc, message));
}

const writeRecord = jsonWriter(EnterpriseTaskRecordSchema);
const writeEvent = jsonWriter(TaskEventSchema);
const writeFile = jsonWriter(FileDetailSchema);
const writeProject = jsonWriter(ProjectSchema);
const writeSkill = jsonWriter(SkillSchema);

const writeWebsite = jsonWriter(GetWebsiteStatusResponseSchema);
const writeCheckpoint = jsonWriter(WebsiteCheckpointSchema);
const writeAgent = jsonWriter(AgentSchema);
const writeConnector = jsonWriter(InstalledConnectorSchema);
const writeGrant = jsonWriter(OAuth2GrantSchema);
const writeSchedule = jsonWriter(ScheduleSchema);
const writeWebhook = jsonWriter(WebhookSchema);
const writeDelivery = jsonWriter(DeliverySchema);
const writeAttempt = jsonWriter(DeliveryAttemptSchema);

/** Rows of archives have the JSON of the API. */
export const exportWriters = (siteUrl: SiteUrl): Writers => ({
  record: (task) => writeRecord(taskMessage(task)),
  event: (taskEvent, link) => writeEvent(eventMessage(taskEvent, link)),
  file: (row) => writeFile(toDetail(row, null)),
  project: (row) => writeProject(toProject(row)),
  skill: (row) => writeSkill(toListed(row)),
  website: (row) => writeWebsite(toStatus(row, siteUrl)),
  checkpoint: (row) => writeCheckpoint(toCheckpoint(row)),
  agent: (row) => writeAgent(toAgent(row)),
  connector: (row) => writeConnector(toInstalled(row)),
  grant: (row) => writeGrant(toGrant(row)),
  schedule: (row) => writeSchedule(toSchedule(row)),
  webhook: (row) => writeWebhook(toWebhook(row)),
  delivery: (row) => writeDelivery(toDelivery({ ...row, body: null })),
  attempt: (row) => writeAttempt(toAttempt({ ...row, response: null })),
});

/** Starts building export archives in this process. */
const startExports = (context: ProcessContext, files: FileParts): Dispatcher =>
  startExporter({ ...context, ...files, writers: exportWriters(createSiteUrl(context.config)) });

/** What runs share with other parts of the process. */
export interface WorkParts {
  readonly files: FileParts;
  readonly connectors: ConnectorUses;
  readonly sending: Pick<Sending, "send">;
  /** Reports new configurations of push notifications. */
  readonly pushes: Pick<PushNews, "onCreated">;
  readonly browsers: AttachedBrowsers;
  readonly texts: LiveTexts;
  readonly backlog: Backlog;
  /** Receives the claims of this process. */
  readonly direct: LateClaims;
  /** The id of this process's row of keys. */
  readonly processId: string;
  /** Checks whether this process may run tasks. */
  readonly check: StartCheck | undefined;
}

/** The work of a process that runs tasks. */
export interface Work {
  /** Stores the address of this process for commands. */
  readonly announce: (address: string) => Promise<void>;
  /** Stops work and releases running tasks. */
  readonly stop: (step: Step) => Promise<void>;
}

/**
 * Runs tasks, delivers webhooks and builds exports in this process.
 *
 * @throws the error of `check`; nothing runs then.
 */
export async function startWork(
  context: ProcessContext,
  { files, connectors, sending: { send }, pushes, browsers, texts, backlog, direct, check, processId }: WorkParts,
): Promise<Work> {
  const { config, store, cipher, clock, ids, random, log, observe, tracing, warnings } = context;
  const { staging, readFile, workspaceOf, openSkill } = files;
  const inBrowser = browserTools(async (taskId) => {
    const [task, resources] = [await store.tasks.byId(taskId), await store.taskResources.find(taskId)];
    if (!task || !resources?.browserId) return null;
    return { browserId: resources.browserId, connection: browsers.find(task, resources.browserId) };
  });
  const agentFor = await createAgents(context, await createTools(context, [connectorTools(connectors), subtaskTools, inBrowser]));
  const lease = await openLease(store, clock, ids, config.database === "sqlite", check, processId);
  browsers.serve(lease.nodeId);
  const otherThan = remoteProfiles(config);
  const saveSite = createSaveSite({ clock, ids, random });
  const runs = startRuns({
    ...{
      store,
      clock,
      ids,
      cipher,
      log,
      lease,
      staging,
      readFile,
      workspaceOf,
      openSkill,
      saveSite,
      agentFor,
      texts,
      observe,
      tracing,
      excludedProfiles: otherThan,
    },
    prices: config.prices,
    budgetStep: config.budgetStep,
    concurrency: config.runConcurrency,
  });
  const sender = startSender({ store, clock, random, log, observe, tracing, warnings, send, notify: notifier(config) });
  const pushSender = startPushes(context, files, pushes);
  const exporter = startExports(context, files);
  const stopSchedules = startSchedules({ ...context, tasks: createTasks(context, backlog, direct), notify: pauseNotifier(context) });
  const stopParents = startParents(context);
  const queue = await openQueue(context);
  const stopWakes = startWakes({ feed: store.feed, clock, log, runs, lease });
  if (config.database === "sqlite") direct.use(runs.direct);
  // A consumer without capacity looks for work itself when an attempt ends.
  await queue.subscribe("deliver", async () => void sender.wake(), sender.hasCapacity);
  await queue.subscribe("export", () => exporter.wake(), exporter.hasCapacity);
  const deploy = createDeploy(store, clock);
  await queue.subscribe("publish", async (sites) => {
    for (const { key } of sites) await deploy(key);
  });
  return {
    announce: lease.announce,
    async stop(step) {
      await step("schedules and subtasks", Promise.all([stopSchedules(), stopParents(), stopWakes()]));
      await step("jobs", queue.drain());
      const drainMs = config.drainSeconds * 1000;
      await Promise.all([
        step("runs", runs.drain(drainMs)),
        step("exports", exporter.drain(0)),
        step("deliveries", sender.drain(drainMs)),
        step("push notifications", pushSender.drain(drainMs)),
      ]);
    },
  };
}

/** Mails owners if a mail server is configured; the webhook itself shows the reason too. */
const notifier =
  ({ mail }: Config): SenderParts["notify"] =>
  async ({ email, url, reason }) => {
    if (mail !== null && email !== null) await createMailer(mail)(webhookOffMail({ email, url, reason }));
  };

/** pg-boss is loaded only on PostgreSQL. */
async function openQueue({ config: { database, databaseUrl, poolerUrl }, store, clock, log, observe }: ProcessContext): Promise<Queue> {
  if (database === "sqlite") return observedQueue(embeddedQueue(store, clock, log), { observe, log });
  const { postgresQueue } = await import("../jobs/postgres.ts");
  return observedQueue(await postgresQueue(poolerUrl ?? databaseUrl, store.feed, log), { observe, log });
}
