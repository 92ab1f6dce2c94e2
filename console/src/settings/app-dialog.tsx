import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { ConnectorService } from "#proto/connector/v2/connector_service_pb.ts";
import type { OAuth2App } from "#proto/oauth/v2/oauth2_app_pb.ts";
import { OAuth2AppService } from "#proto/oauth/v2/oauth2_app_service_pb.ts";
import { AreaField, CheckField, TextField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { words } from "../words.ts";
import { linesOf, originsFault, redirectFault } from "./app-addresses.ts";
import { scopeTexts } from "./scopes.tsx";

const text = words(
  {
    create: "New app",
    edit: "Edit the app",
    save: "Save",
    name: "Name",
    nameHint: "People see it when they are asked for their consent.",
    description: "Description",
    redirects: "Redirect URIs",
    redirectsHint: "One in each line. A request must match one of them exactly.",
    origins: "Origins of pages",
    originsHint:
      "One in each line, for example https://app.example.com. Their pages can call the API with access tokens of the app.",
    homepage: "Home page",
    webhook: "Webhook",
    webhookHint: "An https address that receives the events of the app's tasks.",
    scopes: "What it may do",
    connectors: "Connectors that it may ask for",
    confidential: "Every exchange needs a client secret",
    confidentialHint: "Choose it for an app on a server. PKCE alone is then not enough.",
    loopback: "Any port on 127.0.0.1",
    loopbackHint: "Choose it for an app on people's own computers.",
    device: "Sign-in with a code",
    deviceHint:
      "For terminals and devices without a browser: people enter a short code on a page of this server.",
    service: "Acts as itself, with its secret",
    serviceHint:
      "Without a person. It creates tasks on your account, reaches only what it created, and cannot approve actions.",
    expands: "New scopes or connectors end all tokens of the app: its users must agree again.",
  },
  {
    create: "Neue App",
    edit: "App bearbeiten",
    save: "Speichern",
    name: "Name",
    nameHint: "Personen sehen ihn, wenn sie um Zustimmung gebeten werden.",
    description: "Beschreibung",
    redirects: "Redirect-URIs",
    redirectsHint: "Eine je Zeile. Eine Anfrage muss genau mit einer übereinstimmen.",
    origins: "Herkünfte von Seiten",
    originsHint:
      "Eine je Zeile, zum Beispiel https://app.example.com. Ihre Seiten können die API mit Zugriffstoken der App aufrufen.",
    homepage: "Homepage",
    webhook: "Webhook",
    webhookHint: "Eine https-Adresse, die die Ereignisse der Aufgaben der App erhält.",
    scopes: "Was sie darf",
    connectors: "Konnektoren, um die sie bitten darf",
    confidential: "Jeder Tausch braucht ein Client-Secret",
    confidentialHint: "Für eine App auf einem Server. PKCE allein genügt dann nicht.",
    loopback: "Jeder Port auf 127.0.0.1",
    loopbackHint: "Für eine App auf den Rechnern der Personen.",
    device: "Anmeldung mit einem Code",
    deviceHint:
      "Für Terminals und Geräte ohne Browser: Personen geben einen kurzen Code auf einer Seite dieses Servers ein.",
    service: "Handelt als sie selbst, mit ihrem Secret",
    serviceHint:
      "Ohne eine Person. Sie erstellt Aufgaben auf Ihrem Konto, erreicht nur, was sie erstellt hat, und kann nichts freigeben.",
    expands: "Neue Rechte oder Konnektoren beenden alle Token der App: ihre Nutzer müssen erneut zustimmen.",
  },
);

const changed = [
  "name",
  "description",
  "redirect_uris",
  "allowed_origins",
  "homepage_url",
  "webhook_url",
  "confidential_only",
  "loopback_any_port",
  "scope_config",
  "device_authorization",
  "client_credentials",
];

const valuesOf = (app: OAuth2App | undefined) => ({
  name: app?.name ?? "",
  description: app?.description ?? "",
  redirects: app?.redirectUris.join("\n") ?? "",
  origins: app?.allowedOrigins.join("\n") ?? "",
  homepageUrl: app?.homepageUrl ?? "",
  webhookUrl: app?.webhookUrl ?? "",
  scopes: app?.scopeConfig?.scopes ?? ["create_task"],
  connectorUids: app?.scopeConfig?.connectorUids ?? [],
  confidentialOnly: app?.confidentialOnly ?? false,
  loopbackAnyPort: app?.loopbackAnyPort ?? false,
  deviceAuthorization: app?.deviceAuthorization ?? false,
  clientCredentials: app?.clientCredentials ?? false,
});

type Values = ReturnType<typeof valuesOf>;

/** The parts of the request that create and update share. */
function requestOf({ redirects, origins, scopes, connectorUids, ...rest }: Values) {
  const scopeConfig = { scopes, connectorUids: scopes.includes("use_connectors") ? connectorUids : [] };
  return { ...rest, redirectUris: linesOf(redirects), allowedOrigins: linesOf(origins), scopeConfig };
}

interface DialogProps {
  readonly app: OAuth2App | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
  /** Gets the first secret of a new app. */
  readonly onMade: (secret: string) => void;
}

/** Creates an app, or changes one. */
export function AppDialog({ app, onClose, onSaved, onMade }: DialogProps) {
  const [values, setValues] = useState(() => valuesOf(app));
  const set = (part: Partial<Values>): void => setValues((typed) => ({ ...typed, ...part }));
  const create = useMutation(OAuth2AppService.method.createOAuth2App, {
    onSuccess: ({ clientSecret }) => {
      onSaved();
      onMade(clientSecret);
    },
  });
  const update = useMutation(OAuth2AppService.method.updateOAuth2App, {
    onSuccess: () => {
      onSaved();
      onClose();
    },
  });
  const request = requestOf(values);
  const save = (): void =>
    app
      ? update.mutate({ ...request, clientId: app.clientId, updateMask: { paths: changed } })
      : create.mutate(request);
  return (
    <FormDialog
      title={app ? text.edit : text.create}
      submit={app ? text.save : text.create}
      {...{ onClose, error: create.error ?? update.error, isPending: create.isPending || update.isPending }}
      draft={`app ${app?.clientId ?? "new"}`}
      isReady={redirectFault(values.redirects) === undefined && originsFault(values.origins) === undefined}
      onSubmit={save}
    >
      <TextField
        label={text.name}
        hint={text.nameHint}
        required
        maxLength={100}
        value={values.name}
        onValue={(name) => set({ name })}
      />
      <TextField
        label={text.description}
        maxLength={1000}
        value={values.description}
        onValue={(description) => set({ description })}
      />
      <AreaField
        label={text.redirects}
        hint={text.redirectsHint}
        fault={values.redirects === "" ? undefined : redirectFault(values.redirects)}
        {...{ rows: 3, required: true, spellCheck: false }}
        value={values.redirects}
        onValue={(redirects) => set({ redirects })}
      />
      <AreaField
        label={text.origins}
        hint={text.originsHint}
        fault={originsFault(values.origins)}
        {...{ rows: 2, spellCheck: false }}
        value={values.origins}
        onValue={(origins) => set({ origins })}
      />
      <Scopes {...values} onValue={set} />
      {app && isWider(app, request.scopeConfig) && <p className="notice">{text.expands}</p>}
      <TextField
        label={text.homepage}
        type="url"
        maxLength={2048}
        value={values.homepageUrl}
        onValue={(homepageUrl) => set({ homepageUrl })}
      />
      <TextField
        label={text.webhook}
        hint={text.webhookHint}
        type="url"
        maxLength={2048}
        value={values.webhookUrl}
        onValue={(webhookUrl) => set({ webhookUrl })}
      />
      <CheckField
        label={text.confidential}
        hint={text.confidentialHint}
        checked={values.confidentialOnly}
        onValue={(confidentialOnly) => set({ confidentialOnly })}
      />
      <CheckField
        label={text.loopback}
        hint={text.loopbackHint}
        checked={values.loopbackAnyPort}
        onValue={(loopbackAnyPort) => set({ loopbackAnyPort })}
      />
      <CheckField
        label={text.device}
        hint={text.deviceHint}
        checked={values.deviceAuthorization}
        onValue={(deviceAuthorization) => set({ deviceAuthorization })}
      />
      <CheckField
        label={text.service}
        hint={text.serviceHint}
        checked={values.clientCredentials}
        onValue={(clientCredentials) => set({ clientCredentials })}
      />
    </FormDialog>
  );
}

/** Whether an app asks for more than before. */
const isWider = (
  { scopeConfig }: OAuth2App,
  next: { scopes: readonly string[]; connectorUids: readonly string[] },
): boolean =>
  next.scopes.some((name) => !scopeConfig?.scopes.includes(name)) ||
  next.connectorUids.some((id) => !scopeConfig?.connectorUids.includes(id));

/** The list with one item added or taken out. */
const withItem = (list: readonly string[], item: string, on: boolean): string[] =>
  on ? [...list, item] : list.filter((other) => other !== item);

function Scopes({
  scopes,
  connectorUids,
  onValue,
}: Pick<Values, "scopes" | "connectorUids"> & { onValue: (part: Partial<Values>) => void }) {
  const wantsConnectors = scopes.includes("use_connectors");
  const connectors = useQuery(ConnectorService.method.listConnectors, {}, { enabled: wantsConnectors });
  return (
    <>
      <fieldset className="stack tight">
        <legend className="legend">{text.scopes}</legend>
        {Object.entries(scopeTexts).map(([name, title]) => (
          <CheckField
            key={name}
            label={title}
            hint={<code>{name}</code>}
            checked={scopes.includes(name)}
            onValue={(on) => onValue({ scopes: withItem(scopes, name, on) })}
          />
        ))}
      </fieldset>
      {wantsConnectors && (
        <fieldset className="stack tight">
          <legend className="legend">{text.connectors}</legend>
          {connectors.data?.data.map(({ id, name }) => (
            <CheckField
              key={id}
              label={name}
              checked={connectorUids.includes(id)}
              onValue={(on) => onValue({ connectorUids: withItem(connectorUids, id, on) })}
            />
          ))}
        </fieldset>
      )}
    </>
  );
}
