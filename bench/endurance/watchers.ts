import { setTimeout as sleep } from "node:timers/promises";
import type { Stage } from "../figure.ts";
import { startWatchedPlatform, type Watched, watch } from "../figures/watch.ts";
import { openGrpcWatchers } from "../grpc-watchers.ts";
import { residentKbOf } from "../process-usage.ts";
import { type Server, startFloor } from "../servers.ts";
import { roundSignificant } from "../statistics.ts";
import type { Finding } from "./finding.ts";

const settleMs = 5_000;
const grpcWatchers = 1_000;

/** Kilobytes per watcher: the growth of an idle process divided by `count`. */
async function kbEach(
  { pid }: Server,
  count: number,
  open: (count: number) => Promise<Disposable>,
): Promise<number> {
  // Memory that the first watchers load once does not count.
  (await open(10))[Symbol.dispose]();
  await sleep(settleMs);
  const before = residentKbOf(pid);
  using _all = await open(count);
  await sleep(settleMs);
  return (residentKbOf(pid) - before) / count;
}

/** The memory of open streams of server-sent events. */
export async function sseWatchers(stage: Stage, count: number): Promise<Finding> {
  const watched = await startWatchedPlatform(stage);
  const kb = await kbEach(watched.server, count, (watchers) => watch(watched, watchers));
  return {
    figure: "endurance.sse.memory",
    ours: roundSignificant(kb),
    unit: "kB a watcher",
    watchers: count,
    goal: 60,
  };
}

/** The memory of gRPC streams, compared with those of a static Connect handler. */
export async function grpcStreams(stage: Stage): Promise<Finding> {
  const watched = await startWatchedPlatform(stage);
  const floor = stage.stack.use(await startFloor("connect", { HTTP2: "1" }));
  const streams = ({ server, taskIds, key }: Pick<Watched, "server" | "taskIds" | "key">) =>
    kbEach(server, grpcWatchers, (watchers) =>
      openGrpcWatchers(
        server.port,
        Array.from({ length: watchers }, (_, i) => taskIds[i % taskIds.length] ?? ""),
        key,
      ),
    );
  const ours = await streams(watched);
  const bare = await streams({ server: floor, taskIds: ["task"], key: "" });
  return {
    figure: "endurance.grpc.memory",
    ours: roundSignificant(ours),
    floor: roundSignificant(bare),
    ratio: roundSignificant(ours / bare),
    unit: "kB a watcher",
    watchers: grpcWatchers,
    goal: 1.25,
  };
}
