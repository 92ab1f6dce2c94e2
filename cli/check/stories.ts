import type { Kit, KitOptions } from "./kit.ts";

type StoryOptions = Pick<KitOptions, "sleep" | "webhookUrl">;

/** The names of what the kit makes, so that a person recognises what a failed run left. */
const title = "Contract check";
/** How long the kit waits for a task, and between two looks at it. */
const patienceMs = 120_000;
const lookMs = 1_000;

/**
 * Calls the public operations of every interface in an order that needs no prepared data, and deletes what it
 * made where that is possible.
 */
export async function runStories(kit: Kit, options: StoryOptions): Promise<void> {
  await tasks(kit, options);
  await approvals(kit, options);
  await filesAndProjects(kit);
  await webhooks(kit, options);
  await settings(kit);
  await websites(kit, options);
  await v1(kit, options);
  await responses(kit);
  await rules(kit);
}

/** The items of a list; none when the server answered something else. */
// biome-ignore lint/suspicious/noExplicitAny: answers of any server are read member by member
const itemsOf = (list: unknown): readonly any[] => (Array.isArray(list) ? list : []);

/** Waits until a task no longer runs; returns its status, undefined when that is not known. */
async function settle({ call }: Kit, { sleep }: StoryOptions, task_id: unknown): Promise<string | undefined> {
  for (let waited = 0; waited < patienceMs; waited += lookMs) {
    const answer = await call("GET /v2/task.detail", { query: { task_id } });
    if (answer === null) return undefined;
    if (answer.body.task?.status !== "running") return answer.body.task?.status;
    await sleep(lookMs);
  }
  return undefined;
}

async function tasks(kit: Kit, options: StoryOptions): Promise<void> {
  const { call, expect } = kit;
  const created = await call("POST /v2/task.create", {
    body: { message: { content: "What is 12 * 4?" }, title },
  });
  const task_id = created?.body.task_id;
  await settle(kit, options, task_id);
  const first = await call("GET /v2/task.listMessages", { query: { task_id, order: "asc", limit: 1 } });
  expect(
    "task.listMessages",
    first?.body.messages?.length === 1,
    "a page of one event has another number of events",
  );
  expect(
    "task.listMessages",
    first?.body.messages?.[0]?.type === "user_message",
    "the first event is not the user's message",
  );
  await call("POST /v2/task.listMessages", {
    body: { task_id, order: "asc", limit: 1, cursor: first?.body.next_cursor },
  });
  await call("POST /v2/task.sendMessage", { body: { task_id, message: { content: "And 12 * 5?" } } });
  await call("POST /v2/task.stop", { body: { task_id } });
  await call("POST /v2/task.update", { body: { task_id, title: `${title}, changed` } });
  const list = await call("GET /v2/task.list", { query: { limit: 5 } });
  const isListed = itemsOf(list?.body.data).some((task) => task?.id === task_id);
  expect("task.list", isListed, "a task that was just made is not in the first page");
  await call("POST /v2/task.delete", { body: { task_id } });
  await call("GET /v2/task.detail", {
    query: { task_id },
    expected: task_id === undefined ? [200] : [404],
    name: "a deleted task is not found",
  });
}

/** Only a server with the offline agent asks for an approval on demand. */
async function approvals(kit: Kit, options: StoryOptions): Promise<void> {
  const body = { message: { content: "[[confirm terminalExecute]]" }, title, interactive_mode: true };
  const created = await kit.call("POST /v2/task.create", { body });
  const task_id = created?.body.task_id;
  const status = await settle(kit, options, task_id);
  const newest = await kit.call("GET /v2/task.listMessages", { query: { task_id, limit: 1 } });
  const event_id = newest?.body.messages?.[0]?.status_update?.status_detail?.waiting_for_event_id;
  if (status !== "waiting" || event_id === undefined)
    kit.skip("POST /v2/task.confirmAction", "no task waited for an approval");
  else
    await kit.call("POST /v2/task.confirmAction", { body: { task_id, event_id, input: { accept: true } } });
  await kit.call("POST /v2/task.delete", { body: { task_id }, expected: [200, 412] });
}

async function filesAndProjects({ call }: Kit): Promise<void> {
  const uploaded = await call("POST /v2/file.upload", { body: { filename: "contract-check.txt" } });
  const file_id = uploaded?.body.file?.id;
  await call("GET /v2/file.detail", { query: { file_id } });
  await call("POST /v2/file.delete", { body: { file_id } });
  const created = await call("POST /v2/project.create", { body: { name: title } });
  await call("GET /v2/project.list");
  // An addition of this project: elsewhere the project remains.
  await call("POST /v2/project.delete", {
    body: { project_id: created?.body.project?.id },
    expected: [200, 404, 405, 501],
  });
}

async function webhooks({ call, skip }: Kit, { webhookUrl }: StoryOptions): Promise<void> {
  if (webhookUrl === undefined)
    for (const name of ["create", "delete"] as const) skip(`POST /v2/webhook.${name}`, "needs --webhook");
  else {
    const created = await call("POST /v2/webhook.create", { body: { url: webhookUrl } });
    await call("POST /v2/webhook.delete", { body: { webhook_id: created?.body.webhook?.id } });
  }
  await call("GET /v2/webhook.list");
  await call("GET /v2/webhook.publicKey");
}

