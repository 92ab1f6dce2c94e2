import type { DescService } from "@bufbuild/protobuf";
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
import { ModelService } from "../gen/proto/installation/v1/model_service_pb.ts";
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

/** Every service whose methods are operations, in the order of the specification. */
export const services: readonly DescService[] = [
  TaskService,
  SharedTaskService,
  ScheduleService,
  ProjectService,
  FileService,
  WebhookService,
  SkillService,
  ConnectorService,
  AgentService,
  AgentProfileService,
  BrowserService,
  UsageService,
  WebsiteService,
  UserService,
  AccountService,
  ApiKeyService,
  SkillSettingsService,
  TeamService,
  BudgetService,
  WorkerSettingsService,
  ConnectorSettingsService,
  OAuth2AppService,
  TeamUserManagementApiV2Service,
  TeamAssetAuditApiV2Service,
  TeamAssetManageApiV2Service,
  EnterpriseDataExportService,
  EnterpriseDataExportV2Service,
  EnterpriseComplianceV2Service,
  ImportService,
  AuditService,
  InstallationService,
  ModelService,
  WorkerService,
];
