import type { JsonObject } from '../../../mcp/json.js';
import { texts } from '../../../texts/index.js';
import { CodeBlock } from '../../../ui/code-block.js';
import { Segmented } from '../../../ui/segmented.js';
import { useAddressState } from '../../../ui/tabs.js';

const languages = [
  { value: 'curl', label: texts.tool.curl },
  { value: 'cli', label: texts.tool.cli },
  { value: 'mcp', label: texts.tool.mcpJson },
  { value: 'typescript', label: texts.tool.typescript },
] as const;

type Language = (typeof languages)[number]['value'];

/** In single quotes of a shell nothing has a meaning but the quote itself. */
function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function codeOf(language: Language, name: string, args: JsonObject): string {
  const { origin } = window.location;
  switch (language) {
    case 'curl':
      return [
        `curl ${origin}/api/v1/tools/call \\`,
        '  -H "Authorization: Bearer $SWITCHBOARD_TOKEN" \\',
        `  --json ${shellQuoted(JSON.stringify({ name, arguments: args }))}`,
      ].join('\n');
    case 'cli':
      return `switchboard call ${shellQuoted(name)} --json-args ${shellQuoted(JSON.stringify(args))}`;
    case 'mcp':
      return JSON.stringify(
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
        undefined,
        2,
      );
    case 'typescript':
      return [
        "import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';",
        '',
        "const client = new Client({ name: 'example', version: '1.0.0' });",
        'const headers = { Authorization: `Bearer ${process.env.SWITCHBOARD_TOKEN}` };',
        'await client.connect(',
        `  new StreamableHTTPClientTransport(new URL('${origin}/mcp'), { requestInit: { headers } }),`,
        ');',
        'const result = await client.callTool({',
        `  name: ${JSON.stringify(name)},`,
        `  arguments: ${JSON.stringify(args, undefined, 2).replaceAll('\n', '\n  ')},`,
        '});',
        'console.log(result);',
      ].join('\n');
    default:
      return language satisfies never;
  }
}

interface CopyRunProps {
  readonly tool: string;
  readonly args: JsonObject;
}

/** What ran, to be repeated elsewhere; without a token. */
export function CopyRun({ tool, args }: CopyRunProps) {
  const [address, setLanguage] = useAddressState('copy', 'curl');
  const language = languages.find(({ value }) => value === address)?.value ?? 'curl';
  return (
    <section className="border-line mt-auto border-t px-5 pt-2 pb-4">
      <div className="mb-2 flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="font-semibold">{texts.tool.copyAs}</h2>
        <div className="max-w-full overflow-x-auto">
          <Segmented
            label={texts.tool.copyWay}
            value={language}
            options={languages}
            onChange={setLanguage}
          />
        </div>
        <span className="text-text-3 text-small">
          {language === 'mcp' ? '' : texts.tool.tokenNote}
        </span>
      </div>
      <CodeBlock code={codeOf(language, tool, args)} wrap />
    </section>
  );
}
