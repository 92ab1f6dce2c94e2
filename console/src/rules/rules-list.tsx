import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { type PermissionLevel, PermissionSource } from "#proto/task/v2/permission_pb.ts";
import { TaskService } from "#proto/task/v2/task_service_pb.ts";
import { FormDialog } from "../ui/form-dialog.tsx";
import { titleOf } from "../words.ts";
import { choiceOf, draftsOf, type Rule, ruleEdit, ruleFaultOf } from "./draft.ts";
import styles from "./rules.module.css";
import { RulesField } from "./rules-field.tsx";
import { text } from "./words.ts";

/** The act of a rule in words: `Run commands`; the tool's name where there are none. */
const actOf = (tool: string): string =>
  text.tools[tool] ??
  (/^connector\.\w+$/.test(tool) ? text.connector(tool.slice("connector.".length)) : tool);

const looks = { allow: "done", ask: "wait", each: "wait", deny: "fail" } as const;

/** Rules in their order. */
const RulesList = ({ rules }: { rules: readonly Rule[] }) => (
  <ol className={styles.list}>
    {rules.map((rule, at) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: equal rules may be in one list
      <li key={at}>
        <span>
          {actOf(rule.tool)}
          {rule.pattern !== "*" && (
            <>
              {" "}
              <code>{rule.pattern}</code>
            </>
          )}
        </span>
        <span className={`badge ${looks[choiceOf(rule)]}`}>{text.choices[choiceOf(rule)]}</span>
      </li>
    ))}
  </ol>
);

interface RulesInForceProps {
  readonly taskId: string;
  /** Undefined until they are known. */
  readonly levels: readonly PermissionLevel[];
  readonly onChanged: () => void;
}

/** The rules that hold for a task by who set them, and a form for its own. */
export function RulesInForce({ taskId, levels, onChanged }: RulesInForceProps) {
  const [isEdited, setEdited] = useState(false);
  return (
    <section aria-labelledby="rules">
      <h2 id="rules">
        {text.inForce}
        <button type="button" className={styles.edit} onClick={() => setEdited(true)}>
          {text.edit}
        </button>
      </h2>
      {levels.length === 0 && <small>{text.none}</small>}
      {levels.map(({ source, rules }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: several tasks above have the same source
        <div key={at}>
          <small className={styles.source}>{titleOf(text.sources, source)}</small>
          <RulesList rules={rules} />
        </div>
      ))}
      {isEdited && (
        <TaskRulesDialog
          taskId={taskId}
          rules={levels.find(({ source }) => source === PermissionSource.TASK)?.rules ?? []}
          onClose={() => setEdited(false)}
          onSaved={onChanged}
        />
      )}
    </section>
  );
}

interface DialogProps {
  readonly taskId: string;
  readonly rules: readonly Rule[];
  readonly onClose: () => void;
  readonly onSaved: () => void;
}

function TaskRulesDialog({ taskId, rules, onClose, onSaved }: DialogProps) {
  const [drafts, setDrafts] = useState(() => draftsOf(rules));
  const update = useMutation(TaskService.method.updateTask, {
    onSuccess: () => {
      onSaved();
      onClose();
    },
  });
  const submit = (): void => {
    const edit = ruleEdit(drafts, rules);
    if (Object.keys(edit).length === 0) onClose();
    else update.mutate({ taskId, ...edit });
  };
  return (
    <FormDialog
      title={text.editTitle}
      submit={text.save}
      {...{ onClose, error: ruleFaultOf(update.error) ? null : update.error, isPending: update.isPending }}
      onSubmit={submit}
    >
      <p className="muted">{text.taskHint}</p>
      <RulesField value={drafts} onValue={setDrafts} error={update.error} />
    </FormDialog>
  );
}

/** How many rules there are, as a fact of what has them; nothing for none. */
export const ruleFacts = (rules: readonly unknown[]): readonly string[] =>
  rules.length === 0 ? [] : [text.count(rules.length)];
