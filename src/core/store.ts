import type { AccountRows } from "./accounts/account.ts";
import type { ActionRows } from "./actions/action.ts";
import type { AgentRows } from "./agents/agent.ts";
import type { ShareRows } from "./assets/share.ts";
import type { AuditRows } from "./audit/audit.ts";
import type { AuditChainRows } from "./audit/chain.ts";
import type { AuditLogRows } from "./audit/log.ts";
import type { BrowserRows } from "./browsers/browser.ts";
import type { ConnectorRows } from "./connectors/connector.ts";
import type { ArchiveRows } from "./exports/archive-rows.ts";
import type { ExportRows } from "./exports/export.ts";
import type { StepRows } from "./exports/step-rows.ts";
import type { BlobRows } from "./files/blob.ts";
import type { FileRows } from "./files/file.ts";
import type { JobRows } from "./jobs/job.ts";
import type { ApiKeyRows } from "./keys/api-key.ts";
import type { RateCounters } from "./limits/counter.ts";
import type { NodeRows } from "./nodes/node.ts";
import type { AppRows } from "./oauth/app.ts";
import type { ClientRows } from "./oauth/client.ts";
import type { CodeRows } from "./oauth/code.ts";
import type { FamilyRows } from "./oauth/family.ts";
import type { GrantRows } from "./oauth/grant.ts";
import type { SigningKeyRows } from "./oauth/signing-key.ts";
import type { ProjectRows } from "./projects/project.ts";
import type { ReplayRows } from "./replay/replay.ts";
import type { SettingRows } from "./settings/setting.ts";
import type { LinkRows } from "./sign-in/link.ts";
import type { SessionRows } from "./sign-in/session.ts";
import type { SignInRows } from "./sign-in/sign-in.ts";
import type { SkillRows } from "./skills/skill.ts";
import type { ConversationRows } from "./tasks/conversations.ts";
import type { EventRows } from "./tasks/event.ts";
import type { MeansRows } from "./tasks/means.ts";
import type { TaskRows } from "./tasks/task.ts";
import type { MemberRows } from "./teams/member.ts";
import type { BudgetRows } from "./usage/budget.ts";
import type { UsageRows } from "./usage/usage.ts";
import type { DeliveryLogRows } from "./webhooks/delivery-log.ts";
import type { DeliveryRows } from "./webhooks/due.ts";
import type { WebhookEventRows } from "./webhooks/event-rows.ts";
import type { WebhookKeyRows } from "./webhooks/key.ts";
import type { WebhookRows } from "./webhooks/webhook.ts";
import type { CheckpointRows } from "./websites/checkpoint.ts";
import type { SiteVisitRows } from "./websites/visit.ts";
import type { WebsiteRows } from "./websites/website.ts";
import type { WorkerRows } from "./workers/worker.ts";
import type { WorkerEventRows, WorkerRunRows } from "./workers/worker-run.ts";
import type { WorkspaceRows } from "./workspaces/workspace.ts";

/**
 * Everything that is kept, as one open transaction sees it; outside a change, as
 * the newest commit has it, and read only.
 */
export interface Tx {
  readonly accounts: AccountRows;
  readonly members: MemberRows;
  readonly keys: ApiKeyRows;
  readonly sessions: SessionRows;
  readonly signIns: SignInRows;
  readonly links: LinkRows;
  readonly apps: AppRows;
  readonly clients: ClientRows;
  readonly grants: GrantRows;
  readonly codes: CodeRows;
  readonly families: FamilyRows;
  readonly signingKeys: SigningKeyRows;
  readonly projects: ProjectRows;
  readonly skills: SkillRows;
  readonly webhooks: WebhookRows;
  readonly deliveryLog: DeliveryLogRows;
  readonly agents: AgentRows;
  readonly connectors: ConnectorRows;
  readonly tasks: TaskRows;
  readonly means: MeansRows;
  readonly events: EventRows;
  readonly conversations: ConversationRows;
  readonly actions: ActionRows;
  readonly webhookEvents: WebhookEventRows;
  readonly files: FileRows;
  readonly blobs: BlobRows;
  readonly workspace: WorkspaceRows;
  readonly jobs: JobRows;
  readonly nodes: NodeRows;
  readonly replays: ReplayRows;
  readonly audit: AuditRows;
  readonly auditChain: AuditChainRows;
  readonly auditLog: AuditLogRows;
  readonly settings: SettingRows;
  readonly webhookKeys: WebhookKeyRows;
  readonly deliveries: DeliveryRows;
  readonly exports: ExportRows;
  readonly usage: UsageRows;
  readonly budgets: BudgetRows;
  readonly workers: WorkerRows;
  readonly workerRuns: WorkerRunRows;
  readonly workerEvents: WorkerEventRows;
  readonly archives: ArchiveRows;
  readonly steps: StepRows;
  readonly browsers: BrowserRows;
  readonly websites: WebsiteRows;
  readonly checkpoints: CheckpointRows;
  readonly siteVisits: SiteVisitRows;
  readonly shares: ShareRows;
  /** Work that `change` does after the commit and before it resolves; outside a change, at once. */
  afterCommit(work: () => Promise<void> | void): void;
}

/**
 * Told after the commit, never before, of changes of this process and, as far as it
 * hears of them, of all others: the store stays the truth.
 */
export interface Feed {
  /** A task got events, another status or another fence. */
  onTask(listener: (news: TaskNews) => void): () => void;
  /** A job of this kind may be due. */
  onJob(listener: (kind: string) => void): () => void;
  /** News of other processes may have been missed, of whatever: the store has them. */
  onLost(listener: () => void): () => void;
}

/** What a watcher or a runner needs to know without a query. */
export interface TaskNews {
  readonly taskId: string;
  readonly lastSeq: number;
  readonly fence: number;
  readonly status: string;
}

/** The store: reads at any time, changes one transaction at a time. */
export interface Store extends Tx {
  /**
   * Runs `work` in one transaction: all of it is durable when the promise resolves,
   * or none of it. Conflicts are retried inside, so `work` may run more than once
   * and must not act on the outside.
   */
  change<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  readonly feed: Feed;
  /** Apart from every transaction. */
  readonly counters: RateCounters;
  /** Resolves when the database has written and committed something, of which nothing is left: for `/readyz`. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
