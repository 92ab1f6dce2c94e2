import { memo, useMemo } from "react";
import { type ParsedToken, parse } from "sugar-high/core";
import { languages } from "sugar-high/lang";
import { Copy } from "../ui/copy.tsx";
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
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll by keyboard */}
      <pre tabIndex={0}>
        {/* biome-ignore lint/suspicious/noArrayIndexKey: the lines of a text do not move */}
        {lines.length === 0 ? text : lines.map((tokens, index) => <Line key={index} tokens={tokens} />)}
      </pre>
    </div>
  );
});

const Line = ({ tokens }: { tokens: readonly ParsedToken[] }) => (
  <>
    {tokens.map(({ type, value }, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: the tokens of a text do not move
      <span key={index} className={styles[type]}>
        {value}
      </span>
    ))}
    {"\n"}
  </>
);
