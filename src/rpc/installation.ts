import type { MessageInitShape } from "@bufbuild/protobuf";
import { checksOf, type Disk, type ReplicaState } from "../core/installation/checks.ts";
import type { InstallationStatus, ReadInstallation } from "../core/installation/status.ts";
import {
  type GetStatusResponseSchema,
  InstallationService,
} from "../gen/proto/installation/v1/installation_service_pb.ts";
import { StatusCheckState } from "../gen/proto/installation/v1/status_pb.ts";
import { implement } from "../pipeline/handlers.ts";
import { seconds } from "./wire-values.ts";

/** What the process that answers knows of itself. */
export interface InstallationParts {
  readonly readInstallation: ReadInstallation;
  readonly version: string;
  readonly engine: "sqlite" | "postgresql";
  readonly storage: "local" | "s3";
  readonly agentOf: (profile: string) => string;
  readonly readDisk: () => Promise<Disk>;
  /** The read replica; null without one. */
  readonly readReplica: () => Promise<ReplicaState | null>;
  /** The numbers of errors and warnings that were logged. */
  readonly logged: () => { error: number; warn: number };
}

/** operator.status (spec/api.md 8.82). */
export const installationHandlers = (parts: InstallationParts) =>
  implement(InstallationService, {
    getStatus: {
      async prepare() {
        const [disk, replica] = [await parts.readDisk(), await parts.readReplica()];
        return async (tx) => statusMessage(parts, await parts.readInstallation(tx), disk, replica);
      },
    },
  });

export function statusMessage(
  { version, engine, storage, agentOf, logged }: InstallationParts,
  status: InstallationStatus,
  disk: Disk,
  replica: ReplicaState | null,
): MessageInitShape<typeof GetStatusResponseSchema> {
  const { at, contents, failed } = status;
  const { error, warn } = logged();
  return {
    at: seconds(at),
    version,
    database: { engine, bytes: BigInt(status.databaseBytes) },
    ...queueMembers(status, agentOf),
    ...deliveryMembers(status),
    storage: {
      kind: storage,
      files: BigInt(contents.files),
      bytes: BigInt(contents.bytes),
      loose: BigInt(contents.loose),
      ...(disk && { diskFreeBytes: BigInt(disk.free), diskBytes: BigInt(disk.size) }),
    },
    errors: {
      tasks: BigInt(failed.tasks),
      workerRuns: BigInt(failed.workerRuns),
      deliveries: BigInt(failed.deliveries),
      exports: BigInt(failed.exports),
      loggedErrors: BigInt(error),
      loggedWarnings: BigInt(warn),
    },
    checks: checksOf(status, disk, replica).map(({ name, isOk, value }) => ({
      name,
      state: isOk ? StatusCheckState.OK : StatusCheckState.WARNING,
      ...(value === null ? {} : { value: BigInt(value) }),
    })),
  };
}

/** The seconds since a time. One that another machine's clock has written can be ahead. */
const age = (at: number, time: number): bigint => seconds(Math.max(0, at - time));

function queueMembers(
  { at, nodes, profiles, workers }: InstallationStatus,
  agentOf: InstallationParts["agentOf"],
) {
  return {
    nodes: nodes.map(({ id, startedAt, beatAt, running, address }) => ({
      id,
      uptimeSeconds: age(at, startedAt),
      running: BigInt(running),
      servesCalls: address !== null,
      ...(beatAt === null ? {} : { heartbeatSeconds: age(at, beatAt) }),
    })),
    profiles: profiles.map(({ profile, queued, oldestAt, running, failed }) => ({
      profile,
      agent: agentOf(profile),
      queued: BigInt(queued),
      running: BigInt(running),
      failed: BigInt(failed),
      ...(oldestAt === null ? {} : { oldestSeconds: age(at, oldestAt) }),
    })),
    workers: {
      credentials: BigInt(workers.credentials),
      present: BigInt(workers.present),
      runs: BigInt(workers.runs),
      data: workers.data.map(({ id, spaceId, profiles: names, seenAt, runs }) => ({
        id,
        spaceId,
        profiles: [...names],
        runs: BigInt(runs),
        ...(seenAt === null ? {} : { seenSeconds: age(at, seenAt) }),
      })),
    },
  } satisfies MessageInitShape<typeof GetStatusResponseSchema>;
}

function deliveryMembers({ at, deliveries, jobs }: InstallationStatus) {
  const { count, due, oldestDueAt, webhooks, intervals } = deliveries;
  return {
    deliveries: {
      pending: BigInt(count),
      due: BigInt(due),
      ...(oldestDueAt === null ? {} : { oldestDueSeconds: age(at, oldestDueAt) }),
      activeWebhooks: BigInt(webhooks.active),
      failingWebhooks: BigInt(webhooks.failing),
      inactiveWebhooks: BigInt(webhooks.inactive),
      intervals: intervals.map(({ start, delivered, pending, failed }) => ({
        start: seconds(start),
        delivered: BigInt(delivered),
        pending: BigInt(pending),
        failed: BigInt(failed),
      })),
    },
    jobs: jobs.map((job) => ({
      kind: job.kind,
      count: BigInt(job.count),
      ...(job.oldestDueAt === null ? {} : { oldestDueSeconds: age(at, job.oldestDueAt) }),
    })),
  } satisfies MessageInitShape<typeof GetStatusResponseSchema>;
}
