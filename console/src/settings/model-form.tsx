import type { JsonObject } from "@bufbuild/protobuf";
import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { type Model, ModelService, type TestModelResponse } from "#proto/installation/v1/model_service_pb.ts";
import { ErrorNote } from "../ui/error-note.tsx";
import { CheckField, SelectField, TextField } from "../ui/fields.tsx";
import { Icon } from "../ui/icons.tsx";
import styles from "./model-form.module.css";
import { text } from "./model-words.ts";

/** What a provider needs, as far as it is known. */
const presets = {
  openai: { api: "openai", base_url: "https://api.openai.com/v1", context_tokens: 128_000 },
  responses: {
    api: "openai-responses",
    base_url: "https://api.openai.com/v1",
    context_tokens: 128_000,
    max_output_tokens: 8_192,
  },
  anthropic: {
    api: "anthropic",
    base_url: "https://api.anthropic.com/v1",
    context_tokens: 200_000,
    max_output_tokens: 8_192,
  },
  local: { api: "openai", base_url: "http://127.0.0.1:11434/v1", context_tokens: 32_000 },
  other: { api: "openai", base_url: "https://", context_tokens: 32_000 },
  tavily: { api: "search", provider: "tavily" },
  exa: { api: "search", provider: "exa" },
  brave: { api: "search", provider: "brave" },
} as const satisfies Readonly<Record<string, JsonObject>>;
type Provider = keyof typeof presets;
const providers = Object.keys(presets) as Provider[];

/** The texts of the form. */
interface Draft {
  readonly provider: Provider;
  readonly entry: JsonObject;
  readonly apiKey: string;
  readonly profiles: readonly string[];
}

/** True for the entry of a search service, which has a key and nothing else to set. */
export const isSearch = (entry: JsonObject | undefined): boolean => entry?.["api"] === "search";

const providerOf = ({ entry }: Model): Provider =>
  providers.find((name) => {
    const preset: JsonObject = presets[name];
    return ["api", "base_url", "provider"].every((member) => preset[member] === entry?.[member]);
  }) ?? "other";

const newDraft = (provider: Provider, profiles: readonly string[]): Draft => ({
  provider,
  entry: { ...presets[provider], ...(isSearch(presets[provider]) ? {} : { model: "" }) },
  apiKey: "",
  profiles,
});

/** The name of a new model: that of its provider, or the next free one. */
function freeName(provider: Provider, known: readonly Model[]): string {
  const isTaken = (name: string) => known.some((model) => model.name === name);
  let name: string = provider;
  for (let next = 2; isTaken(name); next += 1) name = `${provider}-${next}`;
  return name;
}

const withMember = (draft: Draft, member: JsonObject): Draft => ({
  ...draft,
  entry: { ...draft.entry, ...member },
});

interface FormParts {
  /** The model that is edited; absent for a new one. */
  readonly model?: Model | undefined;
  readonly known: readonly Model[];
  /** The profiles that a model can serve. */
  readonly profiles: readonly string[];
  readonly onSaved: () => void;
}

/** The state of a form that adds or edits a model. */
export function useModelForm({ model, known, profiles, onSaved }: FormParts) {
  const unserved = profiles.filter((profile) => !known.some((each) => each.profiles.includes(profile)));
  const [draft, setDraft] = useState<Draft>(
    model
      ? { provider: providerOf(model), entry: { ...model.entry }, apiKey: "", profiles: model.profiles }
      : newDraft("openai", unserved),
  );
  const save = useMutation(ModelService.method.setModel, { onSuccess: onSaved });
  // A model that has seen the picture of the test gets pictures.
  const probe = useMutation(ModelService.method.testModel, {
    onSuccess: ({ failure, images }) => failure === "" && setDraft((now) => withMember(now, { images })),
  });
  const name = model?.name ?? freeName(draft.provider, known);
  const { entry, apiKey } = draft;
  const given = { name, entry, ...(apiKey.trim() === "" ? {} : { apiKey: apiKey.trim() }) };
  return {
    model,
    draft,
    // A search without a model is of no use.
    providers: providers.filter((each) => known.length > 0 || !isSearch(presets[each])),
    allProfiles: profiles,
    setDraft(next: Draft) {
      probe.reset();
      setDraft(next);
    },
    test: () => probe.mutate(given),
    save: () =>
      save.mutate({
        ...given,
        profiles: isSearch(entry) ? [] : [...draft.profiles],
        ...(model?.price ? { price: model.price } : {}),
      }),
    isReady: isSearch(entry)
      ? apiKey.trim() !== "" || model?.keyEnd !== undefined
      : String(entry["model"]).trim() !== "",
    isPending: save.isPending,
    isTesting: probe.isPending,
    error: save.error ?? probe.error,
    result: probe.data,
  };
}

