import type { Connection } from "../api/live.ts";
import { words } from "../words.ts";
import { useNow } from "./time.tsx";

const text = words(
  { live: "Live", reconnecting: (seconds: number) => `Reconnecting in ${seconds} s` },
  { live: "Live", reconnecting: (seconds: number) => `Verbindet in ${seconds} s neu` },
);

/** Whether the page is up to date. It says nothing while nothing can change, and for a short cut. */
export function ConnectionNote({ connection, isActive }: { connection: Connection; isActive: boolean }) {
  const now = useNow(1_000);
  if (connection.kind === "ended") return null;
  if (connection.kind === "waiting" && connection.until > 0)
    return (
      <span className="live cut" role="status">
        {text.reconnecting(Math.max(1, Math.ceil((connection.until - now) / 1000)))}
      </span>
    );
  return isActive && connection.kind === "live" ? <span className="live">{text.live}</span> : null;
}
