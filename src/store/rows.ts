import type { Tx } from "../core/store.ts";
import { accountRows } from "./rows/account.ts";
import { actionRows } from "./rows/action.ts";
import { agentRows } from "./rows/agent.ts";
import { agentProfileRows } from "./rows/agent-profile.ts";
import { apiKeyRows } from "./rows/api-key.ts";
import { appRows, clientRows, registrationRows } from "./rows/app.ts";
import { archiveRows } from "./rows/archive.ts";
import { auditChainRows, auditLogRows, auditRows } from "./rows/audit.ts";
import { blobRows } from "./rows/blob.ts";
import { browserRows } from "./rows/browser.ts";
import { budgetRows } from "./rows/budget.ts";
import { connectorRows } from "./rows/connector.ts";
import { conversationRows } from "./rows/conversation.ts";
import { deliveryRows } from "./rows/delivery.ts";
import { deliveryLogRows } from "./rows/delivery-log.ts";
import { deviceRows } from "./rows/device.ts";
import { erasureRows } from "./rows/erasure.ts";
import { eventRows } from "./rows/event.ts";
import { segmentRows } from "./rows/event-segment.ts";
import { exportRows } from "./rows/export.ts";
import { factorRows } from "./rows/factor.ts";
import { familyRows } from "./rows/family.ts";
import { fileRows } from "./rows/file.ts";
import { codeRows, grantRows } from "./rows/grant.ts";
import { groupRows } from "./rows/group.ts";
import { idempotencyRows } from "./rows/idempotency.ts";
import { importedRows } from "./rows/imported-object.ts";
import { installationRows } from "./rows/installation.ts";
import { memberRows } from "./rows/member.ts";
import { modelRows } from "./rows/model.ts";
import { parentRows, waitRows } from "./rows/parent-task.ts";
import { nodeRows, settingRows } from "./rows/processes.ts";
import { projectRows } from "./rows/project.ts";
import { pushConfigRows } from "./rows/push-config.ts";
import { retentionRows } from "./rows/retention.ts";
import { scheduleRows } from "./rows/schedule.ts";
import { processKeyRows, sealedRows } from "./rows/sealed.ts";
import { shareRows } from "./rows/share.ts";
import { linkRows, mailedLinkRows, sessionRows, signInRows } from "./rows/sign-in.ts";
import { signingKeyRows } from "./rows/signing-key.ts";
import { domainRows } from "./rows/site-domain.ts";
import { siteVisitRows, viewerRows } from "./rows/site-visit.ts";
import { skillRows } from "./rows/skill.ts";
import { stepRows } from "./rows/step.ts";
import { taskResourceRows, taskRows } from "./rows/task.ts";
import { transcriptRows } from "./rows/transcript.ts";
import { transferRows } from "./rows/transfer.ts";
import { usageRows } from "./rows/usage.ts";
import { webhookKeyRows, webhookRows } from "./rows/webhook.ts";
import { webhookEventRows } from "./rows/webhook-event.ts";
import { listenerRows } from "./rows/webhook-listener.ts";
import { checkpointRows, websiteRows } from "./rows/website.ts";
import { workerEventRows, workerRows, workerRunRows } from "./rows/worker.ts";
import { workspaceRows } from "./rows/workspace-file.ts";
import { changeOf, type JobRowsOf, type Session } from "./session.ts";

/** Every aggregate, on one transaction or on a read-only connection. */
export const rowsOf = (session: Session, jobs: JobRowsOf): Tx => ({
  accounts: accountRows(session),
  members: memberRows(session),
  groups: groupRows(session),
  keys: apiKeyRows(session),
  sessions: sessionRows(session),
  signIns: signInRows(session),
  links: linkRows(session),
  mailedLinks: mailedLinkRows(session),
  factors: factorRows(session),
  apps: appRows(session),
  clients: clientRows(session),
  registrations: registrationRows(session),
  grants: grantRows(session),
  codes: codeRows(session),
  devices: deviceRows(session),
  families: familyRows(session),
  signingKeys: signingKeyRows(session),
  projects: projectRows(session),
  skills: skillRows(session),
  webhooks: webhookRows(session),
  listeners: listenerRows(session),
  pushConfigs: pushConfigRows(session),
  deliveryLog: deliveryLogRows(session),
  agents: agentRows(session),
  agentProfiles: agentProfileRows(session),
  connectors: connectorRows(session),
  tasks: taskRows(session),
  taskResources: taskResourceRows(session),
  schedules: scheduleRows(session),
  events: eventRows(session),
  segments: segmentRows(session),
  transcripts: transcriptRows(session),
  conversations: conversationRows(session),
  actions: actionRows(session),
  parents: parentRows(session),
  waits: waitRows(session),
  webhookEvents: webhookEventRows(session),
  files: fileRows(session),
  blobs: blobRows(session),
  workspace: workspaceRows(session),
  jobs: jobs(session),
  nodes: nodeRows(session),
  idempotency: idempotencyRows(session),
  audit: auditRows(session),
  auditChain: auditChainRows(session),
  auditLog: auditLogRows(session),
  settings: settingRows(session),
  processKeys: processKeyRows(session),
  sealed: sealedRows(session),
  webhookKeys: webhookKeyRows(session),
  deliveries: deliveryRows(session),
  exports: exportRows(session),
  imports: importedRows(session),
  usage: usageRows(session),
  budgets: budgetRows(session),
  workers: workerRows(session),
  workerRuns: workerRunRows(session),
  workerEvents: workerEventRows(session),
  archives: archiveRows(session),
  steps: stepRows(session),
  browsers: browserRows(session),
  websites: websiteRows(session),
  checkpoints: checkpointRows(session),
  siteVisits: siteVisitRows(session),
  viewers: viewerRows(session),
  domains: domainRows(session),
  shares: shareRows(session),
  retention: retentionRows(session),
  erasures: erasureRows(session),
  installation: installationRows(session),
  models: modelRows(session),
  transfer: transferRows(session),
  afterCommit: (work) => void changeOf(session).after.push(work),
  afterRollback: (work) => void changeOf(session).undo.push(work),
});
