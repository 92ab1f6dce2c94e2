import { Code } from "@connectrpc/connect";
import type { Reason } from "../../src/core/failure.ts";
import { connectAnswers, connectCodes, exportAnswers, v1Answers, v2Answers } from "../../src/http/failure.ts";
import { failureTexts, reasons } from "../../src/http/failure-texts.ts";
import { perMinute, perMinuteAndAddress } from "../../src/pipeline/limit.ts";
import { operationTable, type RateClass } from "../../src/pipeline/operations.ts";
import { objectLimits } from "./objects.ts";
import { titleOf } from "./operation.ts";

const made = "<!-- Made by the set-up. -->";

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");

/** How each wire answers each failure. */
export function errorsPage(): string {
  const rows = reasons.map((reason) => [
    `[\`${reason}\`](#${reason})`,
    failureTexts[reason].meaning,
    `${v2Answers[reason].status} \`${v2Answers[reason].code}\``,
    `${connectAnswers[reason].status} \`${connectAnswers[reason].code}\``,
    `${connectCodes[reason]} ${Code[connectCodes[reason]]}`,
    `${v1Answers[reason].status}, code ${v1Answers[reason].code}`,
    `${exportAnswers[reason].status} \`${exportAnswers[reason].code}\``,
  ]);
  const head = ["Failure", "Meaning", "v2", "Connect", "gRPC", "v1", "dataexport.v1"];
  return `${[
    made,
    "# Errors",
    "Every failure has one reason, and each wire its own answer for it. Programs compare codes; texts are for people and can change.",
    "The form of an error on each wire is in [conventions](conventions.md). `error.type` of v2 is the name of the failure, and `error.doc_url` leads to its page.",
    table(head, rows),
    ...reasons.flatMap(sectionOf),
  ].join("\n\n")}\n`;
}

/**
 * The section of a failure. `error.doc_url` leads to a page with the same text
 * (src/sign-in-pages/error-pages.ts).
 */
function sectionOf(reason: Reason): readonly string[] {
  const { meaning, causes, remedy } = failureTexts[reason];
  return [
    `## ${reason}`,
    meaning,
    causes.map((cause) => `- ${cause}`).join("\n"),
    `**What to do:** ${remedy}`,
  ];
}

const classTexts: Readonly<Record<RateClass, string>> = {
  start: "starts an agent or an export",
  write: "changes something",
  read: "reads",
  report: "reads usage reports",
  stream: "sends text of remote workers",
};

const bytes = (n: number): string => n.toLocaleString("en-US");

/** Rate classes, and the sizes of requests. */
export function limitsPage(): string {
  const { all } = operationTable();
  const classes = (Object.keys(classTexts) as readonly RateClass[]).map((each) => [
    // The record has every class.
    `\`${each}\``,
    `${perMinute[each]}`,
    classTexts[each],
    all
      .filter(({ access, rateClass }) => access !== null && rateClass === each)
      .map(titleOf)
      .join(", "),
  ]);
  const sizes = [...Map.groupBy(all, ({ maxRequestBytes }) => maxRequestBytes)]
    .toSorted(([a], [b]) => a - b)
    .map(([size, operations]) => [
      bytes(size),
      size === 262_144 ? "all others" : operations.map(titleOf).join(", "),
    ]);
  return `${[
    made,
    "# Limits",
    "## Rate classes",
    "Calls are counted per account and operation in windows of one minute, over all keys and tokens of the account and all processes; calls by session are counted apart from them, over all sessions of the account. `RATE_LIMITS` multiplies every number or lifts the limits; by default there are none while only this machine uses the server and no profile has a model ([configuration](configuration.md#rate_limits)). Every answer has the headers `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset`; a refused call has `Retry-After`, in whole seconds.",
    table(["Class", "Calls a minute", "The operation", "Operations"], classes),
    `Operations without a credential have no class. A network address may make ${perMinuteAndAddress} calls a minute to them; the addresses of an IPv6 /64 count as one. These calls are counted together: ${all
      .filter(({ access }) => access === null)
      .map(titleOf)
      .join(", ")}.`,
    "## Objects",
    "The next one is refused with `resource_exhausted`, or with `invalid_argument` where one request has all of them.",
    table(
      ["Objects", "Most", "Of"],
      objectLimits.map(({ of, what, max }) => [what, bytes(max), of]),
    ),
    "## Sizes of requests",
    "The largest request in bytes, after decompression; of a stream, the largest message. `BODY_LIMIT` lowers the large ones.",
    table(["Bytes", "Operations"], sizes),
    "A request has at most 100,000 members and list items in all. The name of a member has at most 1,024 bytes, and all names of a request together 2 MiB, also the keys of maps in protobuf. Beyond 1 MiB, a compressed message has at most 100 times its compressed bytes.",
    "The decoded bytes of requests above 256 KiB are limited to 256 MiB a minute for each account and each worker credential, over all processes and times `RATE_LIMITS`: further ones are refused with 429 and `Retry-After`.",
  ].join("\n\n")}\n`;
}
