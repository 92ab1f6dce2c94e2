import { memo, type ReactNode, useMemo } from "react";
import { type ParsedToken, parse } from "sugar-high/core";
import { languages } from "sugar-high/lang";
import { Copy } from "../ui/copy.tsx";
import { scrollable, staticParts } from "../ui/static-parts.ts";
import styles from "./markdown.module.css";

/** Longer code is shown without colours. */
const colouredMax = 20_000;

/** The tokens of each line; none for a language that is not known. */
function tokensOf(text: string, language: string): readonly (readonly ParsedToken[])[] {
  if (text.length > colouredMax) return [];
  const name = language.toLowerCase();
  const known = languages.find(({ id, extension, aliases }) => [id, extension, ...aliases].includes(name));
  if (known === undefined) return [];
  return parse(text, known.config).lines.map(({ tokens }) => tokens);
}

/** A block of code, with its colours and a button that copies it. */
export const Code = memo(({ text, language }: { text: string; language: string }) => {
  const lines = useMemo(() => tokensOf(text, language), [text, language]);
  return (
    <div className={styles.code}>
      <div>
        <small>{language}</small>
        <Copy value={text} />
      </div>
      <pre {...scrollable}>{lines.length === 0 ? text : staticParts(lines.map(lineOf))}</pre>
    </div>
  );
});

const lineOf = (tokens: readonly ParsedToken[]): ReactNode => staticParts([...tokens.map(tokenOf), "\n"]);

const tokenOf = ({ type, value }: ParsedToken): ReactNode => <span className={styles[type]}>{value}</span>;
