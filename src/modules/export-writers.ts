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
import type { Writers } from "../runtime/exports/json.ts";
import { jsonWriter } from "./json-writer.ts";

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
