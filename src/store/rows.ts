import type { Tx } from "../core/store.ts";
import { accountRows } from "./account.ts";
import { actionRows } from "./action.ts";
import { agentRows } from "./agent.ts";
import { apiKeyRows } from "./api-key.ts";
import { appRows } from "./app.ts";
import { archiveRows } from "./archive.ts";
import { auditRows } from "./audit.ts";
import { auditChainRows } from "./audit-chain.ts";
import { auditLogRows } from "./audit-log.ts";
import { blobRows } from "./blob.ts";
import { browserRows } from "./browser.ts";
import { budgetRows } from "./budget.ts";
import { checkpointRows } from "./checkpoint.ts";
import { clientRows } from "./client.ts";
import { codeRows } from "./code.ts";
import { connectorRows } from "./connector.ts";
import { conversationRows } from "./conversation.ts";
import { deliveryRows } from "./delivery.ts";
import { deliveryLogRows } from "./delivery-log.ts";
import { eventRows } from "./event.ts";
import { exportRows } from "./export.ts";
import { familyRows } from "./family.ts";
import { fileRows } from "./file.ts";
import { grantRows } from "./grant.ts";
import { memberRows } from "./member.ts";
import { nodeRows } from "./node.ts";
import { projectRows } from "./project.ts";
import { replayRows } from "./replay.ts";
import { changeOf, type JobRowsOf, type Session } from "./session.ts";
import { settingRows } from "./setting.ts";
import { linkRows, sessionRows, signInRows } from "./sign-in.ts";
import { signingKeyRows } from "./signing-key.ts";
import { siteVisitRows } from "./site-visit.ts";
import { skillRows } from "./skill.ts";
import { stepRows } from "./step.ts";
import { taskRows } from "./task.ts";
import { meansRows } from "./task-means.ts";
import { usageRows } from "./usage.ts";
import { webhookRows } from "./webhook.ts";
import { webhookEventRows } from "./webhook-event.ts";
import { webhookKeyRows } from "./webhook-key.ts";
import { websiteRows } from "./website.ts";
import { workerRows } from "./worker.ts";
import { workerEventRows, workerRunRows } from "./worker-run.ts";
import { workspaceRows } from "./workspace-file.ts";

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
  afterCommit: (work) => void changeOf(session).after.push(work),
});
