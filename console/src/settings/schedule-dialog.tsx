import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import type { Schedule } from "#proto/schedule/v1/schedule_pb.ts";
import { ScheduleService } from "#proto/schedule/v1/schedule_service_pb.ts";
import { ContentPartType } from "#proto/task/v2/message_pb.ts";
import type { CreateTaskRequest } from "#proto/task/v2/task_service_pb.ts";
import { draftsOf, ruleFaultOf, rulesIn } from "../rules/draft.ts";
import { RulesField } from "../rules/rules-field.tsx";
import { shownText } from "../task/act-view.tsx";
import { ScheduleFields } from "../tasks/schedule-fields.tsx";
import { newWhen, readWhen } from "../tasks/schedule-timing.ts";
import { AreaField, TextField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { words } from "../words.ts";

const text = words(
  {
    name: "Name",
    message: "What should the agent do?",
    rulesTitle: (name: string) => `Rules of ${name}`,
    rulesHint: "They hold for the tasks that it starts from now on.",
    save: "Save",
  },
  {
    name: "Name",
    message: "Was soll der Agent tun?",
    rulesTitle: (name: string) => `Regeln von ${name}`,
    rulesHint: "Sie gelten für die Aufgaben, die er ab jetzt startet.",
    save: "Speichern",
  },
);

/** The form of a new schedule. The list then shows its next time. */
export function ScheduleDialog({
  title,
  onClose,
  onMade,
}: {
  title: string;
  onClose: () => void;
  onMade: () => void;
}) {
  const [name, setName] = useState("");
  const [content, setContent] = useState("");
  const [when, setWhen] = useState(() => newWhen("weekdays"));
  const [rules, setRules] = useState(() => draftsOf([]));
  const create = useMutation(ScheduleService.method.createSchedule, {
    onSuccess: () => {
      onMade();
      onClose();
    },
  });
  const message = { content: [{ type: ContentPartType.TEXT, text: content }] };
  const submit = (): void => {
    const read = readWhen(when, Date.now());
    if ("settings" in read) {
      const task = { message, permissions: rulesIn(rules) };
      create.mutate({ schedule: { name, ...read.settings, task } });
    }
  };
  return (
    <FormDialog
      submit={title}
      {...{
        title,
        onClose,
        error: ruleFaultOf(create.error) ? null : create.error,
        isPending: create.isPending,
      }}
      draft="schedule new"
      isReady={"settings" in readWhen(when, Date.now())}
      onSubmit={submit}
    >
      <TextField label={text.name} required maxLength={255} value={name} onValue={setName} />
      <AreaField label={text.message} required rows={4} value={content} onValue={setContent} />
      <ScheduleFields when={when} onWhen={setWhen} />
      <RulesField value={rules} onValue={setRules} error={create.error} />
    </FormDialog>
  );
}

/** The rules of the tasks of a schedule. */
export function ScheduleRulesDialog({
  schedule: { id, name, task },
  onClose,
  onSaved,
}: {
  schedule: Schedule;
  onClose: () => void;
  onSaved: () => void;
}) {
  const [rules, setRules] = useState(() => draftsOf(task?.permissions ?? []));
  const update = useMutation(ScheduleService.method.updateSchedule, {
    onSuccess: () => {
      onSaved();
      onClose();
    },
  });
  // An update replaces the task of a schedule as a whole.
  const changed = { ...(task as CreateTaskRequest), permissions: rulesIn(rules) };
  return (
    <FormDialog
      title={text.rulesTitle(shownText(name))}
      submit={text.save}
      {...{ onClose, error: ruleFaultOf(update.error) ? null : update.error, isPending: update.isPending }}
      onSubmit={() => update.mutate({ scheduleId: id, schedule: { task: changed } })}
    >
      <p className="muted">{text.rulesHint}</p>
      <RulesField value={rules} onValue={setRules} error={update.error} />
    </FormDialog>
  );
}
