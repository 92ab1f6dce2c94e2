import type { ErasureTarget } from "../../core/erasure/erasure.ts";
import type { Rows } from "../../gen/prisma/tables.ts";
import { type Sql, sql } from "../statements.ts";

type Of<K extends ErasureTarget["kind"]> = Extract<ErasureTarget, { kind: K }>;
/** The condition of the rows to delete, or why the rows stay. */
type Rule<T> = ((target: T) => Sql) | string;

/** What an erasure does with a table: for a person, and for a space. */
export interface TableRules {
  readonly person: Rule<Of<"person">>;
  readonly space: Rule<Of<"space">>;
}

type Person = Of<"person">;
type Space = Of<"space">;

const ofAccount = ({ accountId }: Person) => sql`account_id = ${accountId}`;
const ofSpace = ({ spaceId }: Space) => sql`space_id = ${spaceId}`;

/** Rows that another row has: `column` is its id in `table`. */
const within = (column: Sql, table: Sql, condition: Sql): Sql =>
  sql`${column} IN (SELECT id FROM ${table} WHERE ${condition})`;
const tasks = sql`task`;
const ofTaskOfAccount = (person: Person) => within(sql`task_id`, tasks, ofAccount(person));
const ofTaskOfSpace = (space: Space) => within(sql`task_id`, tasks, ofSpace(space));
const either = (...conditions: readonly Sql[]): Sql =>
  conditions.reduce((one, other) => sql`${one} OR ${other}`);

/** Webhooks of the person. A webhook of an app belongs to the team. */
const ownWebhook = (person: Person) => sql`${ofAccount(person)} AND client_id IS NULL`;
const ownProject = (column: Sql, person: Person) => within(column, sql`project`, ofAccount(person));
const ownSkill = (person: Person) =>
  sql`(account_id = ${person.accountId} AND owner_type = 'personal') OR ${ownProject(sql`project_id`, person)}`;
const ownWebsite = (person: Person) => either(ofAccount(person), ofTaskOfAccount(person));
const ofOwnWebsite = (person: Person) => within(sql`website_id`, sql`website`, ownWebsite(person));
const ofWebsiteOfSpace = (space: Space) => within(sql`website_id`, sql`website`, ofSpace(space));

const personOwns: TableRules = { person: ofAccount, space: ofSpace };
const taskOwns: TableRules = { person: ofTaskOfAccount, space: ofTaskOfSpace };
const teamOwns = { person: "belongs to the team", space: ofSpace } as const;
const usage = {
  person: "accounts of the team's costs, without text; the account id is a pseudonym",
  space: ofSpace,
} as const;
const accountOwns = { person: ofAccount, space: "belongs to a person, who has other spaces" } as const;
const installation = (why: string): TableRules => ({ person: why, space: why });

const ofAppOfSpace = ({ spaceId }: Space) =>
  sql`client_id IN (SELECT client_id FROM oauth_app WHERE space_id = ${spaceId})`;
const appOwns: TableRules = { person: "belongs to the team's app", space: ofAppOfSpace };

const deliveries = {
  person: (person: Person) =>
    either(within(sql`webhook_id`, sql`webhook`, ownWebhook(person)), ofTaskOfAccount(person)),
  space: (space: Space) =>
    either(within(sql`webhook_id`, sql`webhook`, ofSpace(space)), ofTaskOfSpace(space)),
};
const listenerEvents = (owned: Sql, ofTask: Sql) =>
  either(
    within(sql`listener_id`, sql`webhook_listener`, owned),
    within(sql`event_id`, sql`webhook_event`, ofTask),
  );

/**
 * What an erasure does with each table, in the order of deletion: rows that others are found by come after
 * those. A new table does not compile until it is declared here.
 */
