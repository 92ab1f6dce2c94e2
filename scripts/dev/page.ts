/** The root of the web application in console/index.html; no other page has it. */
const applicationRoot = '<div id="root"></div>';

/** Whether an answer is the page of the web application, which Vite serves instead. */
export const isApplication = (body: string): boolean => body.includes(applicationRoot);

/**
 * The security policy of the page with what Vite needs: its inline script, inline styles, a WebSocket, and
 * texts that become code. It exists here only: the policy of `src/sign-in-pages/application.ts` has no
 * switch.
 */
export function relaxedPolicy(policy: string): string {
  const more: Readonly<Record<string, string>> = {
    "script-src": "'unsafe-inline'",
    "style-src": "'unsafe-inline'",
    "connect-src": "ws:",
  };
  return policy
    .split("; ")
    .filter((rule) => !rule.includes("trusted-types"))
    .map((rule) => [rule, more[rule.split(" ")[0] ?? ""] ?? []].flat().join(" "))
    .join("; ");
}
