import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { Icon } from "../ui/icons.tsx";
import { ItemView } from "./conversation.tsx";
import styles from "./task.module.css";
import type { Item } from "./timeline.ts";
import { text } from "./words.ts";

/** How near to its end the conversation counts as followed. */
const followPx = 80;

/** How many frames the items at the end may take until all of them are measured. */
const settleFrames = 20;

interface FlowProps {
  readonly items: readonly Item[];
  readonly stepCount: number;
  readonly initials: string;
  /** Another key when the person has sent a message: the conversation goes to its end. */
  readonly sent?: string | undefined;
  readonly hasOlder: boolean;
  readonly loadOlder: () => Promise<void>;
  readonly loadAll: () => Promise<void>;
  /** Content below the last item: the present question or approval. */
  readonly end: ReactNode;
}

/**
 * The conversation. Only the visible items are in the page. It follows new items, unless the reader has
 * scrolled up.
 */
export function Flow({ items, stepCount, initials, sent, hasOlder, loadOlder, loadAll, end }: FlowProps) {
  const scroller = useRef<HTMLElement>(null);
  const isFollowing = useRef(true);
  /** Where the reader began to scroll up. An event of an earlier scroll to the end can still come there. */
  const leftAt = useRef(Number.NaN);
  const [seen, setSeen] = useState(0);
  const list = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => items[index]?.key ?? index,
    estimateSize: () => 96,
    overscan: 6,
    paddingStart: 24,
  });
  // While the end is followed, the list corrects nothing itself: its corrections would move the page away
  // from the end. The last item grows at its end, below what is read.
  list.shouldAdjustScrollPositionOnItemSizeChange = (item) =>
    !isFollowing.current && item.index < items.length - 1 && item.start < (list.scrollOffset ?? 0);
  /** The card that was shown from its beginning. */
  const begun = useRef<Element>(null);
  const isPlacing = useRef(false);
  const toEnd = (): void => {
    const element = scroller.current;
    if (!element) return;
    element.scrollTop = element.scrollHeight;
    // An act that is longer than the page is read from its beginning; its buttons are below it.
    const card = element.querySelector("[data-act]");
    if (card === null || card === begun.current || card.clientHeight < element.clientHeight + followPx)
      return;
    begun.current = card;
    isFollowing.current = false;
    isPlacing.current = true;
    setSeen(items.length);
    toTop(element, card, settleFrames);
  };
  /**
   * Goes to the beginning of a card, and again while the items above it are measured, until the reader
   * scrolls.
   */
  const toTop = (element: Element, card: Element, frames: number): void => {
    if (!isPlacing.current || !card.isConnected) return;
    element.scrollTop += card.getBoundingClientRect().top - element.getBoundingClientRect().top - 12;
    if (frames > 0) requestAnimationFrame(() => toTop(element, card, frames - 1));
    else isPlacing.current = false;
  };
  const height = list.getTotalSize();
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs after the list grows and after the content at its end changes
  useLayoutEffect(() => {
    if (isFollowing.current) toEnd();
  }, [height, items.length, end]);
  useEffect(() => {
    if (isFollowing.current) setSeen(items.length);
  }, [items.length]);
  useOlder(scroller, items, hasOlder, loadOlder);

  const scroll = (): void => {
    const element = scroller.current;
    if (!element || isPlacing.current || element.scrollTop === leftAt.current) return;
    leftAt.current = Number.NaN;
    const below = element.scrollHeight - element.scrollTop - element.clientHeight;
    // The list corrects the place when items are measured. Farther away, something else scrolled: a search in
    // the page, or the focus.
    isFollowing.current = below <= (isFollowing.current ? element.clientHeight : followPx);
    if (!isFollowing.current) return;
    setSeen(items.length);
    if (below > 1) toEnd();
  };
  // Only the reader ends following: items that are measured or added move the page too.
  const leave = (): void => {
    isPlacing.current = false;
    isFollowing.current = false;
    leftAt.current = scroller.current?.scrollTop ?? Number.NaN;
  };
  const press = (event: KeyboardEvent): void => {
    isPlacing.current = false;
    if (["ArrowUp", "PageUp", "Home"].includes(event.key)) leave();
    if (event.key === "Home") void goHome();
    if (event.key !== "End") return;
    event.preventDefault();
    followEnd(settleFrames);
  };
  /** Goes to the first event of the task; if its pages cannot be loaded, to the first one that is here. */
  const goHome = async (): Promise<void> => {
    await loadAll().catch(() => undefined);
    requestAnimationFrame(() => toStart(settleFrames));
  };
  /** Goes to the first item, and again while the items there are measured for the first time. */
  const toStart = (frames: number): void => {
    if (scroller.current === null || isFollowing.current) return;
    scroller.current.scrollTop = 0;
    if (frames > 0) requestAnimationFrame(() => toStart(frames - 1));
  };
  /** Goes to the end, and again while the items there are measured for the first time. */
  const followEnd = (frames: number): void => {
    isFollowing.current = true;
    toEnd();
    if (frames > 0) requestAnimationFrame(() => isFollowing.current && followEnd(frames - 1));
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the person has sent a message
  useEffect(() => {
    if (sent !== undefined) followEnd(settleFrames);
  }, [sent]);
  const isBehind = items.length > seen && seen > 0;
  return (
    <div className={styles.flowFrame}>
      {/* biome-ignore-start lint/a11y: Page Down, Home and End scroll it */}
      <section
        ref={scroller}
        className={styles.flow}
        data-flow
        tabIndex={0}
        onScroll={scroll}
        onKeyDown={press}
        onWheel={({ deltaY }) => {
          isPlacing.current = false;
          if (deltaY < 0) leave();
        }}
        onTouchMove={leave}
        onPointerDown={({ target }) => target === scroller.current && leave()}
        aria-live="off"
      >
        {hasOlder && (
          <button type="button" className={`button ${styles.older}`} onClick={() => void loadOlder()}>
            {text.older}
          </button>
        )}
        <div className={styles.items} style={{ height }}>
          {list.getVirtualItems().map((row) => {
            const item = items[row.index];
            return (
              item && (
                <div
                  key={row.key}
                  data-index={row.index}
                  ref={list.measureElement}
                  className={styles.item}
                  style={{ transform: `translateY(${row.start}px)` }}
                >
                  <ItemView item={item} stepCount={stepCount} initials={initials} />
                </div>
              )
            );
          })}
        </div>
        <div className={styles.end} aria-live="polite">
          {end}
        </div>
      </section>
      {/* biome-ignore-end lint/a11y: the end of what scrolls */}
      {isBehind && (
        <button type="button" className={`button ${styles.newer}`} onClick={() => followEnd(settleFrames)}>
          <Icon name="down" />
          {text.newBelow(items.length - seen)}
        </button>
      )}
    </div>
  );
}

/** Loads older items when the reader comes near the beginning, and keeps what is read in its place. */
function useOlder(
  scroller: React.RefObject<HTMLElement | null>,
  items: readonly Item[],
  hasOlder: boolean,
  loadOlder: () => Promise<void>,
): void {
  const firstKey = items[0]?.key;
  const before = useRef({ key: firstKey, height: 0 });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    if (before.current.key !== undefined && before.current.key !== firstKey)
      element.scrollTop += element.scrollHeight - before.current.height;
    before.current = { key: firstKey, height: element.scrollHeight };
  });
  useEffect(() => {
    const element = scroller.current;
    if (!element || !hasOlder) return;
    const scroll = (): void => {
      if (element.scrollTop < 200) void loadOlder();
    };
    element.addEventListener("scroll", scroll, { passive: true });
    return () => element.removeEventListener("scroll", scroll);
  }, [scroller, hasOlder, loadOlder]);
}
