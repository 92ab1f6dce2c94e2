import { scopeNames } from "../../../src/core/accounts/caller.ts";
import { systemIds } from "../../../src/core/ids.ts";
import { AccountService } from "../../../src/gen/proto/settings/v1/account_service_pb.ts";
import { ApiKeyService } from "../../../src/gen/proto/settings/v1/api_key_service_pb.ts";
import { BudgetKind, BudgetPeriod } from "../../../src/gen/proto/settings/v1/budget_pb.ts";
import { BudgetService } from "../../../src/gen/proto/settings/v1/budget_service_pb.ts";
import { ConnectorService } from "../../../src/gen/proto/settings/v1/connector_service_pb.ts";
import { SkillService } from "../../../src/gen/proto/settings/v1/skill_service_pb.ts";
import { TeamService } from "../../../src/gen/proto/settings/v1/team_service_pb.ts";
import { WorkerService } from "../../../src/gen/proto/settings/v1/worker_service_pb.ts";
import { skillZip } from "../../core/skills/zip-maker.ts";
import { challenge, pairOf, putApp } from "../../support/oauth.ts";
import type { Person, Service } from "../../support/service.ts";
import type { MovableDays } from "./days.ts";
import { stories } from "./stories.ts";

/** Addresses of the receivers and servers that the seeded rows name. */
export interface SeedServers {
  readonly receiver: string;
  readonly failing: string;
  readonly mcp: string;
}

/** A call of v2 that must succeed. */
async function must(person: Person, name: string, body: unknown) {
  const reply = await person.v2(name, body);
  if (reply.status !== 200) throw new Error(`${name}: ${JSON.stringify(reply.body)}`);
  return reply.body;
}

/** The owner of the team "Harbour Tours". */
export async function seedOwner({ store, person }: Service, now: number): Promise<Person> {
  const [id, spaceId] = [systemIds.uuid(), systemIds.short()];
  const [email, createdAt] = ["maria.weber@harbour.example", now];
  await store.change(async ({ accounts }) => {
    await accounts.insertAccount({ id, email, name: "Maria Weber", locale: "en", createdAt });
    await accounts.insertSpace({ id: spaceId, kind: "team", createdAt, accountId: null });
    await accounts.insertTeam({ id: "team-harbour", spaceId, name: "Harbour Tours", createdAt });
    const member = {
      teamId: "team-harbour",
      spaceId,
      accountId: id,
      email,
      role: "owner",
      status: "active",
      createdAt,
    } as const;
    await accounts.insertMember({ id: systemIds.short(), ...member });
    // A second space to switch to.
    await accounts.insertSpace({ id: systemIds.short(), kind: "personal", createdAt, accountId: id });
  });
  const self = { accountId: id, spaceId };
  return person({ as: self, with: self });
}

const colleagues = [
  ["jonas.lindqvist@harbour.example", "Jonas Lindqvist", "TEAM_MEMBER_ROLE_SUPER_ADMIN"],
  ["aiko.tanaka@harbour.example", "Aiko Tanaka", "TEAM_MEMBER_ROLE_ADMIN"],
  [
    "bartholomew.featherstonehaugh-cholmondeley@harbour.example",
    "Bartholomew Featherstonehaugh-Cholmondeley",
    "TEAM_MEMBER_ROLE_MEMBER",
  ],
  ["li.na@harbour.example", "Li Na", "TEAM_MEMBER_ROLE_MEMBER"],
  ["guest@agency.example", "Ravi Patel", "TEAM_MEMBER_ROLE_GUEST"],
] as const;

/** Members of the team, and keys of four of them. */
async function seedColleagues(service: Service, owner: Person): Promise<Person[]> {
  for (const [email, user_name, role] of colleagues)
    await must(owner, "team.user.create", { email, user_name, role });
  const { data } = await (await owner.session()).client(TeamService).listMembers({});
  const others = data.filter(({ accountId }) => accountId !== owner.accountId);
  return Promise.all(
    others
      .slice(0, 4)
      .map(({ accountId }) => service.person({ as: { accountId, spaceId: owner.spaceId }, with: owner })),
  );
}

