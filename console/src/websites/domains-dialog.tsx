import { useMutation, useQuery } from "@connectrpc/connect-query";
import { useState } from "react";
import { type WebsiteDomain, WebsiteDomainStatus } from "#proto/website/v2/website_pb.ts";
import { WebsiteService } from "#proto/website/v2/website_service_pb.ts";
import { CallDialog } from "../ui/call-dialog.tsx";
import { Copy } from "../ui/copy.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { titleOf } from "../words.ts";
import { AddForm } from "./add-form.tsx";
import { nameOf, type Site } from "./site.ts";
import { text } from "./words.ts";

/** What is no host name: an address with a scheme, a path or spaces. The server applies all rules. */
const domainFault = (typed: string): string | undefined =>
  /[/:\s@]/.test(typed.trim()) ? text.domainForm : undefined;

/** The own domains of a website: add one, set its record, check it, remove it. */
export function DomainsDialog({ site, onClose }: { site: Site; onClose: () => void }) {
  const { websiteId } = site;
  const [removed, setRemoved] = useState<string>();
  const list = useQuery(WebsiteService.method.listWebsiteDomains, { websiteId });
  const refresh = (): void => void list.refetch();
  const link = useMutation(WebsiteService.method.linkWebsiteDomain, { onSuccess: refresh });
  const found = list.data?.data;
  return (
    <Dialog title={`${text.domains}: ${nameOf(site)}`} onClose={onClose} isWide>
      <p className="muted">{text.domainsText}</p>
      <ErrorNote error={list.error} onRetry={refresh} />
      {found?.length === 0 && <p>{text.noDomain}</p>}
      <ul className="rows">
        {found?.map((domain) => (
          <DomainRow
            key={domain.domain}
            {...{ websiteId, domain }}
            onChecked={refresh}
            onRemove={() => setRemoved(domain.domain)}
          />
        ))}
      </ul>
      <AddForm
        draft={`domain ${websiteId}`}
        label={text.domain}
        hint={text.domainHint}
        faultOf={domainFault}
        submit={text.link}
        call={link}
        onAdd={(domain) => link.mutateAsync({ websiteId, domain })}
      />
      {removed !== undefined && (
        <CallDialog
          method={WebsiteService.method.unlinkWebsiteDomain}
          input={{ websiteId, domain: removed }}
          title={text.unlinkTitle(removed)}
          submit={text.unlink}
          onClose={() => setRemoved(undefined)}
          onDone={refresh}
        >
          {text.unlinkText}
        </CallDialog>
      )}
    </Dialog>
  );
}

const looks = { 0: "rest", 1: "wait", 2: "done", 3: "fail" } as const;

interface RowProps {
  readonly websiteId: string;
  readonly domain: WebsiteDomain;
  readonly onChecked: () => void;
  readonly onRemove: () => void;
}

function DomainRow({
  websiteId,
  domain: { domain, status, txtName, txtValue },
  onChecked,
  onRemove,
}: RowProps) {
  const verify = useMutation(WebsiteService.method.verifyWebsiteDomain, { onSuccess: onChecked });
  return (
    <li className="wrap flush">
      <span className="main">
        <strong>{domain}</strong>
      </span>
      <span className="actions">
        <span className={`badge ${titleOf(looks, status)}`}>{titleOf(text.domainStates, status)}</span>
        {status !== WebsiteDomainStatus.ACTIVE && (
          <button
            type="button"
            className="button"
            aria-label={`${text.verify}: ${domain}`}
            disabled={verify.isPending}
            onClick={() => verify.mutate({ websiteId, domain })}
          >
            {text.verify}
          </button>
        )}
        <button
          type="button"
          className="button danger"
          aria-label={`${text.unlink}: ${domain}`}
          onClick={onRemove}
        >
          {text.unlink}
        </button>
      </span>
      <div className="stack tight whole">
        {status !== WebsiteDomainStatus.ACTIVE && (
          <dl className="facts">
            <dt>{text.record}</dt>
            <dd className="copied">
              <code>{txtName}</code>
              <Copy value={txtName} label={text.copyName} />
            </dd>
            <dt>{text.recordValue}</dt>
            <dd className="copied">
              <code>{txtValue}</code>
              <Copy value={txtValue} label={text.copyValue} />
            </dd>
          </dl>
        )}
        <ErrorNote error={verify.error} />
      </div>
    </li>
  );
}
