import type { ReactNode } from 'react';
import { texts } from '../../../texts/index.js';
import { Badge, type Tint } from '../../../ui/badge.js';
import { Checkbox, Field } from '../../../ui/field.js';
import { duration } from '../../../ui/format.js';
import { SecretInput } from '../../../ui/secret-input.js';
import { StateMark } from '../../../ui/state-mark.js';
import { ServerName } from '../../../ui/tool-name.js';
import type { PlanKind, PlannedEntry } from './use-plan.js';
import type { Progress } from './use-plan-work.js';

const t = texts.servers.paste;

const tints: Readonly<Record<PlanKind, Tint>> = {
  new: 'ok',
  known: 'idle',
  changed: 'warn',
  unusable: 'bad',
};

const signs: Readonly<Record<PlanKind, string>> = {
  new: '+',
  known: '=',
  changed: '≠',
  unusable: '×',
};

interface PlanRowProps {
  readonly entry: PlannedEntry;
  readonly isChosen: boolean;
  readonly progress: Progress | undefined;
  readonly values: Readonly<Record<string, string>>;
  readonly onChoose: (isChosen: boolean) => void;
  readonly onValue: (variable: string, value: string) => void;
}

export function PlanRow(props: PlanRowProps) {
  const { entry, isChosen, progress, values, onChoose, onValue } = props;
  const { kind, key, draft, variables } = entry;
  const isUsable = kind === 'new' || kind === 'changed';
  return (
    <li className="border-line border-b px-5 py-2">
      <label className="flex min-h-6 flex-wrap items-center gap-x-3 gap-y-1">
        <Checkbox
          checked={isChosen}
          disabled={!isUsable}
          onChange={(event) => onChoose(event.target.checked)}
        />
        <Badge tint={tints[kind]} className="w-20 gap-1">
          <span aria-hidden>{signs[kind]}</span> {t.kinds[kind]}
        </Badge>
        <ServerName name={draft.name === '' ? key : draft.name} />
        <span className="ml-auto text-small">
          <Standing entry={entry} progress={progress} />
        </span>
      </label>
      {isUsable && (
        <p className="text-text-3 truncate pl-7 font-mono text-label" title={connectionOf(entry)}>
          {connectionOf(entry)}
        </p>
      )}
      <Reason entry={entry} progress={progress} />
      {isChosen && variables.length > 0 && (
        <div className="mt-2 grid gap-2 pl-7">
          {variables.map((name) => (
            <Field key={name} label={t.variable(name)} hint={t.variableHint} mono>
              <SecretInput
                value={values[name] ?? ''}
                onChange={(event) => onValue(name, event.target.value)}
              />
            </Field>
          ))}
        </div>
      )}
    </li>
  );
}

function connectionOf({ draft }: PlannedEntry): string {
  return draft.transport === 'STDIO'
    ? `${draft.command} ${draft.args.replaceAll('\n', ' ')}`
    : draft.url;
}

interface StandingProps {
  readonly entry: PlannedEntry;
  readonly progress: Progress | undefined;
}

function Standing({ entry: { kind, variables }, progress }: StandingProps): ReactNode {
  switch (progress?.kind) {
    case 'testing':
      return <StateMark state="connecting">{t.testing}</StateMark>;
    case 'saving':
      return <StateMark state="connecting">{t.saving}</StateMark>;
    case 'saved':
      return <StateMark state="ready">{t.saved}</StateMark>;
    case 'refused':
      return <StateMark state="failing" />;
    case 'tested': {
      const { server, needs_login: needsLogin, latency_ms: ms } = progress.found;
      if (needsLogin) return <StateMark state="login" />;
      if (!server) return <StateMark state="failing" />;
      return <StateMark state="ready">{t.tested(server.tools.count, duration(ms))}</StateMark>;
    }
    default:
      if (kind === 'unusable') return null;
      return (
        <span className="text-text-3">
          {kind === 'new' && variables.length > 0 ? t.needs(variables) : t.kindHints[kind]}
        </span>
      );
  }
}

/** Why an entry cannot be used, or was refused; with the next step. */
function Reason({ entry, progress }: StandingProps) {
  const found = progress?.kind === 'tested' ? progress.found.error : null;
  const needsLogin = progress?.kind === 'tested' && progress.found.needs_login;
  const reason =
    entry.problem ??
    (progress?.kind === 'refused' ? progress.reason : needsLogin ? null : found?.message);
  if (!reason) return null;
  return (
    <p className="text-bad mt-1 pl-7 text-small [overflow-wrap:anywhere]">
      {reason.replace(/\.?$/, '.')}{' '}
      {found && <span className="text-text-2">{found.next_step}</span>}
    </p>
  );
}
