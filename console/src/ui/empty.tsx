import type { ReactNode } from "react";

/** An empty page: one sentence, one action, and one line for a terminal. */
export const Empty = ({
  children,
  action,
  command,
}: {
  children: ReactNode;
  action?: ReactNode;
  command?: string;
}) => (
  <div className="card padded stack">
    <p>{children}</p>
    {action && <div className="actions">{action}</div>}
    {command && <pre>{command}</pre>}
  </div>
);
