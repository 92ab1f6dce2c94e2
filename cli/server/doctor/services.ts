import { existsSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { checkMailServer } from "../../../src/adapters/mail/mail.ts";
import type { Config } from "../../../src/config/config.ts";
import type { ModelConfig } from "../../../src/config/models.ts";
import { openBlobs } from "../../../src/modules/blobs.ts";
import { checkProvider } from "../../../src/sign-in-pages/provider.ts";
import { type Check, type Finding, fail, ok, warn } from "./finding.ts";

/** The id under which bytes are written, read and removed again. */
const probeId = "doctor-probe";
const probe = Buffer.from("written by atp doctor, which removes it");

export const storage = (config: Config): Check => ({
  name: "storage",
  advice: config.bucket
    ? "Check the settings S3_…, and that the credentials may write, read and delete objects of the bucket."
    : "Check the disk and the permissions of DATA_DIR.",
  async run(signal) {
    const folder = join(config.dataDir, "files");
    if (config.bucket === null && !existsSync(folder))
      return [ok(`no file is stored yet: the first one creates ${folder}`)];
    const blobs = openBlobs(config);
    try {
      await blobs.put(probeId, Readable.from([probe]), signal);
      const read = await buffer(await blobs.read(probeId));
      if (!read.equals(probe))
        return [
          fail(
            "what was written is not what is read",
            "Check the storage: it returns other bytes than it got.",
          ),
        ];
    } finally {
      await blobs.remove(probeId).catch(() => undefined);
    }
    return [
      ok(`${config.bucket ? `the bucket ${config.bucket.name}` : folder} takes, returns and deletes bytes`),
    ];
  },
});

export const mail = ({ mail: settings }: Pick<Config, "mail">): Check => ({
  name: "mail",
  advice:
    "Check SMTP_URL, its user and password, and that the mail server answers. Until then no mail is sent.",
  async run(signal) {
    if (settings === null) return [ok("SMTP_URL is not set: invitations are shown, not mailed")];
    await checkMailServer(settings, signal);
    return [
      ok(
        `${new URL(settings.url).host} accepts the connection${new URL(settings.url).username ? " and the credentials" : ""}`,
      ),
    ];
  },
});

export const signIn = ({ singleSignOn }: Pick<Config, "singleSignOn" | "consentUrl">): Check => ({
  name: "sign-in",
  advice:
    "Check OIDC_ISSUER: its address with /.well-known/openid-configuration must answer, with the same issuer.",
  async run() {
    if (singleSignOn === null) return [ok("OIDC_ISSUER is not set: people sign in with links and passwords")];
    const { authorizationEndpoint } = await checkProvider(singleSignOn);
    return [ok(`${singleSignOn.issuer} describes itself; people sign in at ${authorizationEndpoint}`)];
  },
});

const authOf = ({ api, apiKey }: ModelConfig): Readonly<Record<string, string>> => {
  if (api === "anthropic")
    return { "anthropic-version": "2023-06-01", ...(apiKey && { "x-api-key": apiKey }) };
  return apiKey ? { authorization: `Bearer ${apiKey}` } : {};
};

function judgeModel(name: string, { baseUrl }: ModelConfig, status: number): Finding {
  const found = `${name}: ${baseUrl} answers ${status}`;
  if (status === 401 || status === 403)
    return fail(`${found}: it refuses the key`, "Replace the key that MODELS_FILE names for this model.");
  if (status === 429)
    return warn(`${found}: a limit of the provider is reached`, "Wait, or raise the limit at the provider.");
  if (status >= 500) return warn(found, "The provider has a fault: look at its status page.");
  return ok(status < 300 ? found : `${found} to the list of models, which it may not have`);
}

async function checkModel(name: string, model: ModelConfig, signal: AbortSignal): Promise<Finding> {
  try {
    const headers = { ...model.headers, ...authOf(model) };
    const answer = await fetch(`${model.baseUrl}/models`, { headers, signal, redirect: "manual" });
    await answer.body?.cancel();
    return judgeModel(name, model, answer.status);
  } catch (error) {
    if (signal.aborted) throw error;
    const { cause } = error instanceof Error ? error : {};
    const text = cause instanceof Error && "code" in cause ? String(cause.code) : "no answer";
    return fail(
      `${name}: ${model.baseUrl} cannot be reached (${text})`,
      "Check base_url in MODELS_FILE, and that the endpoint runs.",
    );
  }
}

export const models = ({ models: all }: Pick<Config, "models">): Check => ({
  name: "models",
  advice: "Check base_url in MODELS_FILE, and that the endpoints answer.",
  async run(signal) {
    const entries = Object.entries(all);
    if (entries.length === 0) return [ok("MODELS_FILE is not set: no model is used")];
    return await Promise.all(entries.map(([name, model]) => checkModel(name, model, signal)));
  },
});
