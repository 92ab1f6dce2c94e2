import type { JsonObject } from "@bufbuild/protobuf";
import { useMutation } from "@connectrpc/connect-query";
import { type KeyboardEvent, useState } from "react";
import type { AssistantMessage, ToolUsed } from "#proto/task/v2/task_event_pb.ts";
import type { StatusDetail } from "#proto/task/v2/task_pb.ts";
import { TaskService } from "#proto/task/v2/task_service_pb.ts";
import { ErrorNote } from "../ui/error-note.tsx";
import { Icon } from "../ui/icons.tsx";
import { initialValues, labelOf, type Schema, SchemaForm } from "./schema-form.tsx";
import styles from "./task.module.css";
import { text } from "./words.ts";

/** The approval that a task waits for. Its form comes from the schema of the event; the action is shown whole, never cut. */
export function ApprovalCard({ taskId, waiting, tool }: { taskId: string; waiting: StatusDetail; tool: ToolUsed | undefined }) {
  const schema = (waiting.confirmInputSchema ?? {}) as Schema;
  const [values, setValues] = useState<JsonObject>(() => initialValues(schema));
  const confirm = useMutation(TaskService.method.confirmAction);
  const decide = (decision: JsonObject): void =>
    confirm.mutate({ taskId, eventId: waiting.waitingForEventId, input: { ...keepFilled(values), ...decision } });
  const actions = schema.properties?.["action"]?.enum?.map(String);
  const press = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) decide(actions ? { action: actions[0] ?? "" } : { accept: true });
    if (event.key === "r" && !(event.target instanceof HTMLInputElement) && !actions) decide({ accept: false });
  };
  const commands = Object.values(tool?.params ?? {}).filter((value): value is string => typeof value === "string" && value !== "");
  return (
    <section className={styles.ask} aria-label={waiting.waitingDescription} onKeyDown={press}>
      <h2>
        <Icon name="hand" />
        {waiting.waitingDescription || labelOf(waiting.waitingForEventType)}
      </h2>
      {tool?.description && tool.description !== waiting.waitingDescription && <p>{tool.description}</p>}
      {commands.length > 0
        ? commands.map((command) => <pre key={command}>{command}</pre>)
        : tool?.params && <pre>{JSON.stringify(tool.params, null, 2)}</pre>}
      <SchemaForm schema={schema} values={values} onChange={setValues} />
      <ErrorNote error={confirm.error} />
      {confirm.data?.confirmed === false && (
        <p className="notice" role="status">
          {text.stillWaits}
        </p>
      )}
      <div className="actions">
        {actions ? (
          actions.map((action, index) => (
            <button
              key={action}
              type="button"
              className={`button ${index === 0 ? "primary" : ""}`}
              disabled={confirm.isPending}
              onClick={() => decide({ action })}
            >
              {labelOf(action)}
            </button>
          ))
        ) : schema.properties?.["accept"] ? (
          <>
            <button type="button" className="button primary" disabled={confirm.isPending} onClick={() => decide({ accept: true })}>
              {text.allow}
              <kbd>Ctrl ↵</kbd>
            </button>
            <button type="button" className="button" disabled={confirm.isPending} onClick={() => decide({ accept: false })}>
              {text.refuse}
            </button>
          </>
        ) : (
          <button type="button" className="button primary" disabled={confirm.isPending} onClick={() => decide({})}>
            {text.send}
          </button>
        )}
      </div>
    </section>
  );
}

/** Leaves out members that were not filled in. */
const keepFilled = (values: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== "" && value !== false && !(Array.isArray(value) && value.length === 0)),
  );

/** The question that a task waits for, with its suggested answers. Free text goes through the composer below. */
export function QuestionCard({
  question,
  onAnswer,
  isBusy,
}: {
  question: AssistantMessage;
  onAnswer: (answer: string) => void;
  isBusy: boolean;
}) {
  const { options = [], selectionMode } = question.questionExpectation ?? {};
  const [chosen, setChosen] = useState<readonly string[]>([]);
  if (options.length === 0) return null;
  const isMultiple = selectionMode === "multiple";
  const toggle = (option: string): void =>
    setChosen(chosen.includes(option) ? chosen.filter((other) => other !== option) : [...chosen, option]);
  return (
    <section className={styles.ask} aria-label={text.answer}>
      <h2>
        <Icon name="hand" />
        {text.answer}
      </h2>
      <div className="actions">
        {options.map((option) => (
          <button
            key={option}
            type="button"
            className="button"
            disabled={isBusy}
            aria-pressed={isMultiple ? chosen.includes(option) : undefined}
            onClick={() => (isMultiple ? toggle(option) : onAnswer(option))}
          >
            {isMultiple && chosen.includes(option) && <Icon name="done" />}
            {option}
          </button>
        ))}
        {isMultiple && (
          <button
            type="button"
            className="button primary"
            disabled={isBusy || chosen.length === 0}
            onClick={() => onAnswer(chosen.join(", "))}
          >
            {text.send}
          </button>
        )}
      </div>
    </section>
  );
}
