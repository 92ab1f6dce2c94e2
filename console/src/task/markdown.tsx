import type { AlignType, ListItem, Nodes, Table, TableCell } from "mdast";
import { createElement, memo, type ReactNode, useMemo, useRef } from "react";
import { scrollable, staticParts } from "../ui/static-parts.ts";
import { Code } from "./code.tsx";
import styles from "./markdown.module.css";
import { nothingParsed, parse, parseGrown } from "./markdown-blocks.ts";

/** Texts above this size are shown as they are: parsing them could hold the page. */
const charactersMax = 200_000;

interface MarkdownProps {
  readonly text: string;
  /** True while the text is being written. */
  readonly isGrowing?: boolean;
  /** True for what a person typed: its line breaks stay. */
  readonly keepsLines?: boolean;
}

/**
 * Markdown as elements of a closed set: HTML stays text, images become links, and links lead only to web and
 * mail addresses.
 */
export const Markdown = memo(({ text, isGrowing = false, keepsLines = false }: MarkdownProps) => {
  const before = useRef(nothingParsed);
  const blocks = useMemo(() => {
    if (text.length > charactersMax) return null;
    if (!isGrowing) return parse(text);
    before.current = parseGrown(before.current, text);
    return before.current.blocks;
  }, [text, isGrowing]);
  const className = [styles.markdown, isGrowing && styles.growing, keepsLines && styles.lines]
    .filter(Boolean)
    .join(" ");
  if (blocks === null) return <div className={className}>{text}</div>;
  return (
    <div className={className} dir="auto" aria-busy={isGrowing}>
      {staticParts(blocks.map(elementOf))}
    </div>
  );
});

/** A link's address; undefined for every scheme that could run something. */
export function safeAddress(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  return ["http:", "https:", "mailto:"].includes(new URL(address).protocol) ? address : undefined;
}

const childrenOf = (node: { children: readonly Nodes[] }): ReactNode =>
  staticParts(node.children.map(elementOf));

function link(address: string, content: ReactNode): ReactNode {
  const safe = safeAddress(address);
  if (safe === undefined) return <span title={address}>{content}</span>;
  return (
    <a href={safe} target="_blank" rel="noopener noreferrer nofollow">
      {content}
    </a>
  );
}

const headings = ["h2", "h3", "h4", "h5", "h6", "h6"] as const;

function elementOf(node: Nodes): ReactNode {
  switch (node.type) {
    case "text":
    case "html":
      return node.value;
    case "paragraph":
      return <p dir="auto">{childrenOf(node)}</p>;
    case "heading": {
      const Heading = headings[node.depth - 1] ?? "h6";
      return <Heading>{childrenOf(node)}</Heading>;
    }
    case "emphasis":
      return <em>{childrenOf(node)}</em>;
    case "strong":
      return <strong>{childrenOf(node)}</strong>;
    case "delete":
      return <s>{childrenOf(node)}</s>;
    case "inlineCode":
      return <code>{node.value}</code>;
    case "code":
      return <Code text={node.value} language={node.lang ?? ""} />;
    case "blockquote":
      return <blockquote>{childrenOf(node)}</blockquote>;
    case "list":
      return node.ordered ? <ol start={node.start ?? 1}>{childrenOf(node)}</ol> : <ul>{childrenOf(node)}</ul>;
    case "listItem":
      return <li>{itemOf(node)}</li>;
    case "thematicBreak":
      return <hr />;
    case "break":
      return <br />;
    case "link":
      return link(node.url, childrenOf(node));
    case "image":
      return link(node.url, node.alt || node.url);
    case "table":
      return (
        <div className={styles.table} {...scrollable}>
          <table>{tableOf(node)}</table>
        </div>
      );
    default:
      return "children" in node
        ? childrenOf(node as { children: readonly Nodes[] })
        : "value" in node
          ? String(node.value)
          : null;
  }
}

/** The parts of a list item. Its box has the first paragraph as its label. */
function itemOf({ checked, spread, children }: ListItem): ReactNode {
  const parts = children.map((child) =>
    child.type === "paragraph" && !spread ? childrenOf(child) : elementOf(child),
  );
  if (typeof checked !== "boolean") return staticParts(parts);
  const [first, ...others] =
    children[0]?.type === "paragraph" ? [childrenOf(children[0]), ...parts.slice(1)] : ["", ...parts];
  const label = (
    <label>
      <input type="checkbox" checked={checked} disabled readOnly />
      {first}
    </label>
  );
  return staticParts([label, ...others]);
}

/** The head and the rows of a table; each cell is aligned as its column. */
function tableOf({ align, children }: Table): ReactNode {
  const [head, ...rows] = children.map(({ children: cells }, row) =>
    staticParts(cells.map((cell, column) => cellOf(cell, align?.[column] ?? undefined, row === 0))),
  );
  return (
    <>
      <thead>
        <tr>{head}</tr>
      </thead>
      <tbody>{staticParts(rows.map((cells) => createElement("tr", null, cells)))}</tbody>
    </>
  );
}

const cellOf = (cell: TableCell, align: AlignType | undefined, isHead: boolean): ReactNode =>
  createElement(
    isHead ? "th" : "td",
    { "data-align": align, scope: isHead ? "col" : undefined },
    childrenOf(cell),
  );
