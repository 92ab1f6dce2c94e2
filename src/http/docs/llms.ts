import { readFile, stat } from "node:fs/promises";

/** A row of a table with a link: `| [Name](path) | what it is |`. */
const row = /^\| \[([^\]]+)\]\(([^)]+\.md)\) \| (.+) \|$/;

/** Sections of the first page that say how the platform is built: they are not in the text of all pages. */
const forDevelopers = /^(Internals|Specification)$/;

const intro =
  "People, teams and OAuth apps create and steer long-running tasks of autonomous agents, over HTTP, Connect and gRPC.";

/** How a program makes its first call, before any page is read. */
const howToCall = (baseUrl: string): readonly string[] => [
  "## How to call",
  "",
  `Every operation is \`POST ${baseUrl}/v2/NAME\` with a JSON body and the header \`x-service-api-key: KEY\` or \`Authorization: Bearer TOKEN\`.`,
  "",
  "```sh",
  `curl ${baseUrl}/v2/task.create -H "x-service-api-key: $ATP_KEY" -d '{"message": {"content": "What is 12 * 4?"}}'`,
  `curl ${baseUrl}/v2/task.detail -H "x-service-api-key: $ATP_KEY" -d '{"task_id": "ID"}'`,
  `curl ${baseUrl}/v2/task.listMessages -H "x-service-api-key: $ATP_KEY" -d '{"task_id": "ID"}'`,
  "```",
  "",
  "An answer has `ok: true`; an error has `ok: false` and an `error` with its code, the field and the rule.",
];

/**
 * The list of pages for language models (https://llmstxt.org), made of the tables of the first page, with the
 * size of each page.
 *
 * @param folder of the pages, with a slash at its end.
 * @param baseUrl where the server is, without a slash at the end.
 */
export async function llmsText(folder: string, baseUrl: string): Promise<string> {
  const sections = await sectionsIn(folder);
  const lists = await Promise.all(
    sections.map(async ({ title, pages }) => [
      "",
      `## ${title}`,
      "",
      ...(await Promise.all(
        pages.map(
          async ({ name, path, text }) =>
            `- [${name}](${baseUrl}/docs/${path}): ${text} (${await sizeOf(folder + path)})`,
        ),
      )),
    ]),
  );
  return [
    "# Agent Task Platform",
    "",
    `> ${intro}`,
    "",
    ...howToCall(baseUrl),
    ...lists.flat(),
    "",
    "## Descriptions for programs",
    "",
    ...descriptions.map(([path, text]) => `- [${text}](${baseUrl}${path})`),
    `- [All pages as one text](${baseUrl}/llms-full.txt)`,
    "",
  ].join("\n");
}

/**
 * All pages for users, operators and authors of agents as one text, in the order of the first page.
 * Parameters as in `llmsText`.
 */
export async function fullText(folder: string, baseUrl: string): Promise<string> {
  const sections = (await sectionsIn(folder)).filter(({ title }) => !forDevelopers.test(title));
  const paths = [...new Set(sections.flatMap(({ pages }) => pages.map(({ path }) => path)))];
  const pages = await Promise.all(
    paths.map(async (path) => `<!-- ${baseUrl}/docs/${path} -->\n\n${await readFile(folder + path, "utf8")}`),
  );
  return [`# Agent Task Platform\n\n> ${intro}\n\n${howToCall(baseUrl).join("\n")}\n`, ...pages].join("\n");
}

const descriptions = [
  ["/openapi.json", "OpenAPI of v2: every operation with its schemas"],
  ["/openapi/v1.json", "OpenAPI of v1"],
  ["/openapi/responses.json", "OpenAPI of the Responses API"],
  ["/openapi/oauth.json", "OpenAPI of tokens, keys and OAuth metadata"],
  ["/openapi/files.json", "OpenAPI of uploads and downloads"],
  ["/asyncapi.json", "AsyncAPI: requests to webhooks"],
] as const;

async function sectionsIn(folder: string) {
  const page = await readFile(`${folder}README.md`, "utf8");
  return page
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const [title = "", ...lines] = part.split("\n");
      const pages = lines.flatMap((line) => {
        const [, name = "", path = "", text = ""] = row.exec(line) ?? [];
        return path === "" ? [] : [{ name, path, text }];
      });
      return { title, pages };
    });
}

const sizeOf = async (path: string): Promise<string> => `${Math.ceil((await stat(path)).size / 1024)} kB`;
