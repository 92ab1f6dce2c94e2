import type { DescMessage, FileRegistry } from "@bufbuild/protobuf";
import { type Operation, operationTable } from "../../src/pipeline/operations.ts";
import { objectSection } from "./fields.ts";
import { anchorOf, callersOf, type Example, operationSection, summaryOf, titleOf } from "./operation.ts";
import type { LinkOf } from "./rules.ts";
import { commentOf, messagesBelow, serviceOf } from "./schema.ts";

/** A page of the reference: its file under `docs/reference/`, its title, and its services in order. */
interface Subject {
  readonly file: string;
  readonly title: string;
  readonly services: readonly string[];
  /** The methods of the services that the page has; without it, all. */
  readonly methods?: readonly string[];
  /** Messages that the page describes besides those of its operations. */
  readonly messages?: readonly string[];
}

const subjects: readonly Subject[] = [
  { file: "events", title: "Task events", services: [], messages: ["task.v2.TaskEvent"] },
  {
    file: "tasks",
    title: "Tasks",
    services: ["task.v2.TaskService"],
    methods: ["CreateTask", "GetTask", "ListTasks", "UpdateTask", "StopTask", "DeleteTask"],
  },
  {
    file: "task-messages",
    title: "Messages and approvals of tasks",
    services: ["task.v2.TaskService"],
    methods:
      "SendMessage ListMessages WatchTask WatchTasks GetWatchUrl ConfirmAction InspectTask GetConversation ListConversations".split(
        " ",
      ),
  },
  { file: "shared-tasks", title: "Shared tasks", services: ["task.v2.SharedTaskService"] },
  { file: "schedules", title: "Schedules", services: ["schedule.v1.ScheduleService"] },
  { file: "projects", title: "Projects", services: ["project.v2.ProjectService"] },
  { file: "files", title: "Files", services: ["file.v2.FileService"] },
  { file: "webhooks", title: "Webhooks", services: ["webhook.v2.WebhookService"] },
  { file: "agents", title: "Agents", services: ["agent.v2.AgentService", "agent.v2.AgentProfileService"] },
  { file: "skills", title: "Skills", services: ["skill.v2.SkillService", "settings.v1.SkillService"] },
  {
    file: "connectors",
    title: "Connectors",
    services: ["connector.v2.ConnectorService", "settings.v1.ConnectorService"],
  },
  { file: "browsers", title: "Browsers", services: ["browser.v2.BrowserService"] },
  { file: "websites", title: "Websites", services: ["website.v2.WebsiteService"] },
  {
    file: "usage",
    title: "Usage and budgets",
    services: ["usage.v2.UsageService", "settings.v1.BudgetService"],
  },
  {
    file: "users",
    title: "The calling user and API keys",
    services: ["user.v2.UserService", "settings.v1.AccountService", "settings.v1.ApiKeyService"],
  },
  { file: "oauth-apps", title: "OAuth apps", services: ["oauth.v2.OAuth2AppService"] },
  {
    file: "teams",
    title: "Teams",
    services: [
      "settings.v1.TeamService",
      "team.v2.TeamUserManagementApiV2Service",
      "team.v2.TeamAssetAuditApiV2Service",
      "team.v2.TeamAssetManageApiV2Service",
    ],
  },
  {
    file: "exports",
    title: "Data export and compliance",
    services: [
      "dataexport.v2.EnterpriseDataExportV2Service",
      "dataexport.v1.EnterpriseDataExportService",
      "observability.v2.EnterpriseComplianceV2Service",
    ],
  },
  { file: "imports", title: "Imports", services: ["dataimport.v1.ImportService"] },
  { file: "audit", title: "Audit log", services: ["audit.v2.AuditService"] },
  {
    file: "installation",
    title: "The installation",
    services: ["installation.v1.InstallationService", "installation.v1.ModelService"],
  },
  { file: "workers", title: "Workers", services: ["worker.v1.WorkerService", "settings.v1.WorkerService"] },
];

const made = "<!-- Made from proto/ by the set-up. -->";

