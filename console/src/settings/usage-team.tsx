import { useInfiniteQuery, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { TeamMemberRole } from "#proto/team/v2/team_user_pb.ts";
import { TeamUsageSort } from "#proto/usage/v2/usage_pb.ts";
import { UsageService } from "#proto/usage/v2/usage_service_pb.ts";
import { useMe } from "../api/me.ts";
import { ErrorNote } from "../ui/error-note.tsx";
import { SelectField } from "../ui/fields.tsx";
import { formatNumber } from "../ui/time.tsx";
import { words } from "../words.ts";
import { UsageChart } from "./usage-chart.tsx";

const text = words(
  {
    title: "By day",
    team: "Credits of the whole team, by day in UTC.",
    own: "Your credits in this team, by day in UTC.",
    range: "Range",
    ranges: { 7: "7 days", 30: "30 days", 90: "90 days", 365: "A year" },
    people: "By person",
    person: "Person",
    tasks: "Tasks",
    credits: "Credits",
    none: "No member used credits in this range.",
    more: "More",
  },
  {
    title: "Nach Tagen",
    team: "Credits des ganzen Teams, nach Tagen in UTC.",
    own: "Ihre Credits in diesem Team, nach Tagen in UTC.",
    range: "Zeitraum",
    ranges: { 7: "7 Tage", 30: "30 Tage", 90: "90 Tage", 365: "Ein Jahr" },
    people: "Nach Personen",
    person: "Person",
    tasks: "Aufgaben",
    credits: "Credits",
    none: "Kein Mitglied hat in diesem Zeitraum Credits verbraucht.",
    more: "Mehr",
  },
);

const ranges = ([7, 30, 90, 365] as const).map((days) => [days, text.ranges[days]] as const);
const daySeconds = 86_400;

/** Start of the UTC day that is the first of so many days until today, in Unix seconds. */
const firstDay = (days: number): bigint =>
  BigInt((Math.floor(Date.now() / 1000 / daySeconds) - days + 1) * daySeconds);

/** What the team spent by day and by person; members without an administrative role see their own. */
export function TeamUsage() {
  const [days, setDays] = useState<(typeof ranges)[number][0]>(30);
  const role = useMe().data?.role;
  const sees =
    role === TeamMemberRole.OWNER || role === TeamMemberRole.SUPER_ADMIN || role === TeamMemberRole.ADMIN;
  const startDate = firstDay(days);
  const statistic = useQuery(
    UsageService.method.getTeamUsageStatistic,
    { startDate },
    { placeholderData: (kept) => kept },
  );
  return (
    <>
      <section className="card padded stack tight">
        <div className="actions">
          <h2>{text.title}</h2>
          <span className="spacer" />
          <SelectField label={text.range} isLabelHidden value={days} options={ranges} onValue={setDays} />
        </div>
        <p className="muted">{sees ? text.team : text.own}</p>
        <ErrorNote error={statistic.error} onRetry={() => void statistic.refetch()} />
        {statistic.data && <UsageChart days={statistic.data.data} />}
      </section>
      {sees && <PeopleUsage startDate={startDate} />}
    </>
  );
}

function PeopleUsage({ startDate }: { startDate: bigint }) {
  const log = useInfiniteQuery(
    UsageService.method.listTeamUsageLog,
    { limit: 20, cursor: "", startDate, sortBy: TeamUsageSort.CREDITS },
    {
      pageParamKey: "cursor",
      getNextPageParam: (page) => page.nextCursor || undefined,
      placeholderData: (kept) => kept,
    },
  );
  const me = useMe().data;
  const rows = log.data?.pages.flatMap((page) => page.data);
  return (
    <section className="card padded stack tight">
      <h2>{text.people}</h2>
      <ErrorNote error={log.error} />
      {rows?.length === 0 && <p className="muted">{text.none}</p>}
      {rows && rows.length > 0 && (
        <div className="scroll-x">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">{text.person}</th>
                <th scope="col" className="number">
                  {text.tasks}
                </th>
                <th scope="col" className="number">
                  {text.credits}
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.userId}>
                  <td>
                    {(row.userName !== row.email && row.userName) ||
                      (row.userId === me?.userId && me.name) ||
                      row.email}
                  </td>
                  <td className="number">{formatNumber(row.taskCount)}</td>
                  <td className="number">{formatNumber(row.credits)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {log.hasNextPage && (
        <div className="actions">
          <button
            type="button"
            className="button"
            disabled={log.isFetching}
            onClick={() => void log.fetchNextPage()}
          >
            {text.more}
          </button>
        </div>
      )}
    </section>
  );
}
