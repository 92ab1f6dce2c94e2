import { useRef, useState } from "react";
import type { AssistantMessage } from "#proto/task/v2/task_event_pb.ts";
import { useKeyboardFocus } from "../shell/keys.ts";
import { Icon } from "../ui/icons.tsx";
import { shownText } from "./act-view.tsx";
import styles from "./task.module.css";
import { text } from "./words.ts";

interface QuestionProps {
  readonly question: AssistantMessage;
  readonly onAnswer: (answer: string) => void;
  readonly isBusy: boolean;
}

/** Longer options are below each other. */
const shortMax = 40;

/**
 * The question that a task waits for, with its suggested answers. Free text goes through the composer below.
 */
export function QuestionCard({ question, onAnswer, isBusy }: QuestionProps) {
  const { options = [], selectionMode } = question.questionExpectation ?? {};
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const card = useRef<HTMLElement>(null);
  useKeyboardFocus(card);
  if (options.length === 0) return null;
  const isMultiple = selectionMode === "multiple";
  const toggle = (option: string): void =>
    setChosen(chosen.includes(option) ? chosen.filter((other) => other !== option) : [...chosen, option]);
  const isList = options.some(({ length }) => length > shortMax);
  return (
    <section ref={card} tabIndex={-1} className={styles.ask} aria-label={text.answer}>
      <h2>
        <Icon name="hand" />
        {text.answer}
      </h2>
      <div className={isList ? styles.options : "actions"}>
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
            {shownText(option)}
          </button>
        ))}
      </div>
      {isMultiple && (
        <div className="actions">
          <button
            type="button"
            className="button primary"
            disabled={isBusy || chosen.length === 0}
            onClick={() => onAnswer(chosen.join(", "))}
          >
            {text.send}
          </button>
        </div>
      )}
    </section>
  );
}
