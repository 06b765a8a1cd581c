import { useQuery } from '@tanstack/react-query';
import { Pause, Play } from 'lucide-react';
import { useLayoutEffect, useRef, useState } from 'react';
import type { ServerView } from '@app/api-client';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy-button.js';
import { ErrorPane, Pane } from '../../ui/pane.js';
import { serverLogsQuery } from './server-queries.js';

const t = texts.server.log;

const levels: readonly (readonly [RegExp, string])[] = [
  [/^\[(?:error|critical|alert|emergency)\]|\b(?:error|fatal|panic|traceback)\b/i, 'text-bad'],
  [/^\[warning\]|\bwarn(?:ing)?\b/i, 'text-warn'],
];

function lookOf(line: string): string {
  return levels.find(([pattern]) => pattern.test(line))?.[1] ?? 'text-text-2';
}

/** The last lines that the server wrote, read again every few seconds; the end stays in view until scrolled away. */
export function LogPane({ server }: { readonly server: ServerView }) {
  const [isFollowing, setFollowing] = useState(true);
  const {
    data: lines = [],
    error,
    isError,
    isPending,
  } = useQuery(serverLogsQuery(server.id, isFollowing));
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    if (box.current && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines]);
  return (
    <Pane
      title={t.title}
      aside={isFollowing ? t.following : t.paused}
      className="flex min-h-0 flex-col border-b-0 rail:min-h-60 rail:grow"
      actions={
        <>
          <Button
            kind="ghost"
            small
            icon={isFollowing ? Pause : Play}
            aria-label={isFollowing ? t.pause : t.follow}
            onClick={() => setFollowing(!isFollowing)}
          />
          {lines.length > 0 && <CopyButton text={lines.join('\n')} />}
        </>
      }
    >
      {isError && <ErrorPane title={t.notRead} error={error} />}
      {!isError && !isPending && lines.length === 0 && (
        <p className="text-text-3 px-5 pb-3 text-small">
          {server.transport_type === 'STDIO' ? t.empty : t.onlyStdio}
        </p>
      )}
      {lines.length > 0 && (
        <pre
          ref={box}
          tabIndex={0}
          aria-label={t.title}
          onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
            isAtEnd.current = scrollHeight - scrollTop - clientHeight < 24;
          }}
          className="bg-inset border-line max-h-80 min-h-0 grow overflow-auto border-t px-5 py-2 font-mono text-label [overflow-wrap:anywhere] whitespace-pre-wrap rail:max-h-none"
        >
          {lines.map((line, at) => (
            <div key={at} className={lookOf(line)}>
              {line}
            </div>
          ))}
        </pre>
      )}
    </Pane>
  );
}
