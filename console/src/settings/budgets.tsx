import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { ProjectService } from "#proto/project/v2/project_service_pb.ts";
import { type Budget, BudgetKind } from "#proto/settings/v1/budget_pb.ts";
import { BudgetService } from "#proto/settings/v1/budget_service_pb.ts";
import { useMe, useRole } from "../api/me.ts";
import { Empty } from "../ui/empty.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { Icon } from "../ui/icons.tsx";
import { Menu } from "../ui/menu.tsx";
import { formatNumber } from "../ui/time.tsx";
import { words } from "../words.ts";
import { BudgetDialog } from "./budget-dialog.tsx";
import { kindTitle, periodTitle } from "./budget-words.ts";
import styles from "./budgets.module.css";
import { accountChoiceOf, useDirectory } from "./people.ts";

const text = words(
  {
    title: "Budgets",
    about: "A budget stops tasks before they spend more. Several budgets hold together.",
    own: "Budgets of your account in this space. The owner sets them.",
    create: "New budget",
    none: "There is no budget: only the limit of the operator holds.",
    noneOwn: "Your account has no budget of its own.",
    of: (spent: string, credits: string) => `${spent} of ${credits} spent`,
    held: (credits: string) => `${credits} reserved`,
    edit: "Change",
    remove: "Remove",
    removeTitle: "Remove this budget?",
    removeText: "Other budgets and the limit of the operator still hold.",
    more: "More",
  },
  {
    title: "Budgets",
    about: "Ein Budget hält Aufgaben an, bevor sie mehr ausgeben. Mehrere Budgets gelten zusammen.",
    own: "Budgets Ihres Kontos in diesem Bereich. Der Inhaber legt sie fest.",
    create: "Neues Budget",
    none: "Es gibt kein Budget: nur die Grenze des Betreibers gilt.",
    noneOwn: "Ihr Konto hat kein eigenes Budget.",
    of: (spent: string, credits: string) => `${spent} von ${credits} ausgegeben`,
    held: (credits: string) => `${credits} reserviert`,
    edit: "Ändern",
    remove: "Entfernen",
    removeTitle: "Dieses Budget entfernen?",
    removeText: "Andere Budgets und die Grenze des Betreibers gelten weiter.",
    more: "Mehr",
  },
);

/** All budgets of the space for its owner; else only the caller's. */
export function Budgets() {
  const { isOwner } = useRole();
  const budgets = useQuery(BudgetService.method.listBudgets, {}, { enabled: isOwner });
  const own = useQuery(BudgetService.method.listOwnBudgets, {}, { enabled: !isOwner });
  const { data, error, refetch } = isOwner ? budgets : own;
  const [edited, setEdited] = useState<Budget | "new">();
  const [removed, setRemoved] = useState<Budget>();
  const refresh = (): void => void refetch();
  return (
    <section className="stack tight">
      <div className="actions">
        <h2>{text.title}</h2>
        <span className="spacer" />
        {isOwner && (
          <button type="button" className="button" onClick={() => setEdited("new")}>
            <Icon name="plus" />
            {text.create}
          </button>
        )}
      </div>
      <p className="muted">{isOwner ? text.about : text.own}</p>
      <ErrorNote error={error} onRetry={refresh} />
      {data?.data.length === 0 && (
        <Empty
          command={`curl -s ${location.origin}/${BudgetService.typeName}/ListBudgets -H "x-service-api-key: $KEY" --json {}`}
        >
          {isOwner ? text.none : text.noneOwn}
        </Empty>
      )}
      {data && data.data.length > 0 && (
        <ul className="card rows">
          {data.data.map((budget) => (
            <BudgetRow
              key={budget.id}
              budget={budget}
              {...(isOwner && { onEdit: () => setEdited(budget), onRemove: () => setRemoved(budget) })}
            />
          ))}
        </ul>
      )}
      {edited && (
        <BudgetDialog
          budget={edited === "new" ? undefined : edited}
          onClose={() => setEdited(undefined)}
          onSaved={refresh}
        />
      )}
      {removed && <RemoveDialog budget={removed} onClose={() => setRemoved(undefined)} onRemoved={refresh} />}
    </section>
  );
}

function BudgetRow({
  budget,
  onEdit,
  onRemove,
}: {
  budget: Budget;
  onEdit?: () => void;
  onRemove?: () => void;
}) {
  const { kind, period, credits, spent, held } = budget;
  const name = useSubjectName(budget);
  const share = credits > 0n ? Math.min(100, Math.max(0, Number((spent * 100n) / credits))) : 100;
  const title = `${kindTitle(kind)}${name ? `: ${name}` : ""}`;
  return (
    <li>
      <Icon name="chart" />
      <span className="main">
        <strong>{title}</strong>
        <small>
          {periodTitle(period)} · {text.of(formatNumber(spent), formatNumber(credits))}
          {held > 0n && ` · ${text.held(formatNumber(held))}`}
        </small>
        <progress
          className={`${styles.bar} ${share >= 90 ? styles.full : ""}`}
          max={100}
          value={share}
          aria-label={title}
        />
      </span>
      {onEdit && onRemove && (
        <Menu
          label={`${text.more}: ${title}`}
          entries={[
            { label: text.edit, icon: "file", run: onEdit },
            { label: text.remove, icon: "bin", danger: true, run: onRemove },
          ]}
        />
      )}
    </li>
  );
}

/** The name of what a budget limits, or else its id. */
function useSubjectName({ kind, subject }: Budget): string {
  const me = useMe();
  const people = useDirectory();
  const projects = useQuery(ProjectService.method.listProjects, {}, { enabled: kind === BudgetKind.PROJECT });
  if (kind === BudgetKind.TEAM) return me.data?.space?.name ?? "";
  if (kind === BudgetKind.PROJECT)
    return projects.data?.data.find(({ id }) => id === subject)?.name ?? subject;
  if (kind !== BudgetKind.ACCOUNT) return subject;
  const person = people.find(({ accountId }) => accountId === subject);
  return person
    ? accountChoiceOf(person)[1]
    : subject === me.data?.userId
      ? (me.data.name ?? subject)
      : subject;
}

function RemoveDialog({
  budget,
  onClose,
  onRemoved,
}: {
  budget: Budget;
  onClose: () => void;
  onRemoved: () => void;
}) {
  const remove = useMutation(BudgetService.method.removeBudget, {
    onSuccess: () => {
      onRemoved();
      onClose();
    },
  });
  return (
    <FormDialog
      title={text.removeTitle}
      submit={text.remove}
      danger
      {...{ onClose, error: remove.error, isPending: remove.isPending }}
      onSubmit={() => remove.mutate({ id: budget.id })}
    >
      <p>{text.removeText}</p>
    </FormDialog>
  );
}
