import { useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { WebhookService } from "#proto/webhook/v2/webhook_service_pb.ts";
import guide from "../../../docs/guides/webhooks.md?raw";
import { Code } from "../task/code.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { Tabs } from "../ui/tabs.tsx";
import { words } from "../words.ts";

const text = words(
  {
    language: "Language",
    keys: "Public keys of this server",
    keysText:
      "The platform's signature is checked with the RSA key, v1a of Standard Webhooks with the ed25519 key. Cache them for an hour.",
    secretText:
      "v1 of Standard Webhooks is checked with the signing secret of the webhook. It is shown once, when the webhook is made.",
  },
  {
    language: "Sprache",
    keys: "Öffentliche Schlüssel dieses Servers",
    keysText:
      "Die Signatur der Plattform wird mit dem RSA-Schlüssel geprüft, v1a von Standard Webhooks mit dem ed25519-Schlüssel. Behalten Sie sie eine Stunde.",
    secretText:
      "v1 von Standard Webhooks wird mit dem Signaturgeheimnis des Webhooks geprüft. Es wird einmal gezeigt, wenn der Webhook entsteht.",
  },
);

/** The code of the guide by language. Tests run it against signed deliveries (test/docs/webhooks.test.ts). */
const samples: ReadonlyMap<string, { readonly language: string; readonly code: string }> = new Map(
  guide.split("\n### ").flatMap((section) => {
    const [, language, code] = /^```(\w+)\n(.*?)\n```$/ms.exec(section) ?? [];
    const [title = ""] = section.split("\n");
    return language === undefined || code === undefined || title.startsWith("#")
      ? []
      : [[title, { language, code }] as const];
  }),
);
const titles = [...samples.keys()];

/** Functions that check both signatures of a delivery, in five languages, and the keys that they need. */
export default function WebhookCode() {
  const [title, setTitle] = useState(titles[0] ?? "");
  const keys = useQuery(WebhookService.method.getWebhookPublicKey, {}, { staleTime: 3_600_000 });
  const sample = samples.get(title);
  return (
    <div className="stack">
      <Tabs
        label={text.language}
        options={titles.map((each) => [each, each] as const)}
        value={title}
        onValue={setTitle}
      >
        {sample && <Code language={sample.language} text={sample.code} />}
      </Tabs>
      <h3>{text.keys}</h3>
      <p className="small">
        {text.keysText} {text.secretText}
      </p>
      <ErrorNote error={keys.error} />
      {keys.data && (
        <>
          <Code language="RSA" text={keys.data.publicKey.trim()} />
          <Code language="ed25519" text={keys.data.ed25519PublicKey} />
        </>
      )}
    </div>
  );
}
