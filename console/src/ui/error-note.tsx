import { Code, ConnectError } from "@connectrpc/connect";
import { signInAddress } from "../api/signed-out.ts";
import { words } from "../words.ts";
import { Icon } from "./icons.tsx";

const text = words(
  {
    offline: "The server does not answer. Check your connection; nothing you typed is lost.",
    slow: "Too many requests. Wait a moment, then try again.",
    forbidden: "You are not allowed to do this. Ask the owner of the team.",
    gone: "It does not exist, or you cannot see it.",
    signedOut: "You are signed out. What you typed is kept: sign in, then try again.",
    inside: "The server made an error. It was logged. Try again in a moment.",
    signIn: "Sign in in a new tab",
    request: "Request",
    retry: "Try again",
  },
  {
    offline: "Der Server antwortet nicht. Prüfen Sie die Verbindung; Ihre Eingaben bleiben erhalten.",
    slow: "Zu viele Anfragen. Warten Sie einen Moment und versuchen Sie es erneut.",
    forbidden: "Dazu fehlt Ihnen die Berechtigung. Fragen Sie den Inhaber des Teams.",
    gone: "Es existiert nicht, oder Sie dürfen es nicht sehen.",
    signedOut:
      "Sie sind abgemeldet. Ihre Eingaben bleiben erhalten: melden Sie sich an, und versuchen Sie es erneut.",
    inside:
      "Auf dem Server ist ein Fehler aufgetreten. Er wurde protokolliert. Versuchen Sie es gleich noch einmal.",
    signIn: "In neuem Tab anmelden",
    request: "Anfrage",
    retry: "Erneut versuchen",
  },
);

const texts: Readonly<Partial<Record<Code, string>>> = {
  [Code.Unavailable]: text.offline,
  [Code.Unknown]: text.offline,
  [Code.DeadlineExceeded]: text.offline,
  [Code.ResourceExhausted]: text.slow,
  [Code.PermissionDenied]: text.forbidden,
  [Code.NotFound]: text.gone,
  [Code.Unauthenticated]: text.signedOut,
  [Code.Internal]: text.inside,
};

/**
 * Says what happened, what to do, and the id of the request. The server's own text names fields and limits:
 * it is shown too.
 */
export function ErrorNote({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  if (error === null || error === undefined) return null;
  const failure = ConnectError.from(error);
  const requestId = failure.metadata.get("x-request-id");
  const general = texts[failure.code];
  const isNetwork = failure.code === Code.Unknown || failure.code === Code.Internal;
  return (
    <div className={`notice bad ${failure.code === Code.Unauthenticated ? "signed-out" : ""}`} role="alert">
      <Icon name="failed" />
      <div className="stack tight">
        {general && <p>{general}</p>}
        {!isNetwork && failure.rawMessage && <p className={general ? "small" : ""}>{failure.rawMessage}</p>}
        {failure.code === Code.Unauthenticated && (
          <p>
            <a href={signInAddress()} target="_blank" rel="noopener">
              {text.signIn}
            </a>
          </p>
        )}
        {requestId && (
          <p className="small">
            {text.request} <code>{requestId}</code>
          </p>
        )}
        {onRetry && (
          <p>
            <button type="button" className="button" onClick={onRetry}>
              {text.retry}
            </button>
          </p>
        )}
      </div>
    </div>
  );
}