/** Thirty days of work: three to six tasks on a workday, of several people. */
async function seedUsage(
  days: MovableDays,
  workers: readonly Person[],
  projects: readonly string[],
): Promise<void> {
  for (let day = 29; day > 0; day -= 1) {
    days.goBack(day);
    const isWeekend = [0, 6].includes(new Date(days.clock.now()).getUTCDay());
    for (const [index, worker] of workers.entries()) {
      if (isWeekend && index > 0) continue;
      const title = stories.past[(day + index * 7) % stories.past.length] ?? "";
      const credits = 20 + ((day * 37 + index * 61) % 180);
      // Projects belong to their creator, the first one.
      const project = index === 0 ? projects[day % (projects.length + 1)] : undefined;
      const placed = project === undefined ? {} : { project_id: project };
      const content =
        day % 11 === 3 && index === 1
          ? "[[fail tool_failed | The site did not answer.]]"
          : `[[credits ${credits}]][[say Done.]]`;
      const { task_id } = await must(worker, "task.create", { title, message: { content }, ...placed });
      await must(worker, "task.detail", { task_id, wait_seconds: 30 });
    }
  }
  days.goBack(0);
}

/** Tasks of today in every state. Returns the id of the one with the longest story. */
/** Rules of a project. */
const rules = [
  { tool: "bash", pattern: "npm publish*", decision: "deny" },
  { tool: "bash", pattern: "npm *", decision: "allow" },
  { tool: "connector.mail", pattern: "send_*", decision: "ask", each_time: true },
];

async function seedTasks(owner: Person, project: string): Promise<string> {
  for (const { title, content, ...more } of stories.today)
    await must(owner, "task.create", {
      title,
      message: { content },
      ...more,
      ...(title.length > 60 ? { project_id: project } : {}),
    });
  const { task_id } = await must(owner, "task.create", {
    ...stories.long,
    project_id: project,
    share_visibility: "public",
  });
  return String(task_id);
}

async function seedWebhooks(owner: Person, { receiver, failing }: SeedServers): Promise<void> {
  await must(owner, "webhook.create", { url: `${receiver}/tasks`, name: "Booking system" });
  await must(owner, "webhook.create", {
    url: `${failing}/a/very/long/path/that/an/integration/uses/for/all/of/its/events?token=0123456789abcdef`,
    name: "Old reporting",
  });
  await must(owner, "webhook.create", { url: `${receiver}/chat` });
}

async function seedSettings(
  service: Service,
  owner: Person,
  servers: SeedServers,
  project: string,
): Promise<void> {
  const browser = await owner.session();
  const keys = browser.client(ApiKeyService);
  for (const name of [
    "nightly-report",
    "ci",
    "A key with a long name for the integration of the booking system",
  ])
    await keys.createApiKey({ name, kind: 1 });
  const restrictions = {
    scopes: ["task:read", "task:write", "file:write"],
    addressRanges: ["10.0.0.0/8", "2001:db8::/32"],
  };
  await keys.createApiKey({ name: "deploy", kind: 1, restrictions });
  await keys.createApiKey({
    name: "trial",
    kind: 1,
    expiresAt: BigInt(Math.floor(Date.now() / 1000) + 7 * 86_400),
  });
  const skills = browser.client(SkillService);
  for (const name of ["minutes", "expense-report", "brand-voice"])
    await skills.createSkill({ ownerType: 1, archive: skillZip(name) });
  const server = { case: "http", value: { url: servers.mcp } } as const;
  await browser
    .client(ConnectorService)
    .installConnector({ name: "Garden", description: "Beds, plants and watering", category: "Home", server });
  const budgets = browser.client(BudgetService);
  await budgets.setBudget({ kind: BudgetKind.TEAM, period: BudgetPeriod.MONTH, credits: 20_000n });
  await budgets.setBudget({
    kind: BudgetKind.PROJECT,
    subject: project,
    period: BudgetPeriod.MONTH,
    credits: 2_000n,
  });
  await budgets.setBudget({
    kind: BudgetKind.ACCOUNT,
    subject: owner.accountId,
    period: BudgetPeriod.DAY,
    credits: 500n,
  });
  const workers = browser.client(WorkerService);
  for (const name of ["office-mac-mini", "gpu-1"]) await workers.createWorker({ name });
  for (const [name, cron] of [
    ["Morning report", "0 8 * * 1-5"],
    ["Clean the inbox", "*/30 9-17 * * *"],
  ])
    await must(owner, "schedule.create", {
      schedule: {
        name,
        cron,
        time_zone: "Europe/Berlin",
        task: { message: { content: `${name}.\n[[say Done.]]` } },
      },
    });
  for (const [name, content] of [
    ["prices-2026.csv", "item,price\nboat,120\n"],
    ["a rather long file name of a contract with the harbour authority (final, signed).txt", "text"],
  ])
    await upload(owner, name ?? "", content ?? "");
  const app = await putApp(service, owner, {
    name: "Trip planner",
    description: "Plans day trips and books the boats for them.",
    homepageUrl: "https://trips.example",
    scopes: ["create_task", "create_project", "use_connectors"],
    connectorUids: ["9444d960-ab7e-450f-9cb9-b9467fb0adda", "f8900a57-4bd7-46cc-83a3-5ebd2420a817"],
  });
  await pairOf(service, owner, app, "secret");
  await seedUnverified(service, owner);
  await browser.client(AccountService).updateProfile({ name: "Maria Weber" });
}