type ModelForm = ReturnType<typeof useModelForm>;

/** The fields of a model, with a button that tests it. */
export function ModelFields({ form }: { form: ModelForm }) {
  const { model, draft, setDraft } = form;
  const { provider, entry, apiKey } = draft;
  const setMember = (member: JsonObject) => setDraft(withMember(draft, member));
  const hasUrl = provider === "local" || provider === "other";
  return (
    <>
      {!model && (
        <SelectField
          label={text.provider}
          value={provider}
          options={form.providers.map((name) => [name, text.providers[name]] as const)}
          onValue={(next) => setDraft({ ...newDraft(next, draft.profiles), apiKey })}
        />
      )}
      {hasUrl && (
        <TextField
          label={text.baseUrl}
          required
          type="url"
          value={String(entry["base_url"])}
          onValue={(base_url) => setMember({ base_url })}
        />
      )}
      <TextField
        label={text.key}
        type="password"
        autoComplete="off"
        required={!hasUrl && !model}
        maxLength={4096}
        hint={model?.keyEnd === undefined ? text.keyHint : text.keyKept(model.keyEnd)}
        value={apiKey}
        onValue={(next) => setDraft({ ...draft, apiKey: next })}
      />
      {!isSearch(entry) && <ModelMembers {...{ form, setMember }} />}
      <div className={styles.test} role="status">
        <button
          type="button"
          className="button"
          disabled={!form.isReady || form.isTesting}
          onClick={form.test}
        >
          <Icon name="spark" />
          {form.isTesting ? text.testing : text.test}
        </button>
        {form.result && <Result result={form.result} isSearch={isSearch(entry)} />}
      </div>
    </>
  );
}

interface MembersProps {
  readonly form: ModelForm;
  readonly setMember: (member: JsonObject) => void;
}

/** What only a model has. */
function ModelMembers({ form, setMember }: MembersProps) {
  const { entry } = form.draft;
  return (
    <>
      <TextField
        label={text.model}
        required
        maxLength={200}
        hint={text.modelHint}
        value={String(entry["model"])}
        onValue={(next) => setMember({ model: next.trim() })}
      />
      <details>
        <summary>{text.more}</summary>
        <div className={`stack ${styles.more}`}>
          <TextField
            label={text.context}
            required
            type="number"
            min={2_000}
            max={10_000_000}
            value={String(entry["context_tokens"])}
            onValue={(next) => setMember({ context_tokens: Number(next) })}
          />
          <CheckField
            label={text.images}
            checked={entry["images"] === true}
            onValue={(images) => setMember({ images })}
          />
          {form.allProfiles.length > 0 && <ProfileChoice form={form} />}
        </div>
      </details>
    </>
  );
}

function ProfileChoice({ form: { draft, setDraft, allProfiles } }: { form: ModelForm }) {
  const { profiles } = draft;
  return (
    <fieldset className={styles.profiles}>
      <legend>{text.serves}</legend>
      {allProfiles.map((profile) => (
        <CheckField
          key={profile}
          label={profile}
          checked={profiles.includes(profile)}
          onValue={(isChosen) =>
            setDraft({
              ...draft,
              profiles: isChosen ? [...profiles, profile] : profiles.filter((other) => other !== profile),
            })
          }
        />
      ))}
    </fieldset>
  );
}

const abilities = ["text", "tools", "images", "cachedTokens"] as const;

/** What works, or why the call failed. */
function Result({ result, isSearch: isPlain }: { result: TestModelResponse; isSearch: boolean }) {
  const { failure, status } = result;
  if (failure !== "")
    return (
      <p className={`${styles.result} ${styles.failed}`}>
        <Icon name="failed" />
        <span>
          {text.failures[failure] ?? failure}
          {status > 0 && text.status(status)}
        </span>
      </p>
    );
  return (
    <div className="stack tight">
      <p className={`${styles.result} ${styles.works}`}>
        <Icon name="done" />
        {text.works}
      </p>
      {!isPlain && (
        <ul className={styles.abilities}>
          {abilities.map((ability) => (
            <li key={ability} className={result[ability] ? styles.works : "muted"}>
              <Icon name={result[ability] ? "done" : "close"} />
              {text.abilities[ability]}
            </li>
          ))}
        </ul>
      )}
      {!isPlain && !result.tools && <p className="muted">{text.noTools}</p>}
    </div>
  );
}

/** The form of a first model, on a page. */
export function NewModel(parts: Omit<FormParts, "model">) {
  const form = useModelForm(parts);
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        form.save();
      }}
    >
      <ModelFields form={form} />
      <ErrorNote error={form.error} />
      <p>
        <button type="submit" className="button primary" disabled={form.isPending || !form.isReady}>
          {text.save}
        </button>
      </p>
    </form>
  );
}
