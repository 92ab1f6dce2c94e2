import { create } from "@bufbuild/protobuf";
import { buildText, currentBuild } from "../../src/config/version.ts";
import {
  checksOf,
  type Disk,
  type ReplicaState,
  type StatusCheck,
} from "../../src/core/installation/checks.ts";
import type { InstallationStatus, Overdue } from "../../src/core/installation/status.ts";
import { keysLapseMs } from "../../src/core/processes/key-rotation.ts";
import { GetStatusResponseSchema } from "../../src/gen/proto/installation/v1/installation_service_pb.ts";
import { compileBareWriter } from "../../src/http/v2/writer.ts";
import { installationParts, withStoredProfiles } from "../../src/modules/installation.ts";
import { processContext } from "../../src/modules/process-context.ts";
import type { InstallationParts } from "../../src/rpc/installation.ts";
import { statusMessage } from "../../src/rpc/installation.ts";
import { UsageError } from "../frame/failures.ts";
import { switchFlag } from "../frame/parameters.ts";
import {
  type InstallationFlags,
  installationCommand,
  installationFlags,
  type OnInstallation,
} from "./frame/command.ts";
import { type ProcessLoad, processesOf } from "./frame/processes.ts";

const watchMs = 2_000;

interface StatusFlags extends InstallationFlags {
  readonly watch?: boolean;
}

export const status = installationCommand({
  brief: "Show the state of the installation on one screen",
  about:
    "The exit code is 1 if a check is not ok. With --json it is written as operator.status answers it, and with all processes as `processes`.",
  examples: ["atp status", "atp status --watch", "atp status --json | jq .checks"],
  parameters: {
    flags: {
      ...installationFlags,
      watch: switchFlag("Show it again every 2 seconds, until it is interrupted"),
    },
  },
  check({ watch = false, json = false }: StatusFlags) {
    if (watch && json) throw new UsageError("give one of --watch and --json");
  },
  run: async ({ ambient, context, print, ...opened }: OnInstallation, { watch = false }: StatusFlags) => {
    const { stdout } = context.process;
    const config = await withStoredProfiles(opened.store, opened.config);
    const parts = installationParts(processContext(config, opened, ambient));
    for (;;) {
      const status = await parts.readInstallation(opened.store);
      const processes = processesOf(
        await opened.store.processKeys.list(status.at - keysLapseMs),
        status.nodes,
      );
      const disk = await parts.readDisk();
      const replica = await parts.readReplica();
      const checks = checksOf(status, disk, replica);
      context.process.exitCode = checks.every(({ isOk }) => isOk) ? 0 : 1;
      if (print.isJson)
        return print.json({
          ...asObject(parts, status, disk, replica),
          processes: processes.map((each) => processObject(each, status.at)),
        });
      const text = screen(parts, buildText(await currentBuild()), status, processes, disk, checks);
      stdout.write(watch ? `\u001b[H\u001b[2J${text}` : text);
      if (!watch) return;
      await context.sleep(watchMs);
    }
  },
});

/** The servers' counts of logged lines are theirs, so they are left out. */
function asObject(
  parts: InstallationParts,
  status: InstallationStatus,
  disk: Disk,
  replica: ReplicaState | null,
): object {
  const answer = JSON.parse(
    compileBareWriter(GetStatusResponseSchema)(
      create(GetStatusResponseSchema, statusMessage(parts, status, disk, replica)),
    ),
  );
  for (const name of ["logged_errors", "logged_warnings"]) delete answer.errors[name];
  return answer;
}

const secondsSince = (at: number, time: number | null): number | null =>
  time && Math.max(0, Math.floor((at - time) / 1_000));

/** What is unknown is null. */
const processObject = (
  { id, role, version, host, pid, startedAt, seenAt, running, memoryBytes }: ProcessLoad,
  at: number,
): object => ({
  id,
  role,
  version,
  host,
  pid,
  running,
  uptime_seconds: secondsSince(at, startedAt),
  heartbeat_seconds: secondsSince(at, seenAt),
  memory_bytes: memoryBytes,
});

/** What an older release does not write is left out. */
function processLine(
  { id, role, version, host, pid, startedAt, seenAt, running, memoryBytes }: ProcessLoad,
  at: number,
): string {
  const facts = [
    version === null ? "older release" : `${role}, ${version}, ${host}, pid ${pid}`,
    startedAt === null ? [] : `up ${duration(at - startedAt)}`,
    `heartbeat ${seenAt === null ? "none yet" : `${duration(at - seenAt)} ago`}`,
    `${running} runs`,
    memoryBytes === null ? [] : size(memoryBytes),
  ];
  return `${id}: ${facts.flat().join(", ")}`;
}

function screen(
  { engine, storage, agentOf }: InstallationParts,
  build: string,
  status: InstallationStatus,
  processes: readonly ProcessLoad[],
  disk: Disk,
  checks: readonly StatusCheck[],
): string {
  const { at, profiles, workers, deliveries, jobs, contents, failed } = status;
  const since = (time: number | null): string => (time === null ? "" : duration(at - time));
  const overdue = ({ count, due, oldestDueAt }: Overdue): string =>
    `${count}${due === 0 ? "" : `, ${due} due, the oldest for ${since(oldestDueAt)}`}`;
  const { active, failing, inactive } = deliveries.webhooks;
  const sections: readonly (readonly [string, readonly string[]])[] = [
    ["Platform", [`${build}, ${engine}, ${size(status.databaseBytes)}, ${new Date(at).toISOString()}`]],
    ["Checks", checks.map(checkLine)],
    ["Processes", processes.map((each) => processLine(each, at))],
    [
      "Queue",
      profiles.map(
        (each) =>
          `${each.profile} (${agentOf(each.profile)}): ${each.queued} wait${each.oldestAt === null ? "" : `, the oldest for ${since(each.oldestAt)}`}, ${each.running} run`,
      ),
    ],
    [
      "Workers",
      [
        `${workers.present} of ${workers.credentials} credentials called in the last minute, ${workers.runs} runs`,
      ],
    ],
    [
      "Deliveries",
      [
        `pending: ${overdue(deliveries)}`,
        `webhooks: ${active} active, of which ${failing} fail; ${inactive} inactive`,
      ],
    ],
    ["Jobs", jobs.map((job) => `${job.kind}: ${overdue(job)}`)],
    [
      "Storage",
      [
        `${storage}: ${contents.files} files, ${size(contents.bytes)}${disk === null ? "" : `; disk: ${size(disk.free)} of ${size(disk.size)} free`}`,
      ],
    ],
    [
      "Last hour",
      [
        `failed: ${failed.tasks} tasks, ${failed.workerRuns} runs of workers, ${failed.deliveries} deliveries, ${failed.exports} exports`,
      ],
    ],
  ];
  return sections.map(([heading, lines]) => section(heading, lines)).join("");
}

const headingWidth = 12;

const section = (heading: string, lines: readonly string[]): string =>
  (lines.length === 0 ? ["none"] : lines)
    .map((line, index) => `${(index === 0 ? heading : "").padEnd(headingWidth)}${line}\n`)
    .join("");

/** The unit of each check's value. */
const units: Record<StatusCheck["name"], string> = {
  heartbeats: "s since the oldest heartbeat",
  queue: "s since the oldest waiting task was queued",
  workers: "tasks wait for a worker that is not there",
  deliveries: "s since the oldest delivery was due",
  jobs: "s since the oldest job was due",
  audit_log: "s since the oldest row that is not sealed",
  disk: "% of the disk is free",
  replica: "s behind the primary",
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

const size = (bytes: number): string =>
  bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
