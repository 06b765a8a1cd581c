/** Monospaced, the server part dimmed: `github.`**`search_issues`**. Breaks rather than being cut off. */
export function ToolName({ name }: { readonly name: string }) {
  const dot = name.indexOf('.');
  return (
    <span className="font-mono text-small [overflow-wrap:anywhere]">
      {dot >= 0 && <span className="text-text-3">{name.slice(0, dot + 1)}</span>}
      <span className="font-medium">{name.slice(dot + 1)}</span>
    </span>
  );
}

export function ServerName({ name }: { readonly name: string }) {
  return <span className="font-mono text-small font-medium [overflow-wrap:anywhere]">{name}</span>;
}
