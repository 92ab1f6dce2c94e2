/** A row of a table with a link: `| [Name](path) | what it is |`. */
const row = /^\| \[([^\]]+)\]\(([^)]+\.md)\) \| (.+) \|$/;

/**
 * The list of pages for language models (https://llmstxt.org), made of the tables of the first page.
 *
 * @param baseUrl where the pages are, without a slash at the end.
 */
export function llmsText(firstPage: string, baseUrl: string): string {
  const lines = firstPage.split("\n").flatMap((line) => {
    if (line.startsWith("## ")) return ["", line, ""];
    const [, name = "", path = "", text = ""] = row.exec(line) ?? [];
    return path === "" ? [] : [`- [${name}](${baseUrl}/docs/${path}): ${text}`];
  });
  const descriptions = [
    `- [OpenAPI of v2](${baseUrl}/openapi.json): every operation with its schemas`,
    `- [AsyncAPI](${baseUrl}/asyncapi.json): requests to webhooks`,
  ];
  return [
    "# Agent Task Platform",
    "",
    "> People, teams and OAuth apps create and steer long-running tasks of autonomous agents, over HTTP, Connect and gRPC.",
    ...lines,
    "",
    "## Descriptions for programs",
    "",
    ...descriptions,
    "",
  ].join("\n");
}