export const erasureRules: Readonly<Record<keyof Rows | "taskText", TableRules>> = {
  session: personOwns,
  signInLink: personOwns,
  mailedLink: accountOwns,
  passkey: accountOwns,
  authenticator: accountOwns,
  recoveryCode: accountOwns,
  apiKey: personOwns,
  oAuthCode: personOwns,
  oAuthDevice: personOwns,
  oAuthFamily: personOwns,
  oAuthGrant: personOwns,
  siteVisit: personOwns,
  connectorAuthorization: personOwns,
  connector: personOwns,
  browser: personOwns,
  schedule: personOwns,
  pushConfig: personOwns,
  idempotencyRecord: {
    person: (person) =>
      either(
        ofAccount(person),
        sql`subject = ${person.accountId}`,
        within(sql`subject`, sql`membership`, ofAccount(person)),
      ),
    space: ofSpace,
  },

  listenerEvent: {
    person: (person) => listenerEvents(ofAccount(person), ofTaskOfAccount(person)),
    space: (space) => listenerEvents(ofSpace(space), ofTaskOfSpace(space)),
  },
  webhookListener: personOwns,
  deliveryAttempt: {
    person: (person) => within(sql`delivery_id`, sql`delivery`, deliveries.person(person)),
    space: (space) => within(sql`delivery_id`, sql`delivery`, deliveries.space(space)),
  },
  delivery: deliveries,
  webhookEvent: taskOwns,
  webhook: { person: ownWebhook, space: ofSpace },

  workerEvent: taskOwns,
  workerRun: taskOwns,
  workerFailure: {
    person: ofTaskOfAccount,
    space: (space) => either(ofTaskOfSpace(space), within(sql`worker_id`, sql`worker`, ofSpace(space))),
  },
  worker: teamOwns,
  budgetHold: taskOwns,
  budget: {
    person: (person) =>
      either(
        sql`subject = ${person.accountId}`,
        within(sql`subject`, tasks, ofAccount(person)),
        within(sql`subject`, sql`project`, ofAccount(person)),
      ),
    space: ofSpace,
  },
  usageEntry: usage,
  usageRecord: usage,
  usageDay: usage,

  checkpointFile: {
    person: (person) => within(sql`checkpoint_id`, sql`checkpoint`, ofOwnWebsite(person)),
    space: (space) => within(sql`checkpoint_id`, sql`checkpoint`, ofWebsiteOfSpace(space)),
  },
  checkpoint: { person: ofOwnWebsite, space: ofSpace },
  websiteViewer: {
    person: (person) => either(ofOwnWebsite(person), sql`email = ${person.email}`),
    space: ofWebsiteOfSpace,
  },
  siteDomain: { person: (person) => either(ofAccount(person), ofOwnWebsite(person)), space: ofSpace },
  website: { person: ownWebsite, space: ofSpace },

  skillChoice: {
    person: (person) => either(ofAccount(person), within(sql`skill_id`, sql`skill`, ownSkill(person))),
    space: ofSpace,
  },
  skill: { person: ownSkill, space: ofSpace },
  // Archives of complete spaces have the tasks of the person too.
  export: {
    person: (person) =>
      either(
        ofAccount(person),
        sql`(kind = 'compliance' AND space_id IN (SELECT space_id FROM membership WHERE account_id = ${person.accountId}))`,
      ),
    space: ofSpace,
  },
  importedObject: personOwns,
  file: { person: (person) => either(ofAccount(person), ofTaskOfAccount(person)), space: ofSpace },
  workspaceFile: taskOwns,

  taskText: taskOwns,
  taskMetadata: taskOwns,
  taskEvent: taskOwns,
  eventSegment: taskOwns,
  transcript: taskOwns,
  pendingAction: taskOwns,
  parentTask: taskOwns,
  subtaskWait: taskOwns,
  taskResources: taskOwns,
  agent: personOwns,
  task: personOwns,
  projectConnector: { person: (person) => ownProject(sql`project_id`, person), space: ofSpace },
  project: personOwns,

  oAuthAppOrigin: appOwns,
  oAuthSecret: appOwns,
  oAuthApp: teamOwns,
  agentProfile: teamOwns,
  teamGroupMember: {
    person: (person) => within(sql`member_id`, sql`membership`, ofAccount(person)),
    space: (space) => within(sql`group_id`, sql`team_group`, ofSpace(space)),
  },
  teamGroup: teamOwns,
  membership: personOwns,
  team: teamOwns,
  space: { person: "a personal space is erased as a space", space: ({ spaceId }) => sql`id = ${spaceId}` },
  storage: { person: ofAccount, space: "a total of each account, without text" },
  // Last: the address finds the person's other rows, also when the erasure continues.
  account: {
    person: ({ accountId }) => sql`id = ${accountId}`,
    space: "people have other spaces: erase each person",
  },

  blob: installation("dropped with the rows that refer to it, and deleted with its bytes"),
  auditEvent: installation("the audit log is never changed; the account id is a pseudonym"),
  auditHead: installation("the end of a chain of the audit log"),
  auditAnchor: installation("the beginning of a chain of the audit log"),
  erasure: installation("the list of erasures, which a restore applies again"),
  legalHold: installation("refuses the erasure while it exists"),
  job: installation("ids of work to do, deleted when it is done"),
  node: installation("processes of the installation"),
  processKeys: installation("processes of the installation"),
  setting: installation("facts about the installation"),
  model: installation("models of the installation"),
  spentTicket: installation("digests of used tickets, deleted when they would have expired"),
  rateCounter: installation("counts of a minute, deleted after three"),
  profileLabel: installation("labels of the operator's settings"),
  signingKey: installation("keys of the installation"),
  webhookKey: installation("keys of the installation"),
};
