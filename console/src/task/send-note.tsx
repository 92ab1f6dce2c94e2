import { useEffect, useState } from "react";
import { isTemporary } from "../api/client.ts";
import type { Connection } from "../api/live.ts";
import { ErrorNote } from "../ui/error-note.tsx";
import { text } from "./words.ts";

interface SendNoteProps {
  readonly send: { readonly error: unknown; readonly isPending: boolean; readonly reset: () => void };
  readonly connection: Connection;
  /** Sends what is in the field of a message. */
  readonly onRetry: () => void;
}

/** Why the last message was not sent. Once the server answers again, only that it still waits. */
export function SendNote({ send, connection, onRetry }: SendNoteProps) {
  const [isUnsent, setUnsent] = useState(false);
  const { error, isPending, reset } = send;
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the connection is back, not when the message fails
  useEffect(() => {
    if (connection.kind !== "live" || !error || !isTemporary(error)) return;
    setUnsent(true);
    reset();
  }, [connection]);
  useEffect(() => {
    if (isPending) setUnsent(false);
  }, [isPending]);
  if (!isUnsent) return <ErrorNote error={error} {...(error && isTemporary(error) ? { onRetry } : {})} />;
  return (
    <p className="notice actions" role="status">
      {text.unsent}
      <button type="button" className="button" onClick={onRetry}>
        {text.retry}
      </button>
    </p>
  );
}
