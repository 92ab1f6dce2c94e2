import type { Tx } from "../core/store.ts";
import { accountRows } from "./rows/account.ts";
import { actionRows } from "./rows/action.ts";
import { agentRows } from "./rows/agent.ts";
import { apiKeyRows } from "./rows/api-key.ts";
import { appRows } from "./rows/app.ts";
import { archiveRows } from "./rows/archive.ts";
import { auditRows } from "./rows/audit.ts";
import { auditChainRows } from "./rows/audit-chain.ts";
import { auditLogRows } from "./rows/audit-log.ts";
import { blobRows } from "./rows/blob.ts";
import { browserRows } from "./rows/browser.ts";
import { budgetRows } from "./rows/budget.ts";
import { checkpointRows } from "./rows/checkpoint.ts";
import { clientRows } from "./rows/client.ts";
import { codeRows } from "./rows/code.ts";
import { connectorRows } from "./rows/connector.ts";
import { conversationRows } from "./rows/conversation.ts";
import { deliveryRows } from "./rows/delivery.ts";
import { deliveryLogRows } from "./rows/delivery-log.ts";
import { eventRows } from "./rows/event.ts";
import { exportRows } from "./rows/export.ts";
import { familyRows } from "./rows/family.ts";
import { fileRows } from "./rows/file.ts";
import { grantRows } from "./rows/grant.ts";
import { memberRows } from "./rows/member.ts";
import { nodeRows } from "./rows/node.ts";
import { projectRows } from "./rows/project.ts";
import { replayRows } from "./rows/replay.ts";
import { settingRows } from "./rows/setting.ts";
import { shareRows } from "./rows/share.ts";
import { linkRows, sessionRows, signInRows } from "./rows/sign-in.ts";
import { signingKeyRows } from "./rows/signing-key.ts";
import { siteVisitRows } from "./rows/site-visit.ts";
import { skillRows } from "./rows/skill.ts";
import { stepRows } from "./rows/step.ts";
import { taskRows } from "./rows/task.ts";
import { meansRows } from "./rows/task-means.ts";
import { usageRows } from "./rows/usage.ts";
import { webhookRows } from "./rows/webhook.ts";
import { webhookEventRows } from "./rows/webhook-event.ts";
import { webhookKeyRows } from "./rows/webhook-key.ts";
import { websiteRows } from "./rows/website.ts";
import { workerRows } from "./rows/worker.ts";
import { workerEventRows, workerRunRows } from "./rows/worker-run.ts";
import { workspaceRows } from "./rows/workspace-file.ts";
import { changeOf, type JobRowsOf, type Session } from "./session.ts";

/** Every aggregate, over one transaction or over a connection that only reads. */
export const rowsOf = (session: Session, jobs: JobRowsOf): Tx => ({
  accounts: accountRows(session),
  members: memberRows(session),
  keys: apiKeyRows(session),
  sessions: sessionRows(session),
  signIns: signInRows(session),
  links: linkRows(session),
  apps: appRows(session),
  clients: clientRows(session),
  grants: grantRows(session),
  codes: codeRows(session),
  families: familyRows(session),
  signingKeys: signingKeyRows(session),
  projects: projectRows(session),
  skills: skillRows(session),
  webhooks: webhookRows(session),
  deliveryLog: deliveryLogRows(session),
  agents: agentRows(session),
  connectors: connectorRows(session),
  tasks: taskRows(session),
  means: meansRows(session),
  events: eventRows(session),
  conversations: conversationRows(session),
  actions: actionRows(session),
  webhookEvents: webhookEventRows(session),
  files: fileRows(session),
  blobs: blobRows(session),
  workspace: workspaceRows(session),
  jobs: jobs(session),
  nodes: nodeRows(session),
  replays: replayRows(session),
  audit: auditRows(session),
  auditChain: auditChainRows(session),
  auditLog: auditLogRows(session),
  settings: settingRows(session),
  webhookKeys: webhookKeyRows(session),
  deliveries: deliveryRows(session),
  exports: exportRows(session),
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
  shares: shareRows(session),
  afterCommit: (work) => void changeOf(session).after.push(work),
});
