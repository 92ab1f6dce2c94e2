import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
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

/** Writes rows as messages of a type. */
function rowWriter<Desc extends DescMessage, Row>(
  desc: Desc,
  toMessage: (row: Row) => MessageInitShape<Desc>,
): (row: Row) => string {
  const write = jsonWriter(desc);
  return (row) => write(toMessage(row));
}

/** Rows of archives have the JSON of the API. */
export function exportWriters(siteUrl: SiteUrl): Writers {
  const writeEvent = jsonWriter(TaskEventSchema);
  return {
    record: rowWriter(EnterpriseTaskRecordSchema, taskMessage),
    event: (taskEvent, link) => writeEvent(eventMessage(taskEvent, link)),
    file: rowWriter(FileDetailSchema, (row) => toDetail(row, null)),
    project: rowWriter(ProjectSchema, toProject),
    skill: rowWriter(SkillSchema, toListed),
    website: rowWriter(GetWebsiteStatusResponseSchema, (row) => toStatus(row, siteUrl)),
    checkpoint: rowWriter(WebsiteCheckpointSchema, toCheckpoint),
    agent: rowWriter(AgentSchema, toAgent),
    connector: rowWriter(InstalledConnectorSchema, toInstalled),
    grant: rowWriter(OAuth2GrantSchema, toGrant),
    schedule: rowWriter(ScheduleSchema, toSchedule),
    webhook: rowWriter(WebhookSchema, toWebhook),
    delivery: rowWriter(DeliverySchema, (row) => toDelivery({ ...row, body: null })),
    attempt: rowWriter(DeliveryAttemptSchema, (row) => toAttempt({ ...row, response: null })),
  };
}
