import { useInfiniteQuery, useMutation } from "@connectrpc/connect-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { type Schedule, ScheduleStatus } from "#proto/schedule/v1/schedule_pb.ts";
import { ScheduleService } from "#proto/schedule/v1/schedule_service_pb.ts";
import { ruleFacts } from "../rules/rules-list.tsx";
import { shownText } from "../task/act-view.tsx";
import { MoreButton } from "../ui/call-dialog.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { Icon } from "../ui/icons.tsx";
import { Menu } from "../ui/menu.tsx";
import { Ago, formatInterval, formatInZone, fromSeconds } from "../ui/time.tsx";
import { titleOf, words } from "../words.ts";
import { cronWords } from "./cron-words.ts";
import { ListPage } from "./list-page.tsx";
import { ScheduleDialog, ScheduleRulesDialog } from "./schedule-dialog.tsx";

const text = words(
  {
    about: "A schedule starts a task at its times. Tasks of a schedule are yours.",
    create: "New schedule",
    run: "Run now",
    rules: "Rules",
    pause: "Pause",
    resume: "Resume",
    remove: "Delete",
    removeTitle: (name: string) => `Delete ${name}?`,
    removeText: "It no longer starts tasks. Tasks that it started stay.",
    states: { 0: "", 1: "Active", 2: "Paused", 3: "Finished" },
    reasons: {
      0: "",
      1: "",
      2: "It failed too often.",
      3: "The member is deactivated.",
      4: "The member was removed.",
      5: "The profile is delegated.",
      6: "The access of the app was revoked.",
      7: "The app was deleted.",
    },
    every: (time: string) => `every ${time}`,
    next: "next",
    last: "last",
    started: "Started",
    openTask: "Last task",
    more: "More",
    older: "Older schedules",
    empty: "You have no schedule yet.",
  },
  {
    about: "Ein Zeitplan startet zu seinen Zeiten eine Aufgabe. Aufgaben eines Zeitplans gehören Ihnen.",
    create: "Neuer Zeitplan",
    run: "Jetzt starten",
    rules: "Regeln",
    pause: "Anhalten",
    resume: "Fortsetzen",
    remove: "Löschen",
    removeTitle: (name: string) => `${name} löschen?`,
    removeText: "Er startet keine Aufgabe mehr. Die Aufgaben, die er gestartet hat, bleiben.",
    states: { 0: "", 1: "Aktiv", 2: "Angehalten", 3: "Beendet" },
    reasons: {
      0: "",
      1: "",
      2: "Er ist zu oft fehlgeschlagen.",
      3: "Das Mitglied ist deaktiviert.",
      4: "Das Mitglied wurde entfernt.",
      5: "Das Profil ist delegiert.",
      6: "Der Zugriff der App wurde widerrufen.",
      7: "Die App wurde gelöscht.",
    },
    every: (time: string) => `alle ${time}`,
    next: "nächste Zeit",
    last: "letzte Zeit",
    started: "Gestartet",
    openTask: "Letzte Aufgabe",
    more: "Mehr",
    older: "Ältere Zeitpläne",
    empty: "Sie haben noch keinen Zeitplan.",
  },
);

const looks = { 0: "rest", 1: "done", 2: "wait", 3: "rest" } as const;
const example = `{"schedule": {"name": "Report", "cron": "0 9 * * 1", "task": {"message": {"content": "Write the report."}}}}`;

/** The schedules of the person: made, paused, resumed, run and deleted. */
export default function SchedulesPage() {
  const schedules = useInfiniteQuery(
    ScheduleService.method.listSchedules,
    { limit: 50, cursor: "" },
    {
      pageParamKey: "cursor",
      getNextPageParam: (page) => page.nextCursor || undefined,
      refetchInterval: 15_000,
    },
  );
  return (
    <ListPage
      about={text.about}
      list={schedules}
      items={schedules.data?.pages.flatMap(({ data }) => data)}
      row={(schedule, onRemove) => (
        <ScheduleRow
          key={schedule.id}
          {...{ schedule, onRemove }}
          onChanged={() => void schedules.refetch()}
        />
      )}
      empty={text.empty}
      command={`curl -s ${location.origin}/v2/schedule.create -H "x-service-api-key: $KEY" -d '${example}'`}
      add={{
        label: text.create,
        dialog: ({ onClose, onDone }) => (
          <ScheduleDialog title={text.create} onClose={onClose} onMade={onDone} />
        ),
      }}
      removal={{
        method: ScheduleService.method.deleteSchedule,
        input: ({ id }) => ({ scheduleId: id }),
        title: ({ name }) => text.removeTitle(shownText(name)),
        submit: text.remove,
        text: text.removeText,
      }}
    >
      <MoreButton list={schedules} label={text.older} />
    </ListPage>
  );
}

