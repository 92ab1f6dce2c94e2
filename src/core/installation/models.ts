import type { Cipher } from "../cipher.ts";
import { Failure, invalidArgument, notFound } from "../failure.ts";
import type { JsonObject } from "../json.ts";
import type { Tx } from "../store.ts";

/** A model that an operator has set, as the database has it. */
export interface StoredModel {
  readonly name: string;
  /** Its entry, as MODELS_FILE has it, without key and headers. */
  readonly entry: JsonObject;
  /** `ModelSecrets` as JSON, sealed; null without any. */
  readonly secrets: Uint8Array<ArrayBuffer> | null;
  /** The last four characters of the key; null without a key, and for a short one. */
  readonly keyEnd: string | null;
  /** Its prices, as PRICES has them; null without prices. */
  readonly price: JsonObject | null;
  /** The profiles that it serves, unless AGENT_PROFILES names them. */
  readonly profiles: readonly string[];
  /** Unix milliseconds. */
  readonly updatedAt: number;
}

/** What is sent to the endpoint and never shown. */
export interface ModelSecrets {
  readonly apiKey: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

export interface ModelRows {
  /** By name. */
  list(): Promise<readonly StoredModel[]>;
  /** Inserts or replaces it. */
  put(model: StoredModel): Promise<void>;
  /** False when there is none. */
  remove(name: string): Promise<boolean>;
}

/** Binds secrets to their model, so that they cannot be opened as those of another one. */
export const modelContext = (name: string): string => `model ${name}`;

const noSecrets: ModelSecrets = { apiKey: null, headers: {} };

export const openModelSecrets = (
  cipher: Pick<Cipher, "open">,
  { name, secrets }: Pick<StoredModel, "name" | "secrets">,
): ModelSecrets =>
  // Safe cast: `setModel` sealed them.
  secrets === null
    ? noSecrets
    : (JSON.parse(Buffer.from(cipher.open(secrets, modelContext(name))).toString()) as ModelSecrets);

/** The end of a key that people may see: nothing of a short one. */
export const endOfKey = (key: string | null): string | null =>
  key === null || key.length < 12 ? null : key.slice(-4);

/** What a caller gives of a model. Absent secrets are those that are stored. */
export interface GivenModel extends Partial<ModelSecrets> {
  readonly name: string;
  /** A valid entry, without headers. */
  readonly entry: JsonObject;
}

/**
 * The secrets for a given entry. Stored ones are sent only to the base URL, or the search service, for which
 * they were given: otherwise a change would disclose them.
 */
export function secretsFor(
  cipher: Pick<Cipher, "open">,
  { entry, apiKey, headers }: GivenModel,
  stored: StoredModel | undefined,
): ModelSecrets {
  const isSame = ["base_url", "provider"].every((name) => stored?.entry[name] === entry[name]);
  const known = stored && isSame ? openModelSecrets(cipher, stored) : noSecrets;
  return {
    apiKey: apiKey === undefined ? known.apiKey : apiKey,
    headers: headers ?? known.headers,
  };
}

const modelsMax = 50;

export interface ModelParts {
  readonly clock: { now(): number };
  readonly cipher: Pick<Cipher, "seal" | "open">;
  /** The names of the models of MODELS_FILE. */
  readonly inFile: readonly string[];
  /** The profiles that AGENT_PROFILES does not name. */
  readonly freeProfiles: readonly string[];
}

interface ModelSetting extends GivenModel {
  readonly price: JsonObject | null;
  /** Empty: its own, or for a new model all that no other model serves. */
  readonly profiles: readonly string[];
}

/**
 * Stores a model, and takes its profiles from others.
 *
 * @throws Failure `failed_precondition` for a model of MODELS_FILE, `invalid_argument` for a profile that it
 * cannot serve, and when there are too many models.
 */
export async function setModel(tx: Tx, setting: ModelSetting, parts: ModelParts): Promise<StoredModel> {
  const { clock, cipher, inFile } = parts;
  const { name, entry, price } = setting;
  // A search service serves no profile.
  const freeProfiles = entry["api"] === "search" ? [] : parts.freeProfiles;
  refuseInFile(name, inFile);
  const all = await tx.models.list();
  const before = all.find((model) => model.name === name);
  const others = all.filter((model) => model !== before);
  if (!before && all.length >= modelsMax) throw invalidArgument("name", `must be one of ${modelsMax} models`);
  setting.profiles.forEach((profile, at) => {
    if (!freeProfiles.includes(profile))
      throw invalidArgument(`profiles[${at}]`, "must be a profile that AGENT_PROFILES does not name");
  });
  const unserved = freeProfiles.filter(
    (profile) => !others.some(({ profiles }) => profiles.includes(profile)),
  );
  const profiles = setting.profiles.length > 0 ? setting.profiles : (before?.profiles ?? unserved);
  for (const other of others.filter((each) => each.profiles.some((profile) => profiles.includes(profile))))
    await tx.models.put({
      ...other,
      profiles: other.profiles.filter((profile) => !profiles.includes(profile)),
    });
  const secrets = secretsFor(cipher, setting, before);
  const isEmpty = secrets.apiKey === null && Object.keys(secrets.headers).length === 0;
  const after: StoredModel = {
    name,
    entry,
    secrets: isEmpty ? null : cipher.seal(Buffer.from(JSON.stringify(secrets)), modelContext(name)),
    keyEnd: endOfKey(secrets.apiKey),
    price,
    profiles,
    updatedAt: clock.now(),
  };
  await tx.models.put(after);
  tx.audit.note({ subject: name, ...(before && { before: factsOf(before) }), after: factsOf(after) });
  return after;
}

/** @throws Failure `not_found`, `failed_precondition` for a model of MODELS_FILE. */
export async function removeModel(
  tx: Tx,
  name: string,
  { inFile }: Pick<ModelParts, "inFile">,
): Promise<void> {
  refuseInFile(name, inFile);
  const before = (await tx.models.list()).find((model) => model.name === name);
  if (!before) throw notFound("model", "name");
  await tx.models.remove(name);
  tx.audit.note({ subject: name, before: factsOf(before) });
}

function refuseInFile(name: string, inFile: readonly string[]): void {
  if (inFile.includes(name))
    throw new Failure("failed_precondition", "MODELS_FILE has a model of this name: change it there", {
      path: "name",
    });
}

/** For the audit log: where its tasks are sent, and no secret. */
const factsOf = ({ entry, keyEnd, profiles }: StoredModel) => ({
  api: String(entry["api"]),
  baseUrl: String(entry["base_url"]),
  model: String(entry["model"]),
  keyEnd: keyEnd ?? "",
  profiles: profiles.join(" "),
});
