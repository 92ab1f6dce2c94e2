// The page is on the origin of the console: no call may have the cookie of its session. Only `fetch` is left, without credentials.
const send = window.fetch.bind(window);
window.fetch = (input, init) => send(new Request(input, { ...init, credentials: "omit" }));
for (const name of ["XMLHttpRequest", "EventSource", "WebSocket"]) delete window[name];
navigator.sendBeacon = () => false;

/** This server, also below a path of a proxy. */
const base = new URL("../", location.href).href.slice(0, -1);
const documents = [
  ["v2", "openapi.json"],
  ["v1", "openapi/v1.json"],
  ["Responses", "openapi/responses.json"],
  ["OAuth", "openapi/oauth.json"],
  ["Files", "openapi/files.json"],
];
/** The choice of the other pages of the documentation. */
const appearance = localStorage.getItem("vitepress-theme-appearance") ?? "auto";
const isDark =
  appearance === "auto" ? matchMedia("(prefers-color-scheme: dark)").matches : appearance === "dark";

Scalar.createApiReference("#explorer", {
  sources: documents.map(([title, path]) => ({ title, slug: title.toLowerCase(), url: `${base}/${path}` })),
  servers: [{ url: base, description: "This server" }],
  authentication: { preferredSecurityScheme: "ApiKey" },
  operationTitleSource: "path",
  documentDownloadType: "direct",
  forceDarkModeState: isDark ? "dark" : "light",
  hideDarkModeToggle: true,
  // Nothing is stored, and nothing is asked of other servers.
  persistAuth: false,
  proxyUrl: "",
  telemetry: false,
  withDefaultFonts: false,
  hideClientButton: true,
  showDeveloperTools: "never",
  agent: { disabled: true },
  mcp: { disabled: true },
});