/** An unverified app, which requests more permissions than its user granted. */
async function seedUnverified(service: Service, owner: Person): Promise<void> {
  const of = await putApp(service, owner, {
    name: "Tide table",
    homepageUrl: "https://tides.example",
    verified: false,
  });
  await pairOf(service, owner, of, "secret");
  await service.store.change((tx) => tx.apps.update({ ...of.app, generation: 2 }));
}

async function upload(owner: Person, filename: string, content: string): Promise<void> {
  const { upload_url } = await must(owner, "file.upload", { filename });
  await fetch(String(upload_url), { method: "PUT", body: content });
}

const site = `<!doctype html><title>Harbour Tours</title><h1>Harbour Tours</h1>`;

/** Two websites; the second one, whose task is returned, has an earlier checkpoint and two domains. */
async function seedWebsites(owner: Person): Promise<string> {
  let last = "";
  for (const title of ["Harbour Tours: summer programme", "Timetable"]) {
    const { task_id } = await must(owner, "task.create", {
      title: `Build the site: ${title}`,
      message: { content: `[[site ${title} | ${site}]][[say The website is ready.]]` },
    });
    await must(owner, "task.detail", { task_id, wait_seconds: 30 });
    await must(owner, "website.publish", { task_id, visibility: "public" });
    last = String(task_id);
  }
  const content = `[[site Timetable with the winter | ${site}]][[say The winter is added.]]`;
  await must(owner, "task.sendMessage", { task_id: last, message: { content } });
  await must(owner, "task.detail", { task_id: last, wait_seconds: 30 });
  for (const domain of ["www.harbour-tours.com", "timetable.harbour-tours.com"])
    await must(owner, "website.linkDomain", { task_id: last, domain });
  await must(owner, "website.verifyDomain", { task_id: last, domain: "www.harbour-tours.com" });
  return last;
}

/** An app that asks for everything. */
async function seedConsent(service: Service, owner: Person): Promise<string> {
  const { app } = await putApp(service, owner, {
    name: "Harbour assistant",
    description: "Answers enquiries of guests, and keeps the calendar of the boats.",
    homepageUrl: "https://assistant.example",
    redirectUris: ["https://assistant.example/callback"],
    scopes: scopeNames,
    connectorUids: ["9444d960-ab7e-450f-9cb9-b9467fb0adda", "001e6a99-5585-4b3e-b8cb-533fe24d7788"],
  });
  const query = {
    response_type: "code",
    client_id: app.clientId,
    redirect_uri: "https://assistant.example/callback",
  };
  return `/openapi/oauth?${new URLSearchParams({ ...query, code_challenge: challenge, code_challenge_method: "S256" })}`;
}

/** What the pictures lead to. */
export interface Seeded {
  readonly owner: Person;
  readonly longTask: string;
  readonly asks: string;
  readonly failed: string;
  /** The task of a website. */
  readonly website: string;
  /** A request of an app for access, as a path. */
  readonly consent: string;
}

/** A team that has worked for a month. */
export async function seed(service: Service, days: MovableDays, servers: SeedServers): Promise<Seeded> {
  days.goBack(40);
  const owner = await seedOwner(service, days.clock.now());
  const others = await seedColleagues(service, owner);
  const projects: string[] = [];
  for (const { name, instruction } of stories.projects)
    projects.push(String((await must(owner, "project.create", { name, instruction }))["project"].id));
  await must(owner, "project.update", { project_id: projects[0], permissions: rules });
  await seedUsage(days, [owner, ...others], projects);
  await seedWebhooks(owner, servers);
  const website = await seedWebsites(owner);
  await seedSettings(service, owner, servers, projects[0] ?? "");
  const longTask = await seedTasks(owner, projects[0] ?? "");
  const { data } = await must(owner, "task.list", { limit: 50 });
  const idOf = (title: string): string =>
    String(data.find((task: { title: string }) => task.title.startsWith(title))?.id);
  return {
    owner,
    longTask,
    website,
    consent: await seedConsent(service, owner),
    asks: idOf("Delete the old"),
    failed: idOf("Read the price list"),
  };
}
