import type { DescMessage, DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import { useMutation } from "@connectrpc/connect-query";
import type { ReactNode } from "react";
import { FormDialog } from "./form-dialog.tsx";

interface CallDialogProps<I extends DescMessage, O extends DescMessage> {
  readonly method: DescMethodUnary<I, O>;
  readonly input: MessageInitShape<I>;
  readonly title: string;
  /** The text of the button that calls. */
  readonly submit: string;
  readonly children: ReactNode;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** A question before a call that takes something away. It closes when the call succeeds. */
export function CallDialog<I extends DescMessage, O extends DescMessage>(props: CallDialogProps<I, O>) {
  const { method, input, title, submit, children, onClose, onDone } = props;
  const call = useMutation(method, {
    onSuccess: () => {
      onDone();
      onClose();
    },
  });
  return (
    <FormDialog
      danger
      onSubmit={() => call.mutate(input)}
      error={call.error}
      isPending={call.isPending}
      {...{ title, submit, onClose }}
    >
      <p>{children}</p>
    </FormDialog>
  );
}

/** A button that loads the next page of a list; nothing without one. */
export const MoreButton = ({
  list,
  label,
}: {
  list: { hasNextPage: boolean; fetchNextPage: () => unknown };
  label: string;
}) =>
  list.hasNextPage ? (
    <div className="actions">
      <button type="button" className="button" onClick={() => void list.fetchNextPage()}>
        {label}
      </button>
    </div>
  ) : null;
