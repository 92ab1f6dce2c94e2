import { useMutation, useQuery } from "@connectrpc/connect-query";
import { WebsiteService } from "#proto/website/v2/website_service_pb.ts";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { Ago, fromSeconds } from "../ui/time.tsx";
import { AddForm } from "./add-form.tsx";
import { nameOf, type Site } from "./site.ts";
import { text } from "./words.ts";

/** The people who can open a private website. */
export function ViewersDialog({ site, onClose }: { site: Site; onClose: () => void }) {
  const { websiteId } = site;
  const list = useQuery(WebsiteService.method.listWebsiteViewers, { websiteId });
  const onSuccess = (): void => void list.refetch();
  const add = useMutation(WebsiteService.method.addWebsiteViewers, { onSuccess });
  const takeOut = useMutation(WebsiteService.method.removeWebsiteViewers, { onSuccess });
  const found = list.data?.data;
  return (
    <Dialog title={`${text.viewers}: ${nameOf(site)}`} onClose={onClose} isWide>
      <p className="muted">{text.viewersText}</p>
      <ErrorNote error={list.error} onRetry={() => void list.refetch()} />
      <ErrorNote error={takeOut.error} />
      {found?.length === 0 && <p>{text.noViewer}</p>}
      <ul className="rows">
        {found?.map(({ email, createdAt }) => (
          <li key={email} className="flush">
            <span className="main">
              <strong>{email}</strong>
              <small>
                <Ago at={fromSeconds(createdAt)} />
              </small>
            </span>
            <button
              type="button"
              className="button danger"
              aria-label={`${text.takeOut}: ${email}`}
              disabled={takeOut.isPending}
              onClick={() => takeOut.mutate({ websiteId, emails: [email] })}
            >
              {text.takeOut}
            </button>
          </li>
        ))}
      </ul>
      <AddForm
        draft={`viewer ${websiteId}`}
        type="email"
        label={text.email}
        submit={text.add}
        call={add}
        onAdd={(email) => add.mutateAsync({ websiteId, emails: [email] })}
      />
    </Dialog>
  );
}
