// `npm run status`: the state of the installation on one screen, with or without running servers.
import { create } from "@bufbuild/protobuf";
import { checksOf, type Disk, type StatusCheck } from "../src/core/installation/checks.ts";
import type { InstallationStatus, Overdue } from "../src/core/installation/status.ts";
import { GetStatusResponseSchema } from "../src/gen/proto/installation/v1/installation_service_pb.ts";
import { compileBareWriter } from "../src/http/v2/writer.ts";
import type { InstallationParts } from "../src/rpc/installation.ts";
import { statusMessage } from "../src/rpc/installation.ts";
import { installationParts } from "../src/wiring/installation.ts";
import { processContext } from "../src/wiring/process-context.ts";
import { type OpenedInstallation, type OptionValues, runOnInstallation } from "./command.ts";

const usage = `usage: npm run --silent status [-- --watch | --json]

  --watch  shows it again every 2 seconds, until it is interrupted
  --json   prints it as operator.status answers it

Exits with 1 if a check is not ok.
`;

const options = { watch: { type: "boolean" }, json: { type: "boolean" } } as const;
type Values = OptionValues<typeof options>;

const watchMs = 2_000;

async function run({ watch = false, json = false }: Values, { ambient, ...opened }: OpenedInstallation): Promise<string> {
  const parts = installationParts(processContext(opened.config, opened, ambient), () => ({ error: 0, warn: 0 }));
  for (;;) {
    const status = await parts.readInstallation(opened.store);
    const disk = await parts.readDisk();
    const checks = checksOf(status, disk);
    process.exitCode = checks.every(({ isOk }) => isOk) ? 0 : 1;
    const text = json ? asJson(parts, status, disk) : screen(parts, status, disk, checks);
    if (!watch) return text;
    process.stdout.write(`\u001b[H\u001b[2J${text}`);
    await ambient.clock.sleep(watchMs);
  }
}

/** The servers' counts of logged lines are theirs, so they are left out. */
function asJson(parts: InstallationParts, status: InstallationStatus, disk: Disk): string {
  const answer = JSON.parse(
    compileBareWriter(GetStatusResponseSchema)(create(GetStatusResponseSchema, statusMessage(parts, status, disk))),
  );
  for (const name of ["logged_errors", "logged_warnings"]) delete answer.errors[name];
  return `${JSON.stringify(answer)}\n`;
}

function screen(
  { version, engine, storage, agentOf }: InstallationParts,
  status: InstallationStatus,
  disk: Disk,
  checks: readonly StatusCheck[],
): string {
  const { at, nodes, profiles, workers, deliveries, jobs, contents, failed } = status;
  const since = (time: number | null): string => (time === null ? "" : duration(at - time));
  const overdue = ({ count, due, oldestDueAt }: Overdue): string =>
    `${count}${due === 0 ? "" : `, ${due} due, the oldest for ${since(oldestDueAt)}`}`;
  const { active, failing, inactive } = deliveries.webhooks;
  const sections: readonly (readonly [string, readonly string[]])[] = [
    ["Platform", [`${version}, ${engine}, ${size(status.databaseBytes)}, ${new Date(at).toISOString()}`]],
    ["Checks", checks.map(checkLine)],
    [
      "Processes",
      nodes.map(
        (node) =>
          `${node.id}: up ${since(node.startedAt)}, heartbeat ${node.beatAt === null ? "none yet" : `${since(node.beatAt)} ago`}, ${node.running} runs`,
      ),
    ],
    [
      "Queue",
      profiles.map(
        (each) =>
          `${each.profile} (${agentOf(each.profile)}): ${each.queued} wait${each.oldestAt === null ? "" : `, the oldest for ${since(each.oldestAt)}`}, ${each.running} run`,
      ),
    ],
    ["Workers", [`${workers.present} of ${workers.credentials} credentials called in the last minute, ${workers.runs} runs`]],
    ["Deliveries", [`pending: ${overdue(deliveries)}`, `webhooks: ${active} active, of which ${failing} fail; ${inactive} inactive`]],
    ["Jobs", jobs.map((job) => `${job.kind}: ${overdue(job)}`)],
    [
      "Storage",
      [
        `${storage}: ${contents.files} files, ${size(contents.bytes)}${disk === null ? "" : `; disk: ${size(disk.free)} of ${size(disk.size)} free`}`,
      ],
    ],
    [
      "Last hour",
      [`failed: ${failed.tasks} tasks, ${failed.workerRuns} runs of workers, ${failed.deliveries} deliveries, ${failed.exports} exports`],
    ],
  ];
  return sections.map(([heading, lines]) => section(heading, lines)).join("");
}

const headingWidth = 12;

const section = (heading: string, lines: readonly string[]): string =>
  (lines.length === 0 ? ["none"] : lines).map((line, index) => `${(index === 0 ? heading : "").padEnd(headingWidth)}${line}\n`).join("");

/** The unit of each check's value. */
const units: Record<StatusCheck["name"], string> = {
  heartbeats: "s since the oldest heartbeat",
  queue: "s since the oldest waiting task was queued",
  workers: "tasks wait for a worker that is not there",
  deliveries: "s since the oldest delivery was due",
  jobs: "s since the oldest job was due",
  audit_log: "s since the oldest row that is not sealed",
  disk: "% of the disk is free",
};

const checkLine = ({ name, isOk, value }: StatusCheck): string =>
  `${isOk ? "ok  " : "WARN"} ${name}${value === null ? "" : `: ${value} ${units[name]}`}`;

const durations = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
] as const;

function duration(ms: number): string {
  const [unit, name] = durations.find(([each]) => ms >= each) ?? [1_000, "s"];
  return `${Math.max(0, Math.floor(ms / unit))} ${name}`;
}

const size = (bytes: number): string => (bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`);

await runOnInstallation({ usage, options, read: (values: Values) => (values.watch && values.json ? null : values) }, run);
