import type { MessageInitShape } from "@bufbuild/protobuf";
import { defined } from "../core/defined.ts";
import { invalidArgument, notFound } from "../core/failure.ts";
import {
  endOfKey,
  type GivenModel,
  type ModelParts,
  type ModelSecrets,
  removeModel,
  type StoredModel,
  secretsFor,
  setModel,
} from "../core/installation/models.ts";
import type { JsonObject } from "../core/json.ts";
import type { Tx } from "../core/store.ts";
import type { Price } from "../core/usage/price.ts";
import {
  type ModelSchema,
  ModelService,
  type TestModelRequest,
} from "../gen/proto/installation/v1/model_service_pb.ts";
import { implement } from "../pipeline/handlers.ts";
import { toPrices } from "./agent-profile.ts";
import { seconds } from "./wire-values.ts";

/** A model as this process uses it. */
export interface UsedModel extends ModelSecrets {
  readonly baseUrl: string;
  readonly entry: JsonObject;
}

/** What holds with these stored models. */
export interface UsedModels {
  readonly models: Readonly<Record<string, UsedModel>>;
  readonly agentProfiles: Readonly<Record<string, string>>;
  readonly prices: Readonly<Record<string, Price>>;
}

/** The result of a test. */
export interface ModelTest {
  readonly text?: boolean;
  readonly tools?: boolean;
  readonly images?: boolean;
  readonly cachedTokens?: boolean;
  readonly failure?: string;
  readonly status?: number;
  readonly durationMs: number;
}

export interface ModelHandlerParts extends ModelParts {
  readonly store: Pick<Tx, "models">;
  readonly with: (stored: readonly StoredModel[]) => UsedModels;
  /** Reads the stored models again, after a change. */
  readonly refresh: () => Promise<void>;
  /** @throws Failure `invalid_argument` for an entry that breaks a rule. */
  readonly readEntry: (entry: JsonObject, secrets: ModelSecrets) => UsedModel;
  /** @throws Failure `invalid_argument` for prices that PRICES would refuse. */
  readonly checkPrice: (price: JsonObject) => void;
  /** Whether the guard lets requests to its base URL pass. */
  readonly mayReach: (baseUrl: string, signal: AbortSignal) => Promise<boolean>;
  readonly test: (model: UsedModel, signal: AbortSignal) => Promise<ModelTest>;
}

/** model.* (spec/api.md 8.126). */
export function modelHandlers(parts: ModelHandlerParts) {
  const { store, inFile, freeProfiles, refresh } = parts;

  async function list(tx: Pick<Tx, "models">) {
    const stored = await tx.models.list();
    const used = parts.with(stored);
    return Object.keys(used.models)
      .toSorted()
      .map((name) =>
        toMessage(name, used, inFile.includes(name) ? undefined : stored.find((row) => row.name === name)),
      );
  }

  return implement(ModelService, {
    async listModels(tx) {
      return { data: await list(tx), profiles: [...freeProfiles] };
    },
    setModel: {
      async prepare({ name, entry, apiKey, price, profiles }, _caller, gone) {
        const given = givenOf(name, entry, apiKey);
        const { baseUrl } = parts.readEntry(given.entry, noSecrets(given));
        if (!(await parts.mayReach(baseUrl, gone)))
          throw invalidArgument("entry.base_url", "must be a public https address, or one of MODEL_ALLOW");
        const prices = price ? pricesOf(price) : null;
        if (prices) parts.checkPrice(prices);
        return async (tx) => {
          await setModel(tx, { ...given, price: prices, profiles }, parts);
          tx.afterCommit(refresh);
          return { model: (await list(tx)).find((model) => model.name === name) };
        };
      },
    },
    async removeModel(tx, _caller, { name }) {
      await removeModel(tx, name, parts);
      tx.afterCommit(refresh);
      return { name };
    },
    testModel: {
      async prepare(request, _caller, gone) {
        const result = await parts.test(await modelToTest(request, parts), gone);
        const { durationMs, ...works } = result;
        return async () => ({ ...works, durationMs: BigInt(Math.round(durationMs)) });
      },
    },
  });

  /** The given model with the secrets that it would have, or a model of this installation. */
  async function modelToTest(
    { name, entry, apiKey }: TestModelRequest,
    { cipher, readEntry }: ModelHandlerParts,
  ): Promise<UsedModel> {
    const stored = await store.models.list();
    if (entry) {
      const given = givenOf(name, entry, apiKey);
      const before = stored.find((row) => row.name === name);
      return readEntry(given.entry, secretsFor(cipher, given, before));
    }
    const model = parts.with(stored).models[name];
    if (!model) throw notFound("model", "name");
    return model;
  }
}

const noSecrets = ({ headers = {} }: GivenModel): ModelSecrets => ({ apiKey: null, headers });

/** Headers are secrets; the rest of an entry is not. */
function givenOf(name: string, entry: JsonObject | undefined, apiKey: string | undefined): GivenModel {
  const { headers, ...rest } = entry ?? {};
  return {
    name,
    entry: rest,
    ...(apiKey === undefined ? {} : { apiKey: apiKey === "" ? null : apiKey }),
    // What is not an object of texts is refused as a part of the entry.
    ...(headers === undefined ? {} : { headers: headers as Readonly<Record<string, string>> }),
  };
}

function toMessage(
  name: string,
  { models, agentProfiles, prices }: UsedModels,
  stored: StoredModel | undefined,
): MessageInitShape<typeof ModelSchema> {
  const model = models[name];
  const profiles = Object.keys(agentProfiles).filter((profile) => agentProfiles[profile] === `model:${name}`);
  const keyEnd = stored ? stored.keyEnd : endOfKey(model?.apiKey ?? null);
  const [price] = profiles.flatMap((profile) => prices[profile] ?? []);
  return {
    name,
    entry: { ...model?.entry },
    ...(keyEnd === null ? {} : { keyEnd }),
    headerNames: Object.keys(model?.headers ?? {}),
    profiles,
    ...(price && { price: toPrices(price) }),
    fromFile: !stored,
    updatedAt: seconds(stored?.updatedAt ?? 0),
  };
}

const pricesOf = ({
  input,
  cachedInput,
  cacheWrite,
  output,
  toolCall,
  turn,
}: ReturnType<typeof toPrices>): JsonObject => ({
  input: input ?? 0,
  ...defined({ cached_input: cachedInput, cache_write: cacheWrite }),
  output: output ?? 0,
  tool_call: toolCall ?? 0,
  turn: turn ?? 0,
});
