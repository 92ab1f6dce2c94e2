import { useMutation, useQuery } from "@connectrpc/connect-query";
import type { OAuth2App } from "#proto/oauth/v2/oauth2_app_pb.ts";
import { OAuth2AppService } from "#proto/oauth/v2/oauth2_app_service_pb.ts";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { SecretDialog } from "../ui/form-dialog.tsx";
import { Ago, fromSeconds } from "../ui/time.tsx";
import { words } from "../words.ts";

const text = words(
  {
    title: (name: string) => `Secrets of ${name}`,
    about: "At most five. Add the new one, change your service, then revoke the old one.",
    made: "Copy the client secret now",
    create: "New secret",
    ends: (last4: string) => `Ends in ${last4}`,
    revoke: "Revoke",
    none: "The app has no secret.",
    done: "Done",
  },
  {
    title: (name: string) => `Secrets von ${name}`,
    about:
      "Höchstens fünf. Erstellen Sie das neue, stellen Sie Ihren Dienst um, widerrufen Sie dann das alte.",
    made: "Kopieren Sie das Client-Secret jetzt",
    create: "Neues Secret",
    ends: (last4: string) => `Endet auf ${last4}`,
    revoke: "Widerrufen",
    none: "Die App hat kein Secret.",
    done: "Fertig",
  },
);

/** The client secrets of an app: added, shown once, and revoked. */
export function SecretsDialog({ app: { clientId, name }, onClose }: { app: OAuth2App; onClose: () => void }) {
  const secrets = useQuery(OAuth2AppService.method.listOAuth2AppSecrets, { clientId });
  const refresh = (): void => void secrets.refetch();
  const create = useMutation(OAuth2AppService.method.createOAuth2AppSecret, { onSuccess: refresh });
  const revoke = useMutation(OAuth2AppService.method.revokeOAuth2AppSecret, { onSuccess: refresh });
  if (create.data)
    return <SecretDialog title={text.made} secret={create.data.clientSecret} onClose={create.reset} />;
  return (
    <Dialog title={text.title(name)} onClose={onClose}>
      <p className="muted">{text.about}</p>
      <ErrorNote error={secrets.error ?? create.error ?? revoke.error} />
      {secrets.data?.data.length === 0 && <p>{text.none}</p>}
      <ul className="rows">
        {secrets.data?.data.map(({ id, last4, createdAt }) => (
          <li key={id} className="flush">
            <span className="main">
              <span>{text.ends(last4)}</span>
              <small>
                <Ago at={fromSeconds(createdAt)} />
              </small>
            </span>
            <button
              type="button"
              className="button danger"
              aria-label={`${text.revoke}: ${text.ends(last4)}`}
              disabled={revoke.isPending}
              onClick={() => revoke.mutate({ clientId, secretId: id })}
            >
              {text.revoke}
            </button>
          </li>
        ))}
      </ul>
      <div className="actions">
        <button
          type="button"
          className="button"
          disabled={create.isPending}
          onClick={() => create.mutate({ clientId })}
        >
          {text.create}
        </button>
        <button type="button" className="button primary" onClick={onClose}>
          {text.done}
        </button>
      </div>
    </Dialog>
  );
}
