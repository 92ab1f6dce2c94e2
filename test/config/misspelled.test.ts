import { describe, expect, test } from "vitest";
import { findMisspeltSettings } from "../../src/config/config.ts";

const warningsOf = (...names: string[]) =>
  findMisspeltSettings(Object.fromEntries(names.map((name) => [name, "a-secret-value"])));

/** Variables that shells, service managers, containers, CI systems and other programs set. */
const usual = `
  _ BASH CI COLORTERM COLUMNS CONDA_PREFIX COREPACK_HOME DEBIAN_FRONTEND DISPLAY EDITOR EUID FORCE_COLOR FUNCNAME GPG_TTY GROUPS
  HISTFILE HOME HOST HOSTNAME HOSTTYPE IFS INFOPATH INIT_CWD INVOCATION_ID JAVA_HOME JOURNAL_STREAM LANG LANGUAGE LC_ALL LC_CTYPE
  LD_LIBRARY_PATH LESS LINES LISTEN_FDS LISTEN_PID LOGNAME LS_COLORS MACHTYPE MAIL MAILCHECK MAINPID MANPATH MEMORY_PRESSURE_WATCH
  NODE NODE_COMPILE_CACHE NODE_ENV NODE_EXTRA_CA_CERTS NODE_OPTIONS NODE_PATH NODE_VERSION NOTIFY_SOCKET NO_COLOR NO_PROXY NVM_DIR
  OLDPWD OSTYPE PAGER PATH PIPESTATUS POD_IP POD_NAME POD_NAMESPACE PPID PS1 PWD PYTHONPATH RANDOM SECONDS SHELL SHELLOPTS SHLVL SORT
  SSH_AGENT_PID SSH_AUTH_SOCK SSH_CLIENT SSH_CONNECTION SSH_TTY STATE_DIRECTORY CACHE_DIRECTORY LOGS_DIRECTORY RUNTIME_DIRECTORY
  CREDENTIALS_DIRECTORY SUDO_COMMAND SUDO_GID SUDO_UID SUDO_USER SYSTEMD_EXEC_PID TEMP TERM TERM_PROGRAM TMP TMPDIR TMUX TZ UID USER
  USERNAME VIRTUAL_ENV VISUAL WATCHDOG_USEC WINDOWID XAUTHORITY XDG_DATA_DIRS XDG_RUNTIME_DIR XDG_SESSION_ID YARN_VERSION container
  http_proxy https_proxy no_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY SSL_CERT_FILE SSL_CERT_DIR SSLKEYLOGFILE
  npm_command npm_config_cache npm_config_loglevel npm_execpath npm_lifecycle_event npm_node_execpath npm_package_name npm_package_version
  PGDATA PGDATABASE PGHOST PGPASSWORD PGPORT PGUSER POSTGRES_DB POSTGRES_HOST POSTGRES_PASSWORD POSTGRES_PORT POSTGRES_USER
  REDIS_URL MYSQL_HOST AWS_ACCESS_KEY_ID AWS_PROFILE AWS_REGION AWS_SECRET_ACCESS_KEY GOOGLE_APPLICATION_CREDENTIALS AZURE_CLIENT_ID
  OPENAI_API_KEY ANTHROPIC_API_KEY OTEL_EXPORTER_OTLP_ENDPOINT SENTRY_DSN DOCKER_HOST DOCKER_CONFIG KUBECONFIG API_URL
  KUBERNETES_PORT KUBERNETES_PORT_443_TCP KUBERNETES_PORT_443_TCP_ADDR KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT_HTTPS
  WEBHOOK_SERVICE_HOST WEBHOOK_PORT_443_TCP_PROTO MAIL_PORT SMTP_PORT_25_TCP S3_SERVICE_PORT
  GITHUB_ACTIONS GITHUB_REF GITHUB_TOKEN GITHUB_WORKSPACE RUNNER_OS RUNNER_TEMP GITLAB_CI CI_JOB_ID BUILD_ID BUILD_NUMBER JENKINS_URL
  AGENT_ID AGENT_NAME AGENT_OS TF_BUILD HEROKU_APP_NAME DYNO RAILWAY_ENVIRONMENT RENDER FLY_APP_NAME VERCEL VITEST
`
  .trim()
  .split(/\s+/);

describe("a variable that resembles a setting but is not one", () => {
  test.each([
    ["PROT", "PORT"],
    ["port", "PORT"],
    ["DATABASE_URI", "DATABASE_URL"],
    ["DATADIR", "DATA_DIR"],
    ["LOGLEVEL", "LOG_LEVEL"],
    ["AGENT_PROFILE", "AGENT_PROFILES"],
    ["ENCRYPTON_KEY", "ENCRYPTION_KEY"],
    ["CONSENT_ULR", "CONSENT_URL"],
    ["ADMN_PORT", "ADMIN_PORT"],
  ])("%s is reported with the similar setting %s", (name, meant) => {
    expect(warningsOf(name)).toEqual([`${name} is not a setting; did you mean ${meant}?`]);
  });

  test.each([
    "WEBHOOK_SECRET",
    "S3_KEY",
    "OIDC_SCOPES",
    "SMTP_PASSWORD",
    "TRUST_PROXIES",
    "BODY_SIZE",
  ])("%s is reported for its prefix", (name) => {
    expect(warningsOf(name)).toEqual([
      `${name} is not a setting; docs/reference/configuration.md lists them`,
    ]);
  });

  test("is reported without its value, and shortened", () => {
    const [warning = ""] = warningsOf(`WEBHOOK_${"X".repeat(500)}`);
    expect(warning).not.toContain("a-secret-value");
    expect(warning.length).toBeLessThan(150);
  });
});

test("settings themselves are not reported", () => {
  expect(warningsOf("PORT", "HOST", "DATABASE_URL", "S3_BUCKET", "DATA_DIR_SHARED", "PRICES")).toEqual([]);
});

test("usual variables of shells, service managers, containers and other programs are not reported", () => {
  expect(warningsOf(...usual)).toEqual([]);
});
