import type { JsonObject } from "@bufbuild/protobuf";
import { useMutation } from "@connectrpc/connect-query";
import { type KeyboardEvent, useMemo, useRef, useState } from "react";
import type { ToolUsed } from "#proto/task/v2/task_event_pb.ts";
import type { StatusDetail } from "#proto/task/v2/task_pb.ts";
import { TaskService } from "#proto/task/v2/task_service_pb.ts";
import { isKey, keys, useKeyboardFocus, useKeys } from "../shell/keys.ts";
import { ErrorNote } from "../ui/error-note.tsx";
import { Icon } from "../ui/icons.tsx";
import { catalogued } from "../words.ts";
import styles from "./act.module.css";
import { ActFields } from "./act-fields.tsx";
import { ActView, rowsWithin, shownText } from "./act-view.tsx";
import { inWords, text } from "./act-words.ts";
import { type Choice, choicesOf, initialValues, keepFilled, type Schema } from "./decision.ts";
import { faultsOf } from "./suggested.ts";
import taskStyles from "./task.module.css";
import { text as taskText } from "./words.ts";

interface ApprovalProps {
  readonly taskId: string;
  readonly waiting: StatusDetail;
  /** The use of a tool that waits; undefined while it is not known: then nothing can be allowed. */
  readonly tool: ToolUsed | undefined;
  /** Leads to the field of a message. */
  readonly onInstead: () => void;
}

/**
 * The approval that a task waits for: every row of the act, then the members of the decision, then the
 * buttons that decide.
 */
export function ApprovalCard({ taskId, waiting, tool, onInstead }: ApprovalProps) {
  const { waitingDescription, waitingForEventType } = waiting;
  const rows = useMemo(() => (tool ? rowsWithin(tool.params) : undefined), [tool]);
  const card = useRef<HTMLElement>(null);
  useKeyboardFocus(card);
  const title = shownText(catalogued(waitingDescription) || inWords(waitingForEventType));
  const longer =
    tool?.description && tool.description !== waitingDescription ? shownText(tool.description) : "";
  return (
    <section ref={card} tabIndex={-1} data-act className={taskStyles.ask} aria-label={title}>
      <h2>
        <Icon name="hand" />
        <span className={styles.lead}>{title}</span>
      </h2>
      {longer && <p className={styles.lead}>{longer}</p>}
      {tool && <small>{shownText(tool.tool)}</small>}
      {rows && <ActView rows={rows} />}
      {rows ? (
        <Decision {...{ taskId, waiting, onInstead, card }} params={tool?.params} />
      ) : (
        <>
          <p className="notice">{rows === null ? text.tooLarge : text.notHere}</p>
          <div className="actions">
            <Instead onInstead={onInstead} />
          </div>
        </>
      )}
    </section>
  );
}

const Instead = ({ onInstead }: Pick<ApprovalProps, "onInstead">) => (
  <button type="button" className="button" onClick={onInstead}>
    {text.instead}
  </button>
);

interface DecisionProps extends Omit<ApprovalProps, "tool"> {
  readonly params: JsonObject | undefined;
  readonly card: React.RefObject<HTMLElement | null>;
}

/** The members of a decision, and the buttons. */
function Decision({ taskId, waiting, params, onInstead, card }: DecisionProps) {
  const schema = (waiting.confirmInputSchema ?? {}) as Schema;
  const [values, setValues] = useState<JsonObject>(() => initialValues(schema));
  const [showsFaults, setShowsFaults] = useState(false);
  const [stillWaits, setStillWaits] = useState(false);
  const buttons = useRef<HTMLDivElement>(null);
  const confirm = useMutation(TaskService.method.confirmAction, { gcTime: 0 });
  const { allows, refusal } = choicesOf(waiting.waitingForEventType, schema, values);
  const faults = faultsOf(schema, params, values);

  const decide = async ({ input, takesForm }: Choice): Promise<void> => {
    if (confirm.isPending) return;
    if (takesForm && Object.keys(faults).length > 0) {
      setShowsFaults(true);
      requestAnimationFrame(() => card.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
      return;
    }
    const filled = takesForm ? keepFilled(values) : {};
    const request = { taskId, eventId: waiting.waitingForEventId, input: { ...filled, ...input } };
    const answer = await confirm.mutateAsync(request).catch(() => null);
    if (answer === null) return;
    // Secrets leave the page once the server has them.
    setValues(initialValues(schema));
    setShowsFaults(false);
    setStillWaits(!answer.confirmed);
    confirm.reset();
  };
  const allow = (): void => void decide(allows[0]);
  const refuse = (): void => (refusal ? void decide(refusal) : onInstead());
  /** A key decides only what is on the screen; else it leads there. */
  const inView = (act: () => void) => (): void => {
    if (buttons.current && isOnScreen(buttons.current)) act();
    else buttons.current?.scrollIntoView({ block: "nearest" });
  };
  useKeys({ allow: inView(allow), refuse: inView(refuse) });
  const press = (event: KeyboardEvent): void => {
    if (!isKey(event, keys.allow.keys[0]) || event.repeat) return;
    event.preventDefault();
    allow();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the key also works in the fields
    <div className="stack tight" onKeyDown={press}>
      <ActFields {...{ schema, params, values }} faults={showsFaults ? faults : {}} onChange={setValues} />
      <ErrorNote error={confirm.error} />
      {stillWaits && (
        <p className="notice" role="status">
          {taskText.stillWaits}
        </p>
      )}
      <div className="actions" ref={buttons}>
        {allows.map((choice, index) => (
          <button
            key={choice.label}
            type="button"
            className={`button ${index === 0 ? "primary" : ""}`}
            disabled={confirm.isPending}
            onClick={() => void decide(choice)}
          >
            {choice.label}
            {index === 0 && <kbd>Ctrl ↵</kbd>}
          </button>
        ))}
        {refusal ? (
          <button type="button" className="button" disabled={confirm.isPending} onClick={refuse}>
            {refusal.label}
          </button>
        ) : (
          <Instead onInstead={onInstead} />
        )}
      </div>
    </div>
  );
}

/** Whether an element is in the visible part of what scrolls it. */
function isOnScreen(element: HTMLElement): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  const scroller = element.closest("[data-flow]")?.getBoundingClientRect();
  return top >= (scroller?.top ?? 0) && bottom <= (scroller?.bottom ?? innerHeight) + 1;
}
