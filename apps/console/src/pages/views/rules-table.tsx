import type { RuleCountView, ViewRuleDto } from '@app/api-client';
import { useQuery } from '@tanstack/react-query';
import { Pencil, Plus, X } from 'lucide-react';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { classNames } from '../../ui/class-names.js';
import { count } from '../../ui/format.js';
import { RuleEffect, RuleText } from '../../ui/policy/rule-text.js';
import { useAddressState } from '../../ui/tabs.js';
import { RuleForm } from './rule-form.js';
import type { ViewEdit } from './use-view-draft.js';
import { previewQuery } from './view-queries.js';

const { views: t } = texts;

interface RulesTableProps {
  readonly slug: string;
  readonly edit: ViewEdit;
  readonly mayChange: boolean;
}

const tracks =
  'grid-cols-[20px_88px_minmax(0,1fr)_auto] tab:grid-cols-[20px_88px_minmax(0,1fr)_64px_56px_56px]';

/** Rules with what each matches and adds; a rule is edited in its place. */
export function RulesTable({ slug, edit: { draft, change }, mayChange }: RulesTableProps) {
  const [open, setOpen] = useAddressState('rule', '');
  const { data } = useQuery(previewQuery({ view: slug, rules: draft.rules, limit: 1 }));
  const counts = data?.rules.length === draft.rules.length ? data.rules : [];
  const setRules = (rules: readonly ViewRuleDto[]): void => change({ rules });
  const add = (): void => {
    setRules([...draft.rules, { effect: 'include', kind: 'tool' }]);
    setOpen(String(draft.rules.length + 1));
  };
  return (
    <>
      <div className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 px-5 py-2">
        <p className="text-text-2 min-w-0 grow text-small">{t.rulesHint}</p>
        {mayChange && (
          <Button icon={Plus} onClick={add}>
            {t.addRule}
          </Button>
        )}
      </div>
      <div role="table" aria-label={t.rules}>
        <div
          role="row"
          className={classNames(
            'text-text-2 border-line grid h-7 items-center gap-3 border-y px-5 text-small',
            tracks,
          )}
        >
          <span role="columnheader">
            <span className="sr-only">{t.number}</span>
          </span>
          <span role="columnheader">{t.effect}</span>
          <span role="columnheader">{t.what}</span>
          <span role="columnheader" className="hidden text-right tab:block">
            {t.matches}
          </span>
          <span role="columnheader" className="text-right" title={t.addsHint}>
            {t.adds}
          </span>
          <span role="columnheader" className="hidden tab:block">
            <span className="sr-only">{t.actions}</span>
          </span>
        </div>
        {draft.rules.map((rule, at) => (
          <RuleRow
            key={at}
            at={at}
            rule={rule}
            counts={counts[at]}
            isOpen={open === String(at + 1)}
            mayChange={mayChange}
            onToggle={() => setOpen(open === String(at + 1) ? '' : String(at + 1))}
            onChange={(now) => setRules(draft.rules.map((one, i) => (i === at ? now : one)))}
            onRemove={() => {
              setOpen('');
              setRules(draft.rules.filter((_, i) => i !== at));
            }}
          />
        ))}
      </div>
      {draft.rules.length === 0 && <p className="text-text-2 px-5 py-3">{t.noRules}</p>}
    </>
  );
}

interface RuleRowProps {
  readonly at: number;
  readonly rule: ViewRuleDto;
  readonly counts: RuleCountView | undefined;
  readonly isOpen: boolean;
  readonly mayChange: boolean;
  readonly onToggle: () => void;
  readonly onChange: (rule: ViewRuleDto) => void;
  readonly onRemove: () => void;
}

function RuleRow(props: RuleRowProps) {
  const { at, rule, counts, isOpen, mayChange, onToggle, onChange, onRemove } = props;
  const adds = counts?.adds ?? 0;
  return (
    <div role="rowgroup" className="border-line border-b">
      <div
        role="row"
        className={classNames(
          'grid min-h-8 items-center gap-x-3 px-5 py-1',
          tracks,
          isOpen && 'bg-accent-weak',
        )}
      >
        <span role="cell" className="text-text-3 text-small">
          {at + 1}
        </span>
        <span role="cell">
          <RuleEffect effect={rule.effect ?? 'include'} />
        </span>
        <span role="cell" className="min-w-0">
          <RuleText rule={rule} />
        </span>
        <span role="cell" className="hidden text-right tab:block">
          {counts && count(counts.matches)}
        </span>
        <span
          role="cell"
          className={classNames(
            'text-right font-medium',
            adds > 0 ? 'text-ok' : adds < 0 ? 'text-bad' : 'text-text-3',
          )}
        >
          {counts && (adds > 0 ? `+${count(adds)}` : count(adds).replace('-', '−'))}
        </span>
        <span role="cell" className="col-span-4 flex justify-end gap-1 tab:col-span-1">
          {mayChange && (
            <>
              <Button
                kind="ghost"
                small
                icon={Pencil}
                aria-label={t.editRule(at + 1)}
                aria-expanded={isOpen}
                onClick={onToggle}
              />
              <Button
                kind="ghost"
                small
                icon={X}
                aria-label={t.removeRule(at + 1)}
                onClick={onRemove}
              />
            </>
          )}
        </span>
      </div>
      {isOpen && mayChange && (
        <div role="row">
          <div role="cell">
            <RuleForm rule={rule} onChange={onChange} />
          </div>
        </div>
      )}
    </div>
  );
}
