import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { type Model, ModelService } from "#proto/installation/v1/model_service_pb.ts";
import { FormDialog } from "../ui/form-dialog.tsx";
import { Icon } from "../ui/icons.tsx";
import { ListPage } from "./list-page.tsx";
import { isSearch, ModelFields, useModelForm } from "./model-form.tsx";
import { text } from "./model-words.ts";

/** The models of the installation, for operators. */
export default function ModelsPage() {
  const models = useQuery(ModelService.method.listModels, {});
  const [edited, setEdited] = useState<Model>();
  const known = models.data?.data;
  const parts = { known: known ?? [], profiles: models.data?.profiles ?? [] };
  return (
    <ListPage
      about={text.about}
      list={models}
      items={known}
      empty={text.none}
      add={{
        label: text.add,
        dialog: ({ onClose, onDone }) => <ModelDialog {...{ ...parts, onClose, onSaved: onDone }} />,
      }}
      removal={{
        method: ModelService.method.removeModel,
        input: ({ name }) => ({ name }),
        title: ({ name }) => text.removeTitle(name),
        submit: text.remove,
        text: text.removeText,
      }}
      row={(model, onRemove) => (
        <Row key={model.name} {...{ model, onRemove }} onEdit={() => setEdited(model)} />
      )}
    >
      {edited && (
        <ModelDialog
          {...parts}
          model={edited}
          onClose={() => setEdited(undefined)}
          onSaved={() => {
            setEdited(undefined);
            void models.refetch();
          }}
        />
      )}
    </ListPage>
  );
}

interface RowProps {
  readonly model: Model;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}

function Row({ model: { name, entry, keyEnd, profiles, fromFile }, onEdit, onRemove }: RowProps) {
  const service = isSearch(entry)
    ? [text.search(String(entry?.["provider"]))]
    : [String(entry?.["model"]), new URL(String(entry?.["base_url"])).host];
  const facts = [
    ...service,
    ...(keyEnd === undefined ? [] : [text.keyEnds(keyEnd)]),
    ...(isSearch(entry) ? [] : [profiles.length > 0 ? profiles.join(", ") : text.noProfile]),
  ];
  return (
    <li className="wrap">
      <Icon name="spark" />
      <span className="main">
        <strong>{name}</strong>
        <small>{facts.join(" · ")}</small>
      </span>
      <span className="actions">
        {fromFile ? (
          <span className="badge">{text.fromFile}</span>
        ) : (
          <>
            <button type="button" className="button" aria-label={`${text.edit}: ${name}`} onClick={onEdit}>
              {text.edit}
            </button>
            <button
              type="button"
              className="button"
              aria-label={`${text.remove}: ${name}`}
              onClick={onRemove}
            >
              {text.remove}
            </button>
          </>
        )}
      </span>
    </li>
  );
}

function ModelDialog({ onClose, ...parts }: Parameters<typeof useModelForm>[0] & { onClose: () => void }) {
  const { model } = parts;
  const form = useModelForm(parts);
  return (
    <FormDialog
      title={model ? text.editTitle(model.name) : text.add}
      submit={text.save}
      {...{ onClose, error: form.error, isPending: form.isPending, isReady: form.isReady }}
      onSubmit={form.save}
    >
      <ModelFields form={form} />
    </FormDialog>
  );
}