/** Operations of the services of a page, with their descriptors that have comments. */
const operationsOf = ({ services, methods }: Subject, schema: FileRegistry) =>
  services.flatMap((name) =>
    serviceOf(schema, name).methods.flatMap((method) => {
      const operation = operationTable().byRpc(`${name}/${method.name}`);
      return operation && (methods?.includes(method.name) ?? true) ? [{ operation, method }] : [];
    }),
  );

/** Where each message is described: on the page of its package, else on the first page that leads to it. */
function homes(schema: FileRegistry): ReadonlyMap<string, Subject> {
  const found = new Map<string, Subject>();
  const below = subjects.map((subject) => ({ subject, messages: objectsOf(subject, schema) }));
  for (const isOwn of [true, false])
    for (const { subject, messages } of below)
      for (const { typeName, file } of messages) {
        const own = [...subject.services, ...(subject.messages ?? [])].some((name) =>
          name.startsWith(`${file.proto.package}.`),
        );
        if (!found.has(typeName) && (own || !isOwn)) found.set(typeName, subject);
      }
  return found;
}

/** The messages of a page, and those that its operations and messages lead to. */
function objectsOf(subject: Subject, schema: FileRegistry): readonly DescMessage[] {
  const own = (subject.messages ?? []).flatMap((name) => schema.getMessage(name) ?? []);
  return [
    ...own,
    ...messagesBelow([
      ...own,
      ...operationsOf(subject, schema).flatMap(({ method }) => [method.input, method.output]),
    ]),
  ];
}

/** The pages of all operations by their file names under `docs/reference/`. */
export function referencePages(
  schema: FileRegistry,
  examples: Readonly<Record<string, Example>>,
): ReadonlyMap<string, string> {
  const home = homes(schema);
  const pages = subjects.map((subject): [string, string] => {
    const linkOf: LinkOf = (typeName) => {
      const at = home.get(typeName);
      const name = typeName.slice(typeName.lastIndexOf(".") + 1);
      return at ? `${at === subject ? "" : `${at.file}.md`}#${anchorOf(name)}` : null;
    };
    const objects = objectsOf(subject, schema).filter(({ typeName }) => home.get(typeName) === subject);
    const sections = [
      made,
      `# ${subject.title}`,
      ...subject.services.flatMap((name) => commentOf(serviceOf(schema, name))),
      ...operationsOf(subject, schema).map(({ operation, method }) =>
        operationSection(operation, method, linkOf, examples[operation.name ?? ""]),
      ),
      ...(objects.length > 0
        ? ["## Objects", ...objects.map((message) => objectSection(message, linkOf))]
        : []),
    ];
    return [`${subject.file}.md`, linked(`${sections.join("\n\n")}\n`)];
  });
  return new Map([...pages, ["operations.md", indexPage(schema)]]);
}

/** Citations of the specification as links. */
const linked = (text: string): string =>
  text.replaceAll(/\bspec\/([a-z0-9]+)\.md/g, "[spec/$1.md](../spec/$1.md)");

/** Every operation in one table, with its page. */
function indexPage(schema: FileRegistry): string {
  const rows = subjects.flatMap((subject) =>
    operationsOf(subject, schema).map(({ operation, method }) => {
      const link = `[${titleOf(operation)}](${subject.file}.md#${anchorOf(titleOf(operation))})`;
      const rateClass = operation.access === null ? "" : operation.rateClass;
      return `| ${link} | ${summaryOf(method).replaceAll("|", "\\|")} | ${rateClass} | ${callersOf(operation)} |`;
    }),
  );
  const head = [
    made,
    "# Operations",
    "Names with a dot are operations of v2: `POST /v2/task.create`. Every operation is an RPC too, over Connect, gRPC and gRPC-Web.",
  ];
  return `${[...head, ["| Operation | | Rate class | Who may call |", "| --- | --- | --- | --- |", ...rows].join("\n")].join("\n\n")}\n`;
}

/** Operations that no page has. */
export const missingOperations = (schema: FileRegistry): readonly Operation[] => {
  const listed = new Set(
    subjects.flatMap((subject) => operationsOf(subject, schema).map(({ operation }) => operation.rpc)),
  );
  return operationTable().all.filter(({ rpc }) => !listed.has(rpc));
};
