import { type Cli, command } from "../frame/command.ts";
import { UsageError } from "../frame/failures.ts";
import { argument, exactly, jsonFlags } from "../frame/parameters.ts";

/**
 * The scripts ask `atp __complete WORD…` for the words that can follow, one a line. The last word is the one
 * that is completed.
 */
const scripts: Readonly<Record<string, string>> = {
  bash: `_atp() {
  local IFS=$'\\n' words cword
  if declare -F _get_comp_words_by_ref >/dev/null; then
    _get_comp_words_by_ref -n := words cword
  else
    words=("\${COMP_WORDS[@]}") cword=$COMP_CWORD
  fi
  COMPREPLY=($("\${words[0]}" __complete "\${words[@]:1:cword}" 2>/dev/null))
  if declare -F __ltrim_colon_completions >/dev/null; then __ltrim_colon_completions "\${words[cword]}"; fi
  case \${COMPREPLY[0]} in *=) compopt -o nospace ;; esac
}
complete -o default -F _atp atp
`,
  zsh: `#compdef atp
_atp() {
  local -a found
  found=("\${(@f)$("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  found=(\${found:#})
  if (( \${#found} == 0 )); then _files; else compadd -S '' -- \${(M)found:#*=}; compadd -- \${found:#*=}; fi
}
if [ "\${funcstack[1]}" = _atp ]; then _atp "$@"; else compdef _atp atp; fi
`,
  fish: `function __atp_complete
  set -l words (commandline -opc) (commandline -ct)
  $words[1] __complete $words[2..-1] 2>/dev/null
end
complete -c atp -f -n 'test (count (__atp_complete)) -gt 0' -a '(__atp_complete)'
`,
};
const shells = Object.keys(scripts);

export const completion = command({
  brief: "Write the script that completes commands in a shell",
  examples: [
    "source <(atp completion bash)",
    "atp completion zsh > ~/.zfunc/_atp",
    "atp completion fish > ~/.config/fish/completions/atp.fish",
  ],
  parameters: { flags: jsonFlags, positional: exactly(argument("bash, zsh or fish", "SHELL", () => shells)) },
  run: async (cli: Cli, _flags: { readonly json?: boolean }, shell: string) => {
    const script = scripts[shell];
    if (script === undefined) throw new UsageError(`SHELL: must be one of ${shells.join(", ")}`);
    if (cli.print.isJson) cli.print.json({ shell, script });
    else cli.context.process.stdout.write(script);
  },
});
