import { useId } from "react";
import { SelectField, TextField } from "../ui/fields.tsx";
import { useNow } from "../ui/time.tsx";
import { formatLocale, words } from "../words.ts";
import styles from "./new-task.module.css";
import { type ReadWhen, readWhen, units, type When } from "./schedule-timing.ts";

const text = words(
  {
    when: "When",
    kinds: {
      once: "Once, at a time",
      interval: "At intervals",
      weekdays: "Monday to Friday at 9:00",
      daily: "Every day at 9:00",
      weekly: "Every Monday at 9:00",
      hourly: "Every hour",
      own: "Own times (cron)",
    },
    at: "Date and time",
    atHint: "In the time zone below.",
    every: "Every",
    unit: "Unit",
    units: { minutes: "minutes", hours: "hours", days: "days" },
    cron: "Times (cron)",
    cronHint:
      "Minute, hour, day of the month, month, day of the week. For example 30 8 1 * *: at 8:30 on the first of each month.",
    zone: "Time zone",
    next: "Next times",
    zoneOf: (zone: string) => `in ${zone}`,
  },
  {
    when: "Wann",
    kinds: {
      once: "Einmal, zu einer Zeit",
      interval: "In Abständen",
      weekdays: "Montag bis Freitag um 9:00",
      daily: "Jeden Tag um 9:00",
      weekly: "Jeden Montag um 9:00",
      hourly: "Jede Stunde",
      own: "Eigene Zeiten (Cron)",
    },
    at: "Datum und Uhrzeit",
    atHint: "In der Zeitzone darunter.",
    every: "Alle",
    unit: "Einheit",
    units: { minutes: "Minuten", hours: "Stunden", days: "Tage" },
    cron: "Zeiten (Cron)",
    cronHint:
      "Minute, Stunde, Tag des Monats, Monat, Wochentag. Zum Beispiel 30 8 1 * *: um 8:30 am Ersten jedes Monats.",
    zone: "Zeitzone",
    next: "Nächste Zeiten",
    zoneOf: (zone: string) => `in ${zone}`,
  },
);

const zones = Intl.supportedValuesOf("timeZone");
const kinds = ["weekdays", "daily", "weekly", "hourly", "interval", "once", "own"] as const;

/** When a schedule is due, checked as it is typed, with its next times. */
export function ScheduleFields({ when, onWhen }: { when: When; onWhen: (when: When) => void }) {
  const now = useNow();
  const read = readWhen(when, now);
  const faultOf = (field: string): string | undefined =>
    "fault" in read && read.field === field ? read.fault : undefined;
  const change = (edit: Partial<When>): void => onWhen({ ...when, ...edit });
  return (
    <>
      <SelectField<When["kind"]>
        label={text.when}
        value={when.kind}
        options={kinds.map((kind) => [kind, text.kinds[kind]])}
        onValue={(kind) => change({ kind })}
      />
      {when.kind === "once" && (
        <TextField
          label={text.at}
          hint={text.atHint}
          type="datetime-local"
          required
          value={when.at}
          fault={when.at === "" ? undefined : faultOf("at")}
          onValue={(at) => change({ at })}
        />
      )}
      {when.kind === "interval" && (
        <div className="pair">
          <TextField
            label={text.every}
            inputMode="numeric"
            required
            value={when.every}
            fault={faultOf("every")}
            onValue={(every) => change({ every })}
          />
          <SelectField<When["unit"]>
            label={text.unit}
            value={when.unit}
            options={(Object.keys(units) as When["unit"][]).map((unit) => [unit, text.units[unit]])}
            onValue={(unit) => change({ unit })}
          />
        </div>
      )}
      {when.kind === "own" && (
        <TextField
          label={text.cron}
          hint={text.cronHint}
          required
          value={when.cron}
          fault={when.cron === "" ? undefined : faultOf("cron")}
          onValue={(cron) => change({ cron })}
        />
      )}
      {when.kind !== "interval" && (
        <ZoneField
          value={when.timeZone}
          fault={faultOf("timeZone")}
          onValue={(timeZone) => change({ timeZone })}
        />
      )}
      <NextTimes read={read} zone={when.kind === "interval" ? undefined : when.timeZone} />
    </>
  );
}

function ZoneField(field: { value: string; fault: string | undefined; onValue: (value: string) => void }) {
  const id = useId();
  return (
    <>
      <TextField label={text.zone} required list={id} {...field} />
      <datalist id={id}>
        {zones.map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </>
  );
}

/** The next times in the zone of the schedule. */
function NextTimes({ read, zone }: { read: ReadWhen; zone: string | undefined }) {
  if ("fault" in read) return null;
  const format = new Intl.DateTimeFormat(formatLocale, {
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    ...(zone === undefined ? {} : { timeZone: zone.trim() }),
  });
  return (
    <div role="status">
      <p className="legend">
        {text.next} {zone !== undefined && <small>{text.zoneOf(zone)}</small>}
      </p>
      <ol className={styles.times}>
        {read.times.map((time) => (
          <li key={time}>
            <time dateTime={new Date(time).toISOString()}>{format.format(time)}</time>
          </li>
        ))}
      </ol>
    </div>
  );
}
