import { useMutation } from "@connectrpc/connect-query";
import { useEffect, useState } from "react";
import { TeamService } from "#proto/settings/v1/team_service_pb.ts";
import { TeamMemberRole } from "#proto/team/v2/team_user_pb.ts";
import { TeamUserManagementApiV2Service } from "#proto/team/v2/team_user_service_pb.ts";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { SelectField, TextField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { words } from "../words.ts";
import type { Person } from "./people.ts";
import { memberRoles } from "./roles.ts";

const text = words(
  {
    invite: "Invite a member",
    submit: "Invite",
    email: "E-mail",
    name: "Name",
    role: "Role",
    sendTitle: (name: string) => `Send an invitation to ${name}?`,
    sendText: "Earlier sign-in links of the member to this team can no longer be used.",
    send: "Send",
    sent: (address: string) => `${address} gets a sign-in link by mail.`,
    unsent:
      "This server has no mail server. The member signs in by single sign-on, or with a link from the operator:",
    done: "Done",
  },
  {
    invite: "Mitglied einladen",
    submit: "Einladen",
    email: "E-Mail",
    name: "Name",
    role: "Rolle",
    sendTitle: (name: string) => `Einladung an ${name} senden?`,
    sendText: "Frühere Anmeldelinks des Mitglieds zu diesem Team gelten dann nicht mehr.",
    send: "Senden",
    sent: (address: string) => `${address} erhält einen Anmeldelink per E-Mail.`,
    unsent:
      "Dieser Server hat keinen Mailserver. Das Mitglied meldet sich per Single Sign-on an oder mit einem Link des Betreibers:",
    done: "Fertig",
  },
);

/** Adds a member, then sends the invitation and says whether it was mailed. */
export function InviteDialog({ onClose, onInvited }: { onClose: () => void; onInvited: () => void }) {
  const [email, setEmail] = useState("");
  const [userName, setUserName] = useState("");
  const [role, setRole] = useState<TeamMemberRole>(TeamMemberRole.MEMBER);
  const create = useMutation(TeamUserManagementApiV2Service.method.createUser, { onSuccess: onInvited });
  const made = create.data?.user;
  if (made) return <SentDialog id={made.teamUserId} email={made.email} onClose={onClose} />;
  return (
    <FormDialog
      title={text.invite}
      submit={text.submit}
      draft="member new"
      error={create.error}
      isPending={create.isPending}
      onClose={onClose}
      onSubmit={() => create.mutate({ email, role, ...(userName === "" ? {} : { userName }) })}
    >
      <TextField label={text.email} type="email" required maxLength={254} value={email} onValue={setEmail} />
      <TextField label={text.name} maxLength={255} value={userName} onValue={setUserName} />
      <SelectField label={text.role} value={role} options={memberRoles} onValue={setRole} />
    </FormDialog>
  );
}

/** Asks, then sends a fresh invitation. */
export function SendDialog({ person, onClose }: { person: Person; onClose: () => void }) {
  const [isConfirmed, setConfirmed] = useState(false);
  if (isConfirmed) return <SentDialog id={person.id} email={person.email ?? person.name} onClose={onClose} />;
  return (
    <FormDialog
      title={text.sendTitle(person.name)}
      submit={text.send}
      onClose={onClose}
      onSubmit={() => setConfirmed(true)}
    >
      <p>{text.sendText}</p>
    </FormDialog>
  );
}

function SentDialog({ id, email, onClose }: { id: string; email: string; onClose: () => void }) {
  const { data, error, mutate } = useMutation(TeamService.method.sendInvitation);
  useEffect(() => mutate({ teamUserId: id }), [id, mutate]);
  return (
    <Dialog title={text.invite} onClose={onClose}>
      <ErrorNote error={error} />
      {data?.mailed && <p role="status">{text.sent(email)}</p>}
      {data?.mailed === false && (
        <div role="status" className="stack tight">
          <p>{text.unsent}</p>
          <pre>atp user --email {email}</pre>
        </div>
      )}
      <div className="actions">
        <button type="button" className="button primary" onClick={onClose}>
          {text.done}
        </button>
      </div>
    </Dialog>
  );
}
