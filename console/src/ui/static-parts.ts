import { createElement, Fragment, type ReactNode } from "react";

/** Shows parts that never change their order, such as the lines of a text. They need no keys. */
export const staticParts = (parts: readonly ReactNode[]): ReactNode =>
  createElement(Fragment, null, ...parts);

/**
 * Attributes of an element that scrolls: browsers give it the keys of the keyboard only when it can have the
 * focus.
 */
export const scrollable = { tabIndex: 0 } as const;
