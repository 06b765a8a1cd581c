import { ExternalLink } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ClientSnippetView } from '@app/api-client';
import { texts } from '../../texts/index.js';
import { buttonLook } from '../../ui/button.js';
import { CodeBlock } from '../../ui/code-block.js';
import { Tabs } from '../../ui/tabs.js';
import { installLink, isLinked, PLACEHOLDER } from './snippets.js';

const t = texts.connect.client;

interface ClientTabsProps {
  readonly clients: readonly ClientSnippetView[];
  readonly url: string;
  /** In the snippets; `YOUR_TOKEN` unless one was made just now. */
  readonly token: string;
}

export function ClientTabs({ clients, url, token }: ClientTabsProps) {
  const tabs = clients.map((client) => ({
    id: client.id,
    label: client.name,
    content: <Snippet client={client} url={url} token={token} />,
  }));
  const other = {
    id: 'other',
    label: t.other,
    content: (
      <Guide lead={t.otherWhere}>
        <CodeBlock code={`${url}\nAuthorization: Bearer ${token}`} />
      </Guide>
    ),
  };
  return (
    <div className="-ml-5">
      <Tabs label={t.label} param="client" tabs={[...tabs, other]} />
    </div>
  );
}

interface GuideProps {
  readonly lead: ReactNode;
  readonly children: ReactNode;
}

function Guide({ lead, children }: GuideProps) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3 py-3 pl-5">
      <p className="text-text-2 text-small">{lead}</p>
      {children}
    </div>
  );
}

interface SnippetProps {
  readonly client: ClientSnippetView;
  readonly url: string;
  readonly token: string;
}

function Snippet({ client: { id, name, where, language, snippet }, url, token }: SnippetProps) {
  const lead = `${language === 'shell' ? t.terminal : t.where} ${where}`;
  // Codex reads the token from a variable.
  const needsVariable = !snippet.includes(PLACEHOLDER) && snippet.includes('SWITCHBOARD_TOKEN');
  return (
    <Guide lead={lead}>
      {isLinked(id) && (
        <div className="flex flex-wrap items-center gap-3">
          <a href={installLink(id, url)} className={buttonLook('plain', false, true)}>
            <ExternalLink size={14} aria-hidden /> {t.open(name)}
          </a>
          <span className="text-text-3 text-small">{t.linkHint[id]}</span>
        </div>
      )}
      <CodeBlock code={snippet.replaceAll(PLACEHOLDER, token).trimEnd()} />
      {needsVariable && (
        <>
          <p className="text-text-2 text-small">{t.variable}</p>
          <CodeBlock code={`export SWITCHBOARD_TOKEN=${token}`} />
        </>
      )}
      {id === 'vscode' && <p className="text-text-2 text-small">{t.asks}</p>}
    </Guide>
  );
}
