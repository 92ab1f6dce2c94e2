import type { DescMessage, DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import { type ReactNode, useState } from "react";
import { CallDialog } from "../ui/call-dialog.tsx";
import { Empty } from "../ui/empty.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { Icon } from "../ui/icons.tsx";

/** How a dialog ends: closed, and first done when it changed something. */
interface End {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

interface Removal<T, I extends DescMessage, O extends DescMessage> {
  readonly method: DescMethodUnary<I, O>;
  readonly input: (item: T) => MessageInitShape<I>;
  readonly title: (item: T) => string;
  /** The text of the button that removes. */
  readonly submit: string;
  readonly text: string;
}

interface ListPageProps<T, I extends DescMessage, O extends DescMessage> {
  readonly about: string;
  readonly list: { readonly error: unknown; readonly refetch: () => unknown };
  /** Undefined until the list has answered. */
  readonly items: readonly T[] | undefined;
  /** A row with its key. `onRemove` asks first. */
  readonly row: (item: T, onRemove: () => void) => ReactNode;
  /** The sentence of an empty page, and its line for a terminal. */
  readonly empty: string;
  readonly command?: string;
  /** The button that adds one: above the rows, and in the empty page. */
  readonly add?: { readonly label: string; readonly dialog: (end: End) => ReactNode };
  /** What an empty page offers where there is no such button. */
  readonly start?: ReactNode;
  readonly removal?: Removal<T, I, O>;
  /** What comes after the rows. */
  readonly children?: ReactNode;
}

/** A page that lists the things of one kind, with the dialogs that add and remove one. */
export function ListPage<T, I extends DescMessage, O extends DescMessage>(props: ListPageProps<T, I, O>) {
  const { about, list, items, row, empty, command, add, start, removal, children } = props;
  const [isAdding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<T>();
  const refresh = (): void => void list.refetch();
  const button = add && (
    <button type="button" className="button primary" onClick={() => setAdding(true)}>
      <Icon name="plus" />
      {add.label}
    </button>
  );
  return (
    <>
      <p className="muted">{about}</p>
      <ErrorNote error={list.error} onRetry={refresh} />
      {items?.length === 0 && (
        <Empty action={button ?? start} {...(command !== undefined && { command })}>
          {empty}
        </Empty>
      )}
      {items !== undefined && items.length > 0 && (
        <>
          {button && <div className="actions">{button}</div>}
          <ul className="card rows">{items.map((item) => row(item, () => setRemoved(item)))}</ul>
        </>
      )}
      {children}
      {isAdding && add?.dialog({ onClose: () => setAdding(false), onDone: refresh })}
      {removed !== undefined && removal && (
        <CallDialog
          method={removal.method}
          input={removal.input(removed)}
          title={removal.title(removed)}
          submit={removal.submit}
          onClose={() => setRemoved(undefined)}
          onDone={refresh}
        >
          {removal.text}
        </CallDialog>
      )}
    </>
  );
}
