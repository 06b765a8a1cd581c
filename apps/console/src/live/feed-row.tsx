import { Link } from '@tanstack/react-router';
import {
  Bell,
  Cable,
  Check,
  CircleX,
  HeartPulse,
  LoaderCircle,
  type LucideIcon,
  Network,
  Search,
  Server,
  ShieldCheck,
  SlidersHorizontal,
  Wrench,
} from 'lucide-react';
import { texts } from '../texts/index.js';
import { classNames } from '../ui/class-names.js';
import { duration } from '../ui/format.js';
import { ToolName } from '../ui/tool-name.js';
import { TimeAgo } from '../ui/time.js';
import type { CallLine, FeedLine, NewsLine } from './live-feed.js';

const icons: Readonly<Record<string, LucideIcon>> = {
  server: Server,
  catalogue: Wrench,
  health: HeartPulse,
  search: Search,
  query: Network,
  session: Cable,
  approval: ShieldCheck,
  policy: SlidersHorizontal,
};

/** The words of a failed call: the code of the service, or that the tool itself said so. */
export function failureOf({ outcome, errorCode }: CallLine): string | undefined {
  if (outcome === undefined || outcome === 'success') return undefined;
  if (errorCode !== undefined) return errorCode.toLowerCase().replaceAll('_', ' ');
  return outcome === 'tool_error' ? texts.feed.toolError : texts.feed.failed;
}

function CallRow({ line }: { readonly line: CallLine }) {
  const failure = failureOf(line);
  const Icon = line.isRunning ? LoaderCircle : failure === undefined ? Check : CircleX;
  return (
    <Link
      to="/tools/$name"
      params={{ name: line.tool }}
      className="border-line hover:bg-hover text-text flex items-start gap-2 border-b px-4 py-1.5"
    >
      <Icon
        size={14}
        aria-label={line.isRunning ? texts.feed.running : (failure ?? texts.feed.entries.mcp)}
        className={classNames(
          'mt-0.5 shrink-0',
          line.isRunning ? 'text-accent' : failure === undefined ? 'text-text-3' : 'text-bad',
        )}
      />
      <span className="min-w-0 grow">
        <span className="block">
          <ToolName name={line.tool} />
        </span>
        <span className="text-text-2 flex justify-between gap-2 text-small">
          <span className="truncate">{line.caller ?? entryOf(line)}</span>
          <span className={classNames('whitespace-nowrap', failure !== undefined && 'text-bad')}>
            {failure ?? (line.isRunning ? texts.feed.running : duration(line.durationMs ?? 0))}
          </span>
        </span>
      </span>
    </Link>
  );
}

function entryOf({ entry }: CallLine): string {
  const { entries } = texts.feed;
  return entry in entries ? entries[entry as keyof typeof entries] : entry;
}

function NewsRow({ line }: { readonly line: NewsLine }) {
  const Icon = icons[line.topic] ?? Bell;
  const server = line.data['server'];
  return (
    <div className="border-line flex items-start gap-2 border-b px-4 py-1.5">
      <Icon size={14} aria-hidden className="text-text-3 mt-0.5 shrink-0" />
      <span className="min-w-0 grow">
        <span className="block [overflow-wrap:anywhere]">
          {typeof server === 'string' && <span className="font-mono text-small">{server} </span>}
          {texts.feed.sentence(line.topic, line.data)}
        </span>
        <span className="text-text-2 text-small">
          <TimeAgo at={line.at} />
        </span>
      </span>
    </div>
  );
}

export function FeedRow({ line }: { readonly line: FeedLine }) {
  return line.kind === 'call' ? <CallRow line={line} /> : <NewsRow line={line} />;
}
