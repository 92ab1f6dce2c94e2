import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { ConnectorService } from "../../src/gen/proto/settings/v1/connector_service_pb.ts";
import { openMcpServer } from "../support/mcp-server.ts";
import { putApp } from "../support/oauth.ts";
import { createWorker, type RunOf } from "../workers/worker-rig.ts";
import { consoleStage, describeWithChromium } from "./console-stage.ts";

const code = "window.taken=1";
const tags = [
  `<script>${code}</script>`,
  `<img src=x onerror="${code}">`,
  `<svg onload="${code}">`,
  `<iframe srcdoc="<script>parent.taken=1</script>"></iframe>`,
  `<a href="javascript:${code}">press</a>`,
  `<body onload=${code}>`,
  `<math><mtext><img src=x onerror=${code}></mtext></math>`,
  `<style>*{background:url(http://127.0.0.1:1/x)}</style>`,
  `<form action="javascript:${code}"><button>press</button></form>`,
  `<details open ontoggle=${code}>x</details>`,
];
/** Ways to bring a tag into HTML, or an address into Markdown. */
const wrappers: readonly ((tag: string) => string)[] = [
  (tag) => tag,
  (tag) => `">${tag}`,
  (tag) => `'>${tag}`,
  (tag) => `</textarea></title>${tag}`,
  (tag) => `&lt;/p&gt;${tag}`,
  (tag) => `\`\`\`html\n${tag}\n\`\`\``,
  (tag) => `[press](javascript:${code}) ${tag}`,
  (tag) => `![shot](data:text/html,${encodeURIComponent(tag)})`,
  (tag) => `| a |\n| - |\n| ${tag.replaceAll("|", "")} |`,
  (tag) => `<javascript:${code}> ${tag.toUpperCase()}`,
];
const payloads = tags.flatMap((tag) => wrappers.map((wrap) => wrap(tag)));

describeWithChromium("hostile texts in the console", (database) => {
  let page: Page;
  const stage = consoleStage(
    database,
    (visit) => {
      ({ page } = visit);
    },
    { AGENT_PROFILES: "manus-1.6-lite=remote", CONNECTOR_ALLOW: "loopback" },
  );

  /** A task whose agent has used tools, with hostile texts in each field that people see. */
  async function useTools(): Promise<string> {
    const worker = await createWorker(stage.service, stage.owner);
    await stage.owner.v2("task.create", {
      message: { content: "Use the tools" },
      agent_profile: "manus-1.6-lite",
    });
    const run: RunOf = await worker.pollUntilRun();
    const uses = tags.map((tag, number) => ({
      key: `${number}`,
      toolUsed: {
        ...{
          tool: "read_file",
          status: "success",
          brief: tag,
          description: tag,
          message: { action: tag, param: tag },
        },
        ...{ params: { [tag]: tag }, result: { [tag]: [tag] } },
      },
    }));
    expect((await worker.append(run, uses)).status).toBe(200);
    await worker.finish(run, { finish: { content: "Used." } });
    return run.taskId;
  }

  /** Opens everything that is folded. */
  const unfold = (): Promise<void> =>
    page.evaluate("document.querySelectorAll('main details').forEach((part) => { part.open = true; })");

  const expectInert = async (path: string): Promise<void> => {
    await page.getByText("window.taken=1").filter({ visible: true }).first().waitFor();
    expect(await page.evaluate("typeof taken"), path).toBe("undefined");
    expect(
      await page
        .locator(":is(main, dialog) :is(script, iframe, svg[onload], img, form[action], style)")
        .count(),
      path,
    ).toBe(0);
    const addresses = await page
      .locator("main a")
      .evaluateAll((links) => links.map((link) => link.getAttribute("href") ?? ""));
    expect(
      addresses.filter((address) => /^\s*(javascript|data):/i.test(address)),
      path,
    ).toEqual([]);
  };

  test("names, arguments and results of tools stay text where they are used, and where a connector lists them", async () => {
    await using mcp = await openMcpServer();
    mcp.more.push(...tags.slice(0, 3));
    const server = { case: "http", value: { url: mcp.url } } as const;
    await (await stage.owner.session())
      .client(ConnectorService)
      .installConnector({ name: tags[0] ?? "", description: tags[1] ?? "", server });
    const path = `/app/${await useTools()}`;
    await page.goto(path);
    await page.getByRole("button", { name: /steps$/ }).click();
    await unfold();
    await expectInert(path);
    expect(await page.locator("details pre").filter({ hasText: "window.taken=1" }).count()).toBeGreaterThan(
      10,
    );
    await page.goto("/settings/connectors");
    await page.getByText(/^\d+ tools$/).click();
    await expectInert("/settings/connectors");
  });

  test("100 payloads in messages, titles and names stay text on every page that shows them", async () => {
    expect(payloads).toHaveLength(100);
    const all = payloads.join("\n\n");
    const { body } = await stage.owner.v2("task.create", {
      message: { content: all },
      title: tags[0],
      share_visibility: "public",
    });
    for (const title of tags)
      await stage.owner.v2("task.create", { message: { content: `[[say ${title}]]` }, title });
    for (const name of tags.slice(0, 3)) {
      await stage.owner.v2("project.create", { name, instruction: name });
      await stage.owner.v2("file.upload", { filename: name.replaceAll("/", "_") });
      await putApp(stage.service, stage.owner, { name });
    }
    await stage.owner.v2("task.detail", { task_id: body["task_id"], wait_seconds: 30 });
    for (const path of [
      "/",
      `/app/${body["task_id"]}`,
      `/share/${body["task_id"]}`,
      "/projects",
      "/settings/apps",
      "/settings/files",
    ]) {
      await page.goto(path);
      await expectInert(path);
    }
  });
});
