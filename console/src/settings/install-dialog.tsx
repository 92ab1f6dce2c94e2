import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { ConnectorService } from "#proto/settings/v1/connector_service_pb.ts";
import { useRole } from "../api/me.ts";
import { CheckField, SelectField, TextField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { discardForm } from "../ui/form-draft.tsx";
import { words } from "../words.ts";

const text = words(
  {
    name: "Name",
    url: "Address of the MCP server",
    auth: "Sign-in",
    auths: { none: "None", header: "Token in a header", oauth: "OAuth" },
    header: "Header",
    headerHint: "Empty: Authorization.",
    value: "Value",
    valueHint: "For example Bearer and the token. It is stored encrypted and never shown again.",
    clientId: "Client id",
    clientHint: "Empty: the platform registers itself, if the server allows it.",
    clientSecret: "Client secret",
    isDefault: "In every task",
    forSpace: "For all members of this space",
  },
  {
    name: "Name",
    url: "Adresse des MCP-Servers",
    auth: "Anmeldung",
    auths: { none: "Keine", header: "Token in einem Header", oauth: "OAuth" },
    header: "Header",
    headerHint: "Leer: Authorization.",
    value: "Wert",
    valueHint: "Zum Beispiel Bearer und das Token. Er wird verschlüsselt gespeichert und nie wieder gezeigt.",
    clientId: "Client-ID",
    clientHint: "Leer: die Plattform registriert sich selbst, wenn der Server es erlaubt.",
    clientSecret: "Client-Secret",
    isDefault: "In jeder Aufgabe",
    forSpace: "Für alle in diesem Bereich",
  },
);

type Auth = keyof typeof text.auths;

const draft = "connector new";

/** The form of a new connector. One with OAuth goes on to the sign-in of its provider. */
export function InstallDialog({
  title,
  onClose,
  onInstalled,
}: {
  title: string;
  onClose: () => void;
  onInstalled: () => void;
}) {
  const { isAdmin } = useRole();
  const [form, setForm] = useState({
    name: "",
    url: "",
    header: "",
    value: "",
    clientId: "",
    clientSecret: "",
  });
  const [auth, setAuth] = useState<Auth>("none");
  const [isDefault, setDefault] = useState(true);
  const [forSpace, setForSpace] = useState(false);
  const authorize = useMutation(ConnectorService.method.beginAuthorization, {
    onSuccess: ({ authorizationUrl }) => location.assign(authorizationUrl),
  });
  const install = useMutation(ConnectorService.method.installConnector, {
    onSuccess: ({ connector }) => {
      discardForm(draft);
      onInstalled();
      if (auth === "oauth" && connector) authorize.mutate({ id: connector.id });
      else onClose();
    },
  });
  const field = (key: keyof typeof form) => ({
    label: text[key],
    value: form[key],
    onValue: (value: string) => setForm((typed) => ({ ...typed, [key]: value })),
  });
  const credentials = {
    none: { case: undefined },
    header: { case: "header" as const, value: { name: form.header, value: form.value } },
    oauth: { case: "oauth" as const, value: { clientId: form.clientId, clientSecret: form.clientSecret } },
  };
  const server = { case: "http" as const, value: { url: form.url, auth: credentials[auth] } };
  return (
    <FormDialog
      submit={title}
      {...{
        title,
        onClose,
        error: install.error ?? authorize.error,
        isPending: install.isPending || authorize.isPending,
      }}
      draft={draft}
      onSubmit={() => install.mutate({ name: form.name, isDefault, forSpace, server })}
    >
      <TextField required maxLength={100} {...field("name")} />
      <TextField
        type="url"
        required
        maxLength={2048}
        placeholder="https://mcp.example.com/mcp"
        {...field("url")}
      />
      <SelectField<Auth>
        label={text.auth}
        value={auth}
        options={[
          ["none", text.auths.none],
          ["header", text.auths.header],
          ["oauth", text.auths.oauth],
        ]}
        onValue={setAuth}
      />
      {auth === "header" && (
        <>
          <TextField maxLength={64} hint={text.headerHint} {...field("header")} />
          <TextField
            type="password"
            autoComplete="off"
            required
            maxLength={8192}
            hint={text.valueHint}
            {...field("value")}
          />
        </>
      )}
      {auth === "oauth" && (
        <>
          <TextField maxLength={512} hint={text.clientHint} {...field("clientId")} />
          <TextField type="password" autoComplete="off" maxLength={2048} {...field("clientSecret")} />
        </>
      )}
      <CheckField label={text.isDefault} checked={isDefault} onValue={setDefault} />
      {isAdmin && <CheckField label={text.forSpace} checked={forSpace} onValue={setForSpace} />}
    </FormDialog>
  );
}