/** Reads; `agent.update` sends the agent's own nickname. */
async function settings({ call }: Kit): Promise<void> {
  for (const name of [
    "skill.list",
    "connector.list",
    "browser.onlineList",
    "usage.list",
    "usage.availableCredits",
    "user.me",
  ]) {
    await call(`GET /v2/${name}`);
  }
  // A person without rights in a team is refused.
  const day = 24 * 60 * 60;
  const end_date = Math.floor(Date.now() / 1000);
  const query = { start_date: end_date - 7 * day, end_date };
  for (const name of ["usage.teamStatistic", "usage.teamLog"])
    await call(`GET /v2/${name}`, { query, expected: [200, 403] });
  const agents = await call("GET /v2/agent.list");
  const [agent] = itemsOf(agents?.body.data);
  await call("GET /v2/agent.detail", { query: { agent_id: agent?.id } });
  await call("POST /v2/agent.update", { body: { agent_id: agent?.id, nickname: agent?.nickname } });
}

/** Only a server with the offline agent makes a website on demand. */
async function websites(kit: Kit, options: StoryOptions): Promise<void> {
  const created = await kit.call("POST /v2/task.create", {
    body: { message: { content: "[[site Tea | <h1>Tea</h1>]]" }, title },
  });
  const task_id = created?.body.task_id;
  await settle(kit, options, task_id);
  const status = await kit.call("GET /v2/website.status", { query: { task_id }, expected: [200, 404] });
  const checkpoints = await kit.call("GET /v2/website.listCheckpoints", {
    query: { task_id },
    expected: [200, 404],
  });
  if (status?.status !== 200 || checkpoints?.status !== 200) {
    const operations = [
      "GET /v2/website.status",
      "GET /v2/website.listCheckpoints",
      "POST /v2/website.publish",
      "POST /v2/website.update",
    ] as const;
    for (const operation of operations) kit.skip(operation, "no task made a website");
  } else {
    await kit.call("POST /v2/website.publish", { body: { task_id } });
    await kit.call("POST /v2/website.update", { body: { task_id, visibility: "private" } });
  }
  await kit.call("POST /v2/task.delete", { body: { task_id }, expected: [200, 412] });
}

async function v1({ call, skip }: Kit, { webhookUrl }: StoryOptions): Promise<void> {
  await call("POST /v1/projects", { body: { name: title } });
  await call("GET /v1/projects");
  const created = await call("POST /v1/tasks", { body: { prompt: "What is 12 * 4?" } });
  const task_id = created?.body.task_id;
  await call("GET /v1/tasks");
  await call("GET /v1/tasks/{task_id}", { query: { task_id } });
  await call("PUT /v1/tasks/{task_id}", { query: { task_id }, body: { title } });
  await call("DELETE /v1/tasks/{task_id}", { query: { task_id } });
  const file = await call("POST /v1/files", { body: { filename: "contract-check.txt" } });
  await call("GET /v1/files");
  await call("GET /v1/files/{file_id}", { query: { file_id: file?.body.id } });
  await call("DELETE /v1/files/{file_id}", { query: { file_id: file?.body.id } });
  await call("GET /v1/webhook/public_key");
  if (webhookUrl === undefined) {
    skip("POST /v1/webhooks", "needs --webhook");
    return skip("DELETE /v1/webhooks/{webhook_id}", "needs --webhook");
  }
  const webhook = await call("POST /v1/webhooks", { body: { webhook: { url: webhookUrl } } });
  await call("DELETE /v1/webhooks/{webhook_id}", {
    query: { webhook_id: webhook?.body.webhook_id },
    expected: [204],
  });
}

async function responses({ call }: Kit): Promise<void> {
  const created = await call("POST /responses", { body: { input: "What is 12 * 4?" } });
  const response_id = created?.body.id;
  await call("GET /responses/{response_id}", { query: { response_id } });
  await call("DELETE /responses/{response_id}", { query: { response_id } });
}

/** What holds for every operation of v2 (spec/api.md 1 to 6). */
async function rules({ call, expect }: Kit): Promise<void> {
  const noKey = "a request without a credential is refused with 401";
  await call("GET /v2/task.list", { headers: { "x-service-api-key": "" }, expected: [401], name: noKey });
  const unknown = "an unknown task is not found";
  const missing = await call("GET /v2/task.detail", {
    query: { task_id: "AAAAAAAAAAAAAAAAAAAAAA" },
    expected: [404],
    name: unknown,
  });
  expect(unknown, missing?.body.error?.code === "not_found", "the code is not `not_found`");
  const invalid = "an invalid value is refused with the code `invalid_argument`";
  const refused = await call("GET /v2/task.list", {
    query: { limit: "many" },
    expected: [400],
    name: invalid,
  });
  expect(invalid, refused?.body.error?.code === "invalid_argument", "the code is another one");
  const ignored = "a member that the server does not know is ignored";
  await call("POST /v2/task.list", { body: { no_such_member: 1, limit: 1 }, name: ignored });
  const pages = "a page begins where the page before it ended";
  const first = await call("GET /v2/task.list", { query: { limit: 1 }, name: pages });
  if (first?.body.has_more !== true) return;
  const second = await call("GET /v2/task.list", {
    query: { limit: 1, cursor: first.body.next_cursor },
    name: pages,
  });
  expect(
    pages,
    second?.body.data?.[0]?.id !== first.body.data?.[0]?.id,
    "the second page has the task of the first one",
  );
}
