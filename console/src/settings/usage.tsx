import { useInfiniteQuery, useQuery } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { UsageType } from "#proto/usage/v2/usage_pb.ts";
import { UsageService } from "#proto/usage/v2/usage_service_pb.ts";
import { useRole } from "../api/me.ts";
import { shownText } from "../task/act-view.tsx";
import { Empty } from "../ui/empty.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { Icon } from "../ui/icons.tsx";
import { Ago, formatNumber, fromSeconds } from "../ui/time.tsx";
import { words } from "../words.ts";
import { Budgets } from "./budgets.tsx";
import { TeamUsage } from "./usage-team.tsx";

const text = words(
  {
    left: "Credits left",
    leftText: "What can be spent now: the rest of the tightest budget, or what the operator has set.",
    entries: "Entries",
    none: "No task has used credits yet.",
    more: "More",
    types: { 1: "Spent", 2: "Refunded", 3: "Granted" },
  },
  {
    left: "Verfügbare Credits",
    leftText:
      "Was jetzt ausgegeben werden kann: der Rest des engsten Budgets oder was der Betreiber festgelegt hat.",
    entries: "Einträge",
    none: "Noch keine Aufgabe hat Credits verbraucht.",
    more: "Mehr",
    types: { 1: "Ausgegeben", 2: "Erstattet", 3: "Gewährt" },
  },
);

/** What was spent, what can be spent, and the budgets. */
export default function UsagePage() {
  const { isTeam } = useRole();
  return (
    <>
      <Left />
      {isTeam && <TeamUsage />}
      <Budgets />
      <Entries />
    </>
  );
}

function Left() {
  const credits = useQuery(UsageService.method.getAvailableCredits, {});
  if (credits.error) return <ErrorNote error={credits.error} onRetry={() => void credits.refetch()} />;
  return (
    <section className="card padded stack tight" aria-label={text.left}>
      <h2>{text.left}</h2>
      <p className="figure">{credits.data?.data ? formatNumber(credits.data.data.totalCredits) : "–"}</p>
      <p className="muted">{text.leftText}</p>
    </section>
  );
}

function Entries() {
  const entries = useInfiniteQuery(
    UsageService.method.listUsage,
    { limit: 20, cursor: "" },
    { pageParamKey: "cursor", getNextPageParam: (page) => page.nextCursor || undefined },
  );
  const found = entries.data?.pages.flatMap((page) => page.data);
  return (
    <section className="stack tight">
      <h2>{text.entries}</h2>
      <ErrorNote error={entries.error} />
      {found?.length === 0 && (
        <Empty command={`curl -s ${location.origin}/v2/usage.list -H "x-service-api-key: $KEY"`}>
          {text.none}
        </Empty>
      )}
      {found && found.length > 0 && (
        <ul className="card rows">
          {found.map(({ taskId, title, credits, createdAt, type, collaborateInfos }) => (
            <li key={`${taskId} ${createdAt} ${type}`}>
              <Icon name={type === UsageType.COST ? "tasks" : "spark"} />
              <span className="main">
                {taskId === "" ? (
                  <span>{shownText(title)}</span>
                ) : (
                  <Link to="/app/$taskId" params={{ taskId }}>
                    {shownText(title)}
                  </Link>
                )}
                <small>
                  {text.types[type as keyof typeof text.types]} · <Ago at={fromSeconds(createdAt)} />
                  {collaborateInfos.length > 1 &&
                    ` · ${collaborateInfos.map(({ userName }) => userName).join(", ")}`}
                </small>
              </span>
              <strong>{formatNumber(credits)}</strong>
            </li>
          ))}
        </ul>
      )}
      {entries.hasNextPage && (
        <div className="actions">
          <button
            type="button"
            className="button"
            disabled={entries.isFetching}
            onClick={() => void entries.fetchNextPage()}
          >
            {text.more}
          </button>
        </div>
      )}
    </section>
  );
}
