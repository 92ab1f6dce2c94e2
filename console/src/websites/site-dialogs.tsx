import { useMutation } from "@connectrpc/connect-query";
import { useState } from "react";
import { WebsiteVisibility } from "#proto/website/v2/website_pb.ts";
import { WebsiteService } from "#proto/website/v2/website_service_pb.ts";
import { useRole } from "../api/me.ts";
import { CallDialog } from "../ui/call-dialog.tsx";
import { SelectField, TextField } from "../ui/fields.tsx";
import { FormDialog } from "../ui/form-dialog.tsx";
import { CheckpointsDialog } from "./checkpoints-dialog.tsx";
import { DomainsDialog } from "./domains-dialog.tsx";
import { nameOf, type Site } from "./site.ts";
import { ViewersDialog } from "./viewers-dialog.tsx";
import { text } from "./words.ts";

/** What a person can do with a website. */
export type Act =
  | "publish"
  | "checkpoints"
  | "change"
  | "viewers"
  | "domains"
  | "rename"
  | "unpublish"
  | "remove";

interface DialogProps {
  readonly site: Site;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** The dialog of an act. `onDone` is called when the website has changed. */
export default function SiteDialog({ act, ...props }: DialogProps & { act: Act }) {
  const { site, onClose, onDone } = props;
  switch (act) {
    case "publish":
      return <PublishDialog {...props} />;
    case "change":
      return <ChangeDialog {...props} />;
    case "rename":
      return <RenameDialog {...props} />;
    case "checkpoints":
      return <CheckpointsDialog {...props} />;
    case "domains":
      return <DomainsDialog site={site} onClose={onClose} />;
    case "viewers":
      return <ViewersDialog site={site} onClose={onClose} />;
    case "unpublish":
      return (
        <CallDialog
          method={WebsiteService.method.unpublishWebsite}
          input={{ websiteId: site.websiteId }}
          title={text.unpublishTitle(nameOf(site))}
          submit={text.unpublish}
          {...{ onClose, onDone }}
        >
          {text.unpublishText}
        </CallDialog>
      );
    case "remove":
      return (
        <CallDialog
          method={WebsiteService.method.deleteWebsite}
          input={{ websiteId: site.websiteId }}
          title={text.removeTitle(nameOf(site))}
          submit={text.remove}
          {...{ onClose, onDone }}
        >
          {text.removeText}
        </CallDialog>
      );
  }
}

/** Calls, and closes the dialog of a website that has changed. */
const closing = ({ onClose, onDone }: DialogProps) => ({
  onSuccess: (): void => {
    onDone();
    onClose();
  },
});

function PublishDialog({ site, ...end }: DialogProps) {
  const [visibility, setVisibility] = useVisibility(site);
  const publish = useMutation(WebsiteService.method.publishWebsite, closing({ site, ...end }));
  return (
    <FormDialog
      title={`${text.publish}: ${nameOf(site)}`}
      submit={text.publish}
      {...{ onClose: end.onClose, error: publish.error, isPending: publish.isPending }}
      onSubmit={() => publish.mutate({ websiteId: site.websiteId, visibility })}
    >
      <Visibility value={visibility} onValue={setVisibility} />
    </FormDialog>
  );
}

function ChangeDialog({ site, ...end }: DialogProps) {
  const [visibility, setVisibility] = useVisibility(site);
  const update = useMutation(WebsiteService.method.updateWebsite, closing({ site, ...end }));
  return (
    <FormDialog
      title={text.change}
      submit={text.save}
      {...{ onClose: end.onClose, error: update.error, isPending: update.isPending }}
      onSubmit={() => update.mutate({ websiteId: site.websiteId, visibility })}
    >
      <Visibility value={visibility} onValue={setVisibility} />
    </FormDialog>
  );
}

const useVisibility = (site: Site) =>
  useState<WebsiteVisibility>(site.visibility || WebsiteVisibility.PRIVATE);

function Visibility({
  value,
  onValue,
}: {
  value: WebsiteVisibility;
  onValue: (value: WebsiteVisibility) => void;
}) {
  const { isTeam } = useRole();
  const choices = [
    WebsiteVisibility.PRIVATE,
    ...(isTeam ? [WebsiteVisibility.TEAM] : []),
    WebsiteVisibility.PUBLIC,
  ] as const;
  return (
    <SelectField<WebsiteVisibility>
      label={text.visibility}
      value={value}
      options={choices.map((choice) => [choice, text.visibilities[choice]] as const)}
      onValue={onValue}
    />
  );
}

function RenameDialog({ site, ...end }: DialogProps) {
  const [title, setTitle] = useState(site.title);
  const update = useMutation(WebsiteService.method.updateWebsite, closing({ site, ...end }));
  return (
    <FormDialog
      title={text.rename}
      submit={text.save}
      draft={`website ${site.websiteId}`}
      {...{ onClose: end.onClose, error: update.error, isPending: update.isPending }}
      onSubmit={() => update.mutate({ websiteId: site.websiteId, title })}
    >
      <TextField label={text.title} required maxLength={255} value={title} onValue={setTitle} />
    </FormDialog>
  );
}