function ScheduleRow({
  schedule,
  onChanged,
  onRemove,
}: {
  schedule: Schedule;
  onChanged: () => void;
  onRemove: () => void;
}) {
  const { id: scheduleId, status, lastTaskId } = schedule;
  const name = shownText(schedule.name);
  const pause = useMutation(ScheduleService.method.pauseSchedule, { onSuccess: onChanged });
  const resume = useMutation(ScheduleService.method.resumeSchedule, { onSuccess: onChanged });
  const run = useMutation(ScheduleService.method.runSchedule, { onSuccess: onChanged });
  const [hasRules, setHasRules] = useState(false);
  const isActive = status === ScheduleStatus.ACTIVE;
  const change = isActive
    ? { label: text.pause, icon: "stop" as const, run: () => pause.mutate({ scheduleId }) }
    : { label: text.resume, icon: "next" as const, run: () => resume.mutate({ scheduleId }) };
  return (
    <li className="wrap">
      <Icon name="clock" />
      <span className="main">
        <strong>{name}</strong>
        <Times schedule={schedule} />
        {schedule.pauseReason !== undefined && <small>{titleOf(text.reasons, schedule.pauseReason)}</small>}
        {schedule.lastError && <small className="fault">{schedule.lastError}</small>}
        {run.data && (
          <small role="status">
            {text.started}:{" "}
            <Link to="/app/$taskId" params={{ taskId: run.data.taskId }}>
              {shownText(run.data.taskTitle) || run.data.taskId}
            </Link>
          </small>
        )}
        <ErrorNote error={pause.error ?? resume.error ?? run.error} />
      </span>
      <span className="actions">
        <span className={`badge ${titleOf(looks, status)}`}>{titleOf(text.states, status)}</span>
        {lastTaskId && (
          <Link
            to="/app/$taskId"
            params={{ taskId: lastTaskId }}
            className="button"
            aria-label={`${text.openTask}: ${name}`}
          >
            {text.openTask}
          </Link>
        )}
        <button
          type="button"
          className="button"
          aria-label={`${text.run}: ${name}`}
          disabled={run.isPending}
          onClick={() => run.mutate({ scheduleId })}
        >
          {text.run}
        </button>
        <Menu
          label={`${text.more}: ${name}`}
          entries={[
            ...(status === ScheduleStatus.FINISHED ? [] : [change]),
            { label: text.rules, icon: "shield", run: () => setHasRules(true) },
            { label: text.remove, icon: "bin", danger: true, run: onRemove },
          ]}
        />
      </span>
      {hasRules && (
        <ScheduleRulesDialog schedule={schedule} onClose={() => setHasRules(false)} onSaved={onChanged} />
      )}
    </li>
  );
}

function Times({
  schedule: { cron, intervalSeconds, timeZone, at, nextRunAt, lastRunAt, task },
}: {
  schedule: Schedule;
}) {
  return (
    <small>
      {cron && (
        <>
          {cronWords(cron) ?? <code>{cron}</code>} ({timeZone})
        </>
      )}
      {intervalSeconds !== undefined && text.every(formatInterval(intervalSeconds))}
      {at && formatInZone(Date.parse(at), timeZone)}
      {nextRunAt !== undefined && ` · ${text.next} ${formatInZone(fromSeconds(nextRunAt), timeZone)}`}
      {lastRunAt !== undefined && (
        <>
          {" "}
          · {text.last} <Ago at={fromSeconds(lastRunAt)} />
        </>
      )}
      {ruleFacts(task?.permissions ?? []).map((fact) => ` · ${fact}`)}
    </small>
  );
}
