import { useInfiniteQuery } from "@connectrpc/connect-query";
import { useEffect, useMemo } from "react";
import type { TaskEvent } from "#proto/task/v2/task_event_pb.ts";
import type { TaskCompaction, TaskCost, TaskRun } from "#proto/task/v2/task_inspection_pb.ts";
import { TaskStatus } from "#proto/task/v2/task_pb.ts";
import { TaskService } from "#proto/task/v2/task_service_pb.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { scrollable } from "../../ui/static-parts.ts";
import { formatClock, formatDuration, formatExact, formatNumber } from "../../ui/time.tsx";
import { titleOf } from "../../words.ts";
import styles from "./inspector.module.css";
import { type Step, type StepKind, sumOf, type Turn, turnsOf } from "./turns.ts";
import { text } from "./words.ts";

/** Turns, claims, calls of models with their tokens, and the time of each step. */
export function Inspector({ taskId, events }: { taskId: string; events: readonly TaskEvent[] }) {
  const pages = useInfiniteQuery(
    TaskService.method.inspectTask,
    { taskId, limit: 500, cursor: "" },
    { pageParamKey: "cursor", getNextPageParam: (page) => page.nextCursor || undefined },
  );
  const { hasNextPage, isFetching, fetchNextPage, refetch } = pages;
  useEffect(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
  // Costs and claims come with events.
  const lastSeq = events.at(-1)?.seq;
  useEffect(() => {
    if (lastSeq !== undefined) void refetch();
  }, [lastSeq, refetch]);
  const costs = useMemo(() => pages.data?.pages.flatMap((page) => page.costs) ?? [], [pages.data]);
  const turns = useMemo(() => turnsOf(events, costs), [events, costs]);
  const { run, compactions = [] } = pages.data?.pages[0] ?? {};
  return (
    <>
      <ErrorNote error={pages.error} onRetry={() => void refetch()} />
      {run && <Facts run={run} costs={costs} compactions={compactions} />}
      <Legend />
      {(events[0]?.seq ?? 1) > 1 && <p className="muted">{text.cut}</p>}
      <ol className={styles.turns} {...scrollable}>
        {turns.toReversed().map((turn) => (
          <TurnView key={turn.number} turn={turn} />
        ))}
      </ol>
    </>
  );
}

function Facts({
  run,
  costs,
  compactions,
}: {
  run: TaskRun;
  costs: readonly TaskCost[];
  compactions: readonly TaskCompaction[];
}) {
  const { input, cached, output, credits } = sumOf(costs);
  return (
    <dl className={styles.facts}>
      <div>
        <dt>{text.runner}</dt>
        <dd>
          {run.runner === undefined ? text.idle : titleOf(text.runners, run.runner)}
          {run.runnerId !== undefined && (
            <>
              {" "}
              <code>{run.runnerId}</code>
            </>
          )}
        </dd>
      </div>
      <div>
        <dt>{text.claims}</dt>
        <dd>
          {text.claimsOf(run.claims, formatNumber(run.fence))}
          {run.claimedAt !== undefined && <small> · {formatExact(Number(run.claimedAt))}</small>}
        </dd>
      </div>
      <div>
        <dt>{text.tokens}</dt>
        <dd>
          {text.inOut(formatNumber(input), formatNumber(output))}
          {cached > 0n && <small> · {text.cached(formatNumber(cached))}</small>}
        </dd>
      </div>
      <div>
        <dt>{text.cost}</dt>
        <dd>{text.credits(formatNumber(credits))}</dd>
      </div>
      {compactions.length > 0 && (
        <div>
          <dt>{text.compactions}</dt>
          {compactions.map(({ at, kind, tokensBefore, tokensAfter }) => (
            <dd key={`${at} ${tokensBefore}`}>
              {text.compaction(kind, formatNumber(tokensBefore), formatNumber(tokensAfter))}
              <small> · {formatExact(Number(at))}</small>
            </dd>
          ))}
        </div>
      )}
    </dl>
  );
}

/** Steps often take less than a second. */
const durationOf = (ms: number): string => (ms < 1000 ? `${formatNumber(ms)} ms` : formatDuration(ms));

const kinds: readonly StepKind[] = ["queue", "thought", "plan", "tool", "failed", "message", "wait"];

const Legend = () => (
  <small className="chart-legend">
    {kinds.map((kind) => (
      <span key={kind}>
        <i className={styles[kind]} aria-hidden="true" />
        {text.kinds[kind]}
      </span>
    ))}
    <span>
      <i className={styles.call} aria-hidden="true" />
      {text.call}
    </span>
  </small>
);

function TurnView({ turn }: { turn: Turn }) {
  const { number, at, endedAt, status, steps, costs } = turn;
  const end = endedAt ?? steps.at(-1)?.at ?? at;
  const { input, output, credits } = sumOf(costs);
  return (
    <li>
      <p className={styles.head}>
        <strong>{text.turn(number)}</strong>
        <small>
          {formatClock(at)} · {durationOf(end - at)} · {titleOf(text.states, status)}
          {(input > 0n || output > 0n) && ` · ${text.inOut(formatNumber(input), formatNumber(output))}`}
          {credits !== 0n && ` · ${text.credits(formatNumber(credits))}`}
        </small>
      </p>
      <Track turn={turn} end={end} />
      {steps.length > 0 && (
        <details open={status === TaskStatus.RUNNING}>
          <summary>{text.steps(steps.length)}</summary>
          <Steps turn={turn} />
        </details>
      )}
    </li>
  );
}

/** The steps of a turn as parts of its time, with a mark for each cost. */
function Track({ turn: { at, steps, costs }, end }: { turn: Turn; end: number }) {
  const length = Math.max(1, end - at);
  const part = (ms: number): string => `${Math.min(100, Math.max(0, (ms / length) * 100))}%`;
  return (
    <div className={styles.track} aria-hidden="true">
      {steps.map((step) => (
        <span
          key={step.key}
          className={styles[step.kind]}
          style={{ left: part(step.from - at), width: part(step.at - step.from) }}
          title={`${titleOfStep(step)}: ${durationOf(step.at - step.from)}`}
        />
      ))}
      {costs.map((cost) => (
        <i
          key={`${cost.at} ${cost.inputTokens} ${cost.credits}`}
          className={styles.call}
          style={{ left: part(Number(cost.at) - at) }}
          title={text.inOut(formatNumber(cost.inputTokens), formatNumber(cost.outputTokens))}
        />
      ))}
    </div>
  );
}

const titleOfStep = ({ kind, name }: Step): string => (name === "" ? text.kinds[kind] : name);

function Steps({ turn: { at, steps, costs } }: { turn: Turn }) {
  const rows = [
    ...steps.map((step) => ({
      key: step.key,
      at: step.at,
      title: titleOfStep(step),
      duration: step.at - step.from,
      cost: undefined,
    })),
    ...costs.map((cost, index) => ({
      key: `cost ${index}`,
      at: Number(cost.at),
      title: text.call,
      duration: undefined,
      cost,
    })),
  ].toSorted((a, b) => a.at - b.at);
  return (
    <div className="scroll-x" {...scrollable}>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{text.after}</th>
            <th scope="col">{text.step}</th>
            <th scope="col" className="number">
              {text.duration}
            </th>
            <th scope="col" className="number">
              {text.tokens}
            </th>
            <th scope="col" className="number">
              {text.cost}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, at: time, title, duration, cost }) => (
            <tr key={key}>
              <td>{durationOf(time - at)}</td>
              <td>{title}</td>
              <td className="number">{duration === undefined ? "" : durationOf(duration)}</td>
              <td className="number">
                {cost ? `${formatNumber(cost.inputTokens)} / ${formatNumber(cost.outputTokens)}` : ""}
              </td>
              <td className="number">{cost ? formatNumber(cost.credits) : ""}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
