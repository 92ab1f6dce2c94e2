import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { type TeamGroup, TeamService } from "#proto/settings/v1/team_service_pb.ts";
import type { TeamMemberRole } from "#proto/team/v2/team_user_pb.ts";
import { useRole } from "../api/me.ts";
import { ErrorNote } from "../ui/error-note.tsx";
import { SelectField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { Icon } from "../ui/icons.tsx";
import { words } from "../words.ts";
import { groupRoles, roleTitle } from "./roles.ts";

const text = words(
  {
    title: "Groups",
    about: "Groups of your identity provider (SCIM). Each member has the highest role of their groups.",
    members: (count: number) => (count === 1 ? "1 member" : `${count} members`),
    none: "No role",
    change: "Change role",
    dialog: (name: string) => `Role of ${name}`,
    role: "Role of the members",
    effect: (count: number) =>
      `The roles of ${count === 1 ? "1 member" : `${count} members`} change at once. The owner, super admins and delegated profiles keep theirs.`,
    save: "Save",
  },
  {
    title: "Gruppen",
    about: "Gruppen Ihres Identitätsanbieters (SCIM). Jedes Mitglied hat die höchste Rolle seiner Gruppen.",
    members: (count: number) => (count === 1 ? "1 Mitglied" : `${count} Mitglieder`),
    none: "Keine Rolle",
    change: "Rolle ändern",
    dialog: (name: string) => `Rolle von ${name}`,
    role: "Rolle der Mitglieder",
    effect: (count: number) =>
      `Die Rollen von ${count === 1 ? "1 Mitglied" : `${count} Mitgliedern`} ändern sich sofort. Inhaber, Super-Admins und übertragene Profile behalten ihre.`,
    save: "Speichern",
  },
);

/** The groups of the identity provider and the roles that they give; nothing without groups. */
export function Groups({ onChanged }: { onChanged: () => void }) {
  const { isOwner } = useRole();
  const groups = useQuery(TeamService.method.listGroups, { limit: 1000 });
  const [changed, setChanged] = useState<TeamGroup>();
  const found = groups.data?.data ?? [];
  if (found.length === 0) return <ErrorNote error={groups.error} />;
  return (
    <section className="stack tight">
      <h2>{text.title}</h2>
      <p className="muted">{text.about}</p>
      <ul className="card rows">
        {found.map((group) => (
          <li key={group.id}>
            <Icon name="team" />
            <span className="main">
              <strong>{group.displayName}</strong>
              <small>
                {text.members(group.members)} · {group.role === undefined ? text.none : roleTitle(group.role)}
              </small>
            </span>
            {isOwner && (
              <button
                type="button"
                className="button"
                aria-label={`${text.change}: ${group.displayName}`}
                onClick={() => setChanged(group)}
              >
                {text.change}
              </button>
            )}
          </li>
        ))}
      </ul>
      {changed && (
        <GroupDialog
          group={changed}
          onClose={() => setChanged(undefined)}
          onSaved={() => {
            void groups.refetch();
            onChanged();
          }}
        />
      )}
    </section>
  );
}

function GroupDialog({
  group,
  onClose,
  onSaved,
}: {
  group: TeamGroup;
  onClose: () => void;
  onSaved: () => void;
}) {
  const [role, setRole] = useState<TeamMemberRole | 0>(group.role ?? 0);
  const set = useMutation(TeamService.method.setGroupRole, {
    onSuccess: () => {
      onSaved();
      onClose();
    },
  });
  return (
    <FormDialog
      title={text.dialog(group.displayName)}
      submit={text.save}
      error={set.error}
      isPending={set.isPending}
      onClose={onClose}
      onSubmit={() => set.mutate({ id: group.id, ...(role === 0 ? {} : { role }) })}
    >
      <SelectField<TeamMemberRole | 0>
        label={text.role}
        value={role}
        options={[[0, text.none], ...groupRoles]}
        onValue={setRole}
      />
      <p className="muted">{text.effect(group.members)}</p>
    </FormDialog>
  );
}
