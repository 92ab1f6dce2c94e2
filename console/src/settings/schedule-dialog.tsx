import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { ScheduleService } from "#proto/schedule/v1/schedule_service_pb.ts";
import { ContentPartType } from "#proto/task/v2/message_pb.ts";
import { SelectField, TextField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { words } from "../words.ts";

const text = words(
  {
    name: "Name",
    message: "What should the agent do?",
    when: "When",
    times: {
      daily: "Every day at 9:00",
      weekdays: "Monday to Friday at 9:00",
      weekly: "Every Monday at 9:00",
      hourly: "Every hour",
      own: "Own times",
    },
    cron: "Times (cron)",
    cronHint: "Minute, hour, day of the month, month, day of the week. For example 30 8 1 * *: at 8:30 on the first of each month.",
    zone: "Time zone",
  },
  {
    name: "Name",
    message: "Was soll der Agent tun?",
    when: "Wann",
    times: {
      daily: "Jeden Tag um 9:00",
      weekdays: "Montag bis Freitag um 9:00",
      weekly: "Jeden Montag um 9:00",
      hourly: "Jede Stunde",
      own: "Eigene Zeiten",
    },
    cron: "Zeiten (Cron)",
    cronHint: "Minute, Stunde, Tag des Monats, Monat, Wochentag. Zum Beispiel 30 8 1 * *: um 8:30 am Ersten jedes Monats.",
    zone: "Zeitzone",
  },
);

const crons = { daily: "0 9 * * *", weekdays: "0 9 * * 1-5", weekly: "0 9 * * 1", hourly: "0 * * * *", own: "" } as const;
type Times = keyof typeof crons;

/** The form of a new schedule. The list then shows its next time. */
export function ScheduleDialog({ title, onClose, onMade }: { title: string; onClose: () => void; onMade: () => void }) {
  const [name, setName] = useState("");
  const [content, setContent] = useState("");
  const [times, setTimes] = useState<Times>("weekdays");
  const [cron, setCron] = useState("");
  const [timeZone, setTimeZone] = useState(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
  const create = useMutation(ScheduleService.method.createSchedule, {
    onSuccess: () => {
      onMade();
      onClose();
    },
  });
  const message = { content: [{ type: ContentPartType.TEXT, text: content }] };
  return (
    <FormDialog
      submit={title}
      {...{ title, onClose, error: create.error, isPending: create.isPending }}
      onSubmit={() => create.mutate({ schedule: { name, cron: crons[times] || cron, timeZone, task: { message } } })}
    >
      <TextField label={text.name} required maxLength={255} value={name} onValue={setName} />
      <label className="field">
        <span>{text.message}</span>
        <textarea required rows={4} value={content} onChange={(event) => setContent(event.target.value)} />
      </label>
      <SelectField<Times>
        label={text.when}
        value={times}
        options={[
          ["weekdays", text.times.weekdays],
          ["daily", text.times.daily],
          ["weekly", text.times.weekly],
          ["hourly", text.times.hourly],
          ["own", text.times.own],
        ]}
        onValue={setTimes}
      />
      {times === "own" && <TextField label={text.cron} hint={text.cronHint} required value={cron} onValue={setCron} />}
      <TextField label={text.zone} required value={timeZone} onValue={setTimeZone} />
    </FormDialog>
  );
}
