import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { TeamService } from "#proto/settings/v1/team_service_pb.ts";
import { TeamMemberRole } from "#proto/team/v2/team_user_pb.ts";
import { useMe } from "../api/me.ts";
import { SelectField, TextField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { words } from "../words.ts";
import { choiceOf, useDirectory } from "./people.ts";

const text = words(
  {
    title: "Team",
    name: "Name of the team",
    rename: "Rename team",
    renameHint: "Commands of the operator that select the team by its name need the new one.",
    save: "Save",
    transfer: "Transfer ownership",
    transferText:
      "The member becomes the owner, and you become a super admin. Enterprise keys of the team pass to the new owner.",
    target: "New owner",
    password: "Your password",
    passwordHint: "Leave it empty if you signed in by single sign-on within the last five minutes.",
    noCandidate:
      "Only an active super admin or admin can become the owner. Give a member one of these roles first.",
  },
  {
    title: "Team",
    name: "Name des Teams",
    rename: "Team umbenennen",
    renameHint: "Befehle des Betreibers, die das Team nach Namen wählen, brauchen dann den neuen.",
    save: "Speichern",
    transfer: "Inhaberschaft übergeben",
    transferText:
      "Das Mitglied wird Inhaber, Sie werden Super-Admin. Enterprise-Schlüssel des Teams gehen an den neuen Inhaber über.",
    target: "Neuer Inhaber",
    password: "Ihr Passwort",
    passwordHint:
      "Leer lassen, wenn Sie sich in den letzten fünf Minuten per Single Sign-on angemeldet haben.",
    noCandidate:
      "Nur ein aktiver Super-Admin oder Admin kann Inhaber werden. Geben Sie zuerst einem Mitglied eine dieser Rollen.",
  },
);

/** The name of the team and its owner; only for the owner. */
export function TeamCard({ onTransferred }: { onTransferred: () => void }) {
  const me = useMe();
  const [open, setOpen] = useState<"rename" | "transfer">();
  const close = (): void => setOpen(undefined);
  const name = me.data?.space?.name ?? "";
  const refresh = (): void => {
    void me.refetch();
    onTransferred();
    close();
  };
  return (
    <section className="card padded stack tight">
      <h2>{text.title}</h2>
      <p className="muted">{name}</p>
      <div className="actions">
        <button type="button" className="button" onClick={() => setOpen("rename")}>
          {text.rename}
        </button>
        <button type="button" className="button danger" onClick={() => setOpen("transfer")}>
          {text.transfer}
        </button>
      </div>
      {open === "rename" && <RenameTeamDialog name={name} onClose={close} onDone={refresh} />}
      {open === "transfer" && <TransferDialog onClose={close} onDone={refresh} />}
    </section>
  );
}

function RenameTeamDialog({
  name: known,
  onClose,
  onDone,
}: {
  name: string;
  onClose: () => void;
  onDone: () => void;
}) {
  const [name, setName] = useState(known);
  const rename = useMutation(TeamService.method.renameTeam, { onSuccess: onDone });
  return (
    <FormDialog
      title={text.rename}
      submit={text.save}
      draft="team"
      {...{ onClose, error: rename.error, isPending: rename.isPending }}
      onSubmit={() => rename.mutate({ name })}
    >
      <TextField
        label={text.name}
        hint={text.renameHint}
        required
        maxLength={100}
        value={name}
        onValue={setName}
      />
    </FormDialog>
  );
}

function TransferDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const targets = useDirectory().filter(
    ({ role }) => role === TeamMemberRole.SUPER_ADMIN || role === TeamMemberRole.ADMIN,
  );
  const [chosen, setTarget] = useState("");
  const teamUserId = chosen || (targets[0]?.teamUserId ?? "");
  const [password, setPassword] = useState("");
  const transfer = useMutation(TeamService.method.transferOwnership, { onSuccess: onDone });
  return (
    <FormDialog
      title={text.transfer}
      submit={text.transfer}
      danger
      {...{ onClose, error: transfer.error, isPending: transfer.isPending, isReady: teamUserId !== "" }}
      onSubmit={() => transfer.mutate({ teamUserId, password })}
    >
      {targets.length === 0 ? (
        <p>{text.noCandidate}</p>
      ) : (
        <>
          <p>{text.transferText}</p>
          <SelectField
            label={text.target}
            value={teamUserId}
            options={targets.map(choiceOf)}
            onValue={setTarget}
          />
          <TextField
            label={text.password}
            hint={text.passwordHint}
            type="password"
            autoComplete="current-password"
            maxLength={1024}
            value={password}
            onValue={setPassword}
          />
        </>
      )}
    </FormDialog>
  );
}
