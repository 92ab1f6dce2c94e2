import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { OAuth2AppService } from "#proto/oauth/v2/oauth2_app_service_pb.ts";
import { useRole } from "../api/me.ts";
import { CallDialog } from "../ui/call-dialog.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { words } from "../words.ts";

const text = words(
  {
    title: "Unverified apps",
    about:
      "Apps that describe themselves, such as MCP clients, are neither registered on this server nor verified.",
    allowed: "Each person of this space can let them act.",
    forbidden: "They cannot act in this space.",
    owner: "Only the owner can change this.",
    forbid: "Forbid",
    forbidTitle: "Forbid unverified apps?",
    forbidText:
      "Those that people of this space have let act are refused from their next call on, until you allow them again.",
    allow: "Allow",
    allowTitle: "Allow unverified apps?",
    allowText: "Each person of this space can let them act. Those that were allowed before can act again.",
  },
  {
    title: "Nicht geprüfte Apps",
    about:
      "Apps, die sich selbst beschreiben, etwa MCP-Clients, sind auf diesem Server nicht registriert, und niemand hat sie geprüft.",
    allowed: "Jede Person in diesem Bereich kann sie handeln lassen.",
    forbidden: "Sie können in diesem Bereich nicht handeln.",
    owner: "Nur der Inhaber kann das ändern.",
    forbid: "Verbieten",
    forbidTitle: "Nicht geprüfte Apps verbieten?",
    forbidText:
      "Die Apps, denen Personen in diesem Bereich zugestimmt haben, werden ab ihrem nächsten Aufruf abgewiesen, bis Sie sie wieder erlauben.",
    allow: "Erlauben",
    allowTitle: "Nicht geprüfte Apps erlauben?",
    allowText:
      "Jede Person in diesem Bereich kann sie handeln lassen. Apps, die vorher erlaubt waren, können wieder handeln.",
  },
);

/** Whether apps that are not registered may act in the space; the owner changes it. */
export function ClientPolicyCard() {
  const policy = useQuery(OAuth2AppService.method.getOAuth2ClientPolicy, {});
  const { isOwner } = useRole();
  const [isAsking, setAsking] = useState(false);
  const isAllowed = policy.data?.allowUnverifiedClients;
  const change = isAllowed
    ? { title: text.forbidTitle, submit: text.forbid, children: text.forbidText }
    : { title: text.allowTitle, submit: text.allow, children: text.allowText };
  return (
    <section className="card padded stack tight" aria-label={text.title}>
      <h2>{text.title}</h2>
      <p className="muted">{text.about}</p>
      <ErrorNote error={policy.error} onRetry={() => void policy.refetch()} />
      {isAllowed !== undefined && (
        <>
          <p>
            {isAllowed ? text.allowed : text.forbidden} {!isOwner && text.owner}
          </p>
          {isOwner && (
            <div className="actions">
              <button
                type="button"
                className={isAllowed ? "button danger" : "button"}
                onClick={() => setAsking(true)}
              >
                {change.submit}
              </button>
            </div>
          )}
        </>
      )}
      {isAsking && (
        <CallDialog
          method={OAuth2AppService.method.setOAuth2ClientPolicy}
          input={{ allowUnverifiedClients: !isAllowed }}
          onClose={() => setAsking(false)}
          onDone={() => void policy.refetch()}
          {...change}
        />
      )}
    </section>
  );
}
