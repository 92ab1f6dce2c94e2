import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { ScheduleService } from "#proto/schedule/v1/schedule_service_pb.ts";
import { ContentPartType } from "#proto/task/v2/message_pb.ts";
import { ScheduleFields } from "../tasks/schedule-fields.tsx";
import { newWhen, readWhen } from "../tasks/schedule-timing.ts";
import { AreaField, TextField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { words } from "../words.ts";

const text = words(
  { name: "Name", message: "What should the agent do?" },
  { name: "Name", message: "Was soll der Agent tun?" },
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
  const create = useMutation(ScheduleService.method.createSchedule, {
    onSuccess: () => {
      onMade();
      onClose();
    },
  });
  const message = { content: [{ type: ContentPartType.TEXT, text: content }] };
  const submit = (): void => {
    const read = readWhen(when, Date.now());
    if ("settings" in read) create.mutate({ schedule: { name, ...read.settings, task: { message } } });
  };
  return (
    <FormDialog
      submit={title}
      {...{ title, onClose, error: create.error, isPending: create.isPending }}
      draft="schedule new"
      isReady={"settings" in readWhen(when, Date.now())}
      onSubmit={submit}
    >
      <TextField label={text.name} required maxLength={255} value={name} onValue={setName} />
      <AreaField label={text.message} required rows={4} value={content} onValue={setContent} />
      <ScheduleFields when={when} onWhen={setWhen} />
    </FormDialog>
  );
}
