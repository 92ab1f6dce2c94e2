import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { MigratedProfileRole, UserStatus } from "#proto/team/v2/team_user_pb.ts";
import { TeamUserManagementApiV2Service } from "#proto/team/v2/team_user_service_pb.ts";
import { shownText } from "../task/act-view.tsx";
import { SelectField, TextField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { words } from "../words.ts";
import { Effects, fresh } from "./member-effects.tsx";
import { choiceOf, type Person, useDirectory } from "./people.ts";
import { memberRoles } from "./roles.ts";

const text = words(
  {
    role: "Role",
    roleTitle: (name: string) => `Change the role of ${name}`,
    rename: (name: string) => `Rename ${name}`,
    name: "Name in the team",
    save: "Save",
    activate: "Activate",
    activateTitle: (name: string) => `Activate ${name}?`,
    activateText: "The member can use the team again.",
    deactivate: "Deactivate",
    deactivateTitle: (name: string) => `Deactivate ${name}?`,
    deactivateText: "The member cannot use the team until it is active again. Nothing is deleted.",
    remove: "Remove",
    removeTitle: (name: string) => `Remove ${name}?`,
    removeText: "The member leaves the team permanently.",
    delegate: "Delegate",
    delegateTitle: (name: string) => `Delegate the profile of ${name}`,
    delegateText:
      "All sessions, keys and apps of the profile end permanently. The assignee gets no access to its tasks, files or keys.",
    target: "Assignee",
    after: "The profile is then",
    afters: { member: "Active, as a member", guest: "Active, as a guest", off: "Inactive" },
    noOther: "No other active member",
    reclaim: "Reclaim",
    reclaimTitle: (name: string) => `Reclaim the profile of ${name}?`,
    reclaimText: "The delegation ends. The profile becomes inactive and keeps its role and data.",
  },
  {
    role: "Rolle",
    roleTitle: (name: string) => `Rolle von ${name} ändern`,
    rename: (name: string) => `${name} umbenennen`,
    name: "Name im Team",
    save: "Speichern",
    activate: "Aktivieren",
    activateTitle: (name: string) => `${name} aktivieren?`,
    activateText: "Das Mitglied kann das Team wieder benutzen.",
    deactivate: "Deaktivieren",
    deactivateTitle: (name: string) => `${name} deaktivieren?`,
    deactivateText:
      "Das Mitglied kann das Team nicht benutzen, bis es wieder aktiv ist. Nichts wird gelöscht.",
    remove: "Entfernen",
    removeTitle: (name: string) => `${name} entfernen?`,
    removeText: "Das Mitglied verlässt das Team endgültig.",
    delegate: "Übertragen",
    delegateTitle: (name: string) => `Profil von ${name} übertragen`,
    delegateText:
      "Alle Sitzungen, Schlüssel und Apps des Profils enden endgültig. Wer es übernimmt, sieht weder seine Aufgaben noch Dateien oder Schlüssel.",
    target: "Übernimmt",
    after: "Danach ist das Profil",
    afters: { member: "Aktiv, als Mitglied", guest: "Aktiv, als Gast", off: "Inaktiv" },
    noOther: "Kein anderes aktives Mitglied",
    reclaim: "Zurückholen",
    reclaimTitle: (name: string) => `Profil von ${name} zurückholen?`,
    reclaimText: "Die Übertragung endet. Das Profil wird inaktiv und behält Rolle und Daten.",
  },
);

const { updateUser, removeMember, delegateProfile, reclaimProfile, renameProfile } =
  TeamUserManagementApiV2Service.method;

interface DialogProps {
  readonly person: Person;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Shows what a change of role ends, then makes it. */
function RoleDialog({ person, onClose, onDone }: DialogProps) {
  const [role, setRole] = useState(person.role);
  const teamUserId = person.id;
  const isOther = role !== person.role;
  const effects = useQuery(updateUser, { teamUserId, role, dryRun: true }, { ...fresh, enabled: isOther });
  const update = useMutation(updateUser, { onSuccess: onDone });
  return (
    <FormDialog
      title={text.roleTitle(shownText(person.name))}
      submit={text.save}
      {...{
        onClose,
        error: update.error,
        isPending: update.isPending,
        isReady: isOther && effects.isSuccess,
      }}
      onSubmit={() => update.mutate({ teamUserId, role })}
    >
      <SelectField label={text.role} value={role} options={memberRoles} onValue={setRole} />
      {isOther && <Effects of={effects} />}
    </FormDialog>
  );
}

function ActivateDialog({ person, onClose, onDone }: DialogProps) {
  const update = useMutation(updateUser, { onSuccess: onDone });
  return (
    <FormDialog
      title={text.activateTitle(shownText(person.name))}
      submit={text.activate}
      {...{ onClose, error: update.error, isPending: update.isPending }}
      onSubmit={() => update.mutate({ teamUserId: person.id, status: UserStatus.ACTIVE })}
    >
      <p>{text.activateText}</p>
    </FormDialog>
  );
}

function DeactivateDialog({ person, onClose, onDone }: DialogProps) {
  const change = { teamUserId: person.id, status: UserStatus.INACTIVE };
  const effects = useQuery(updateUser, { ...change, dryRun: true }, fresh);
  const update = useMutation(updateUser, { onSuccess: onDone });
  return (
    <FormDialog
      title={text.deactivateTitle(shownText(person.name))}
      submit={text.deactivate}
      danger
      {...{ onClose, error: update.error, isPending: update.isPending, isReady: effects.isSuccess }}
      onSubmit={() => update.mutate(change)}
    >
      <p>{text.deactivateText}</p>
      <Effects of={effects} />
    </FormDialog>
  );
}

function RemoveDialog({ person, onClose, onDone }: DialogProps) {
  const teamUserId = person.id;
  const effects = useQuery(removeMember, { teamUserId, dryRun: true }, fresh);
  const remove = useMutation(removeMember, { onSuccess: onDone });
  return (
    <FormDialog
      title={text.removeTitle(shownText(person.name))}
      submit={text.remove}
      danger
      {...{ onClose, error: remove.error, isPending: remove.isPending, isReady: effects.isSuccess }}
      onSubmit={() => remove.mutate({ teamUserId })}
    >
      <p>{text.removeText}</p>
      <Effects of={effects} />
    </FormDialog>
  );
}

const afterRoles = [
  [MigratedProfileRole.DEACTIVATED, text.afters.off],
  [MigratedProfileRole.MEMBER, text.afters.member],
  [MigratedProfileRole.FREE_GUEST, text.afters.guest],
] as const;

function DelegateDialog({ person, onClose, onDone }: DialogProps) {
  const targets = useDirectory();
  const [chosen, setTarget] = useState("");
  const targetTeamUserId = chosen || (targets[0]?.teamUserId ?? "");
  const [role, setRole] = useState<MigratedProfileRole>(MigratedProfileRole.DEACTIVATED);
  const change = { teamUserId: person.id, targetTeamUserId, role };
  const effects = useQuery(
    delegateProfile,
    { ...change, dryRun: true },
    { ...fresh, enabled: targetTeamUserId !== "" },
  );
  const delegate = useMutation(delegateProfile, { onSuccess: onDone });
  return (
    <FormDialog
      title={text.delegateTitle(shownText(person.name))}
      submit={text.delegate}
      danger
      {...{ onClose, error: delegate.error, isPending: delegate.isPending, isReady: effects.isSuccess }}
      onSubmit={() => delegate.mutate(change)}
    >
      <p>{text.delegateText}</p>
      {targets.length === 0 ? (
        <p className="muted">{text.noOther}</p>
      ) : (
        <SelectField
          label={text.target}
          value={targetTeamUserId}
          options={targets.map(choiceOf)}
          onValue={setTarget}
        />
      )}
      <SelectField<MigratedProfileRole>
        label={text.after}
        value={role}
        options={afterRoles}
        onValue={setRole}
      />
      <Effects of={effects} />
    </FormDialog>
  );
}

function ReclaimDialog({ person, onClose, onDone }: DialogProps) {
  const reclaim = useMutation(reclaimProfile, { onSuccess: onDone });
  return (
    <FormDialog
      title={text.reclaimTitle(shownText(person.name))}
      submit={text.reclaim}
      {...{ onClose, error: reclaim.error, isPending: reclaim.isPending }}
      onSubmit={() => reclaim.mutate({ teamUserId: person.id })}
    >
      <p>{text.reclaimText}</p>
    </FormDialog>
  );
}

function RenameDialog({ person, onClose, onDone }: DialogProps) {
  const [displayName, setName] = useState(person.name);
  const rename = useMutation(renameProfile, { onSuccess: onDone });
  return (
    <FormDialog
      title={text.rename(shownText(person.name))}
      submit={text.save}
      draft={`member ${person.id}`}
      {...{ onClose, error: rename.error, isPending: rename.isPending }}
      onSubmit={() => rename.mutate({ teamUserId: person.id, displayName })}
    >
      <TextField label={text.name} required maxLength={255} value={displayName} onValue={setName} />
    </FormDialog>
  );
}

const dialogs = {
  role: RoleDialog,
  rename: RenameDialog,
  activate: ActivateDialog,
  deactivate: DeactivateDialog,
  delegate: DelegateDialog,
  reclaim: ReclaimDialog,
  remove: RemoveDialog,
} as const;

/** A change of a member. */
export type Change = keyof typeof dialogs;

/** The dialog of a change. It closes when the change is made. */
export function MemberDialog({ change, onDone, ...props }: DialogProps & { change: Change }) {
  const Content = dialogs[change];
  return (
    <Content
      {...props}
      onDone={() => {
        onDone();
        props.onClose();
      }}
    />
  );
}
