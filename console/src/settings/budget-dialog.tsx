import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { OAuth2AppService } from "#proto/oauth/v2/oauth2_app_service_pb.ts";
import { ProjectService } from "#proto/project/v2/project_service_pb.ts";
import { type Budget, BudgetKind, BudgetPeriod } from "#proto/settings/v1/budget_pb.ts";
import { BudgetService } from "#proto/settings/v1/budget_service_pb.ts";
import { useMe, useRole } from "../api/me.ts";
import { SelectField, TextField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { words } from "../words.ts";
import { kindChoices, kindTitle, periodChoices } from "./budget-words.ts";
import { accountChoiceOf, useDirectory } from "./people.ts";

const text = words(
  {
    create: "New budget",
    edit: "Change the budget",
    save: "Save",
    kind: "What it limits",
    task: "Id of the task",
    none: "There is none.",
    period: "Period",
    credits: "Credits",
    creditsHint: "What was already spent in the period counts.",
  },
  {
    create: "Neues Budget",
    edit: "Budget ändern",
    save: "Speichern",
    kind: "Was es begrenzt",
    task: "Id der Aufgabe",
    none: "Es gibt keine.",
    period: "Zeitraum",
    credits: "Credits",
    creditsHint: "Was im Zeitraum schon ausgegeben wurde, zählt mit.",
  },
);

/** Creates a budget, or changes the credits of one. */
export function BudgetDialog({
  budget,
  onClose,
  onSaved,
}: {
  budget: Budget | undefined;
  onClose: () => void;
  onSaved: () => void;
}) {
  const { isTeam } = useRole();
  const [kind, setKind] = useState<BudgetKind>(
    budget?.kind ?? (isTeam ? BudgetKind.TEAM : BudgetKind.ACCOUNT),
  );
  const [typed, setTyped] = useState(budget?.subject ?? "");
  const [period, setPeriod] = useState<BudgetPeriod>(budget?.period ?? BudgetPeriod.MONTH);
  const [credits, setCredits] = useState(budget ? `${budget.credits}` : "");
  const choices = useSubjects(kind);
  const subject = typed || (choices?.[0]?.[0] ?? "");
  const set = useMutation(BudgetService.method.setBudget, {
    onSuccess: () => {
      onSaved();
      onClose();
    },
  });
  return (
    <FormDialog
      title={budget ? text.edit : text.create}
      submit={text.save}
      draft={`budget ${budget ? `${budget.kind} ${budget.subject} ${budget.period}` : "new"}`}
      {...{
        onClose,
        error: set.error,
        isPending: set.isPending,
        isReady: kind === BudgetKind.TEAM || subject !== "",
      }}
      onSubmit={() =>
        set.mutate({
          kind,
          subject: kind === BudgetKind.TEAM ? "" : subject,
          period,
          credits: BigInt(credits),
        })
      }
    >
      {!budget && (
        <>
          <SelectField<BudgetKind>
            label={text.kind}
            value={kind}
            options={kindChoices(isTeam)}
            onValue={(next) => {
              setKind(next);
              setTyped("");
            }}
          />
          {kind === BudgetKind.TASK && (
            <TextField label={text.task} required maxLength={64} value={typed} onValue={setTyped} />
          )}
          {choices?.length === 0 && <p className="muted">{text.none}</p>}
          {choices && choices.length > 0 && (
            <SelectField label={kindTitle(kind)} value={subject} options={choices} onValue={setTyped} />
          )}
          <SelectField<BudgetPeriod>
            label={text.period}
            value={period}
            options={periodChoices}
            onValue={setPeriod}
          />
        </>
      )}
      <TextField
        label={text.credits}
        hint={text.creditsHint}
        type="number"
        required
        min={0}
        max={1_000_000_000_000}
        step={1}
        value={credits}
        onValue={setCredits}
      />
    </FormDialog>
  );
}

/** What a budget of a kind can limit, as pairs of id and name; undefined where it is not a choice. */
function useSubjects(kind: BudgetKind): readonly (readonly [string, string])[] | undefined {
  const me = useMe();
  const { isTeam } = useRole();
  const people = useDirectory();
  const projects = useQuery(ProjectService.method.listProjects, {}, { enabled: kind === BudgetKind.PROJECT });
  const apps = useQuery(OAuth2AppService.method.listOAuth2Apps, {}, { enabled: kind === BudgetKind.APP });
  if (kind === BudgetKind.PROJECT) return projects.data?.data.map(({ id, name }) => [id, name] as const);
  if (kind === BudgetKind.APP) return apps.data?.data.map(({ clientId, name }) => [clientId, name] as const);
  if (kind !== BudgetKind.ACCOUNT) return;
  return isTeam
    ? people.map(accountChoiceOf)
    : me.data && [[me.data.userId, me.data.name ?? me.data.email ?? me.data.userId]];
}
