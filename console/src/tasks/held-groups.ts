import { type FocusEvent, useEffect, useRef, useState } from "react";
import { type Group, holdPlaces } from "./merge.ts";

/** How long rows keep their places after the last movement over them. */
const holdMs = 5_000;

/**
 * The groups to show. While a pointer moves over them, or the keyboard is in them, every row keeps its place:
 * nothing may move away below a press.
 *
 * @param list what changes with the filters: another list shows at once.
 */
export function useHeldGroups<G extends Group>(newest: readonly G[], list: string) {
  const [held, setHeld] = useState<{ readonly list: string; readonly groups: readonly G[] }>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const release = (): void => {
    clearTimeout(timer.current);
    setHeld(undefined);
  };
  const isHeld = held?.list === list;
  const hold = (): void => {
    clearTimeout(timer.current);
    if (!isHeld) setHeld({ list, groups: newest });
  };
  const point = (): void => {
    hold();
    timer.current = setTimeout(release, holdMs);
  };
  const handlers = {
    onPointerMove: point,
    onPointerDown: point,
    onPointerLeave: release,
    onFocus: ({ target }: FocusEvent) => target.matches(":focus-visible") && hold(),
    onBlur: ({ currentTarget, relatedTarget }: FocusEvent) =>
      !currentTarget.contains(relatedTarget) && release(),
  };
  return {
    ...(isHeld ? holdPlaces(held.groups, newest) : { groups: newest, changed: 0 }),
    release,
    handlers,
  };
}
