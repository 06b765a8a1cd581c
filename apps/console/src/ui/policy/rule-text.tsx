import type { ViewRuleDto } from '@app/api-client';
import { Minus, Plus } from 'lucide-react';
import { texts } from '../../texts/index.js';
import { classNames } from '../class-names.js';

const { views: t } = texts;

/** `tools, server `**github**`, read only`. */
export function RuleText({ rule }: { readonly rule: ViewRuleDto }) {
  const { kind = 'any', server, name, skill, annotation } = rule;
  return (
    <span className="[overflow-wrap:anywhere]">
      {t.kinds[kind]}
      {server != null && <Condition name={t.ofServer} value={server} />}
      {name != null && <Condition name={t.named} value={name} />}
      {skill != null && <Condition name={t.ofSkill} value={skill} />}
      {annotation != null && `, ${t.annotations[annotation]}`}
    </span>
  );
}

function Condition({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <>
      , <span className="text-text-2">{name}</span>{' '}
      <span className="font-mono text-small">{value}</span>
    </>
  );
}

export function RuleEffect({ effect = 'include' }: { readonly effect?: 'include' | 'exclude' }) {
  const Icon = effect === 'include' ? Plus : Minus;
  return (
    <span
      className={classNames(
        'inline-flex items-center gap-1.5 font-medium whitespace-nowrap',
        effect === 'include' ? 'text-ok' : 'text-bad',
      )}
    >
      <Icon size={13} aria-hidden /> {effect === 'include' ? t.include : t.exclude}
    </span>
  );
}
