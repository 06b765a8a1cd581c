import { Plus, X } from 'lucide-react';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { Input } from '../../ui/field.js';
import { SecretInput } from '../../ui/secret-input.js';
import { configPath, type FieldErrors } from './field-errors.js';
import type { Pair } from './server-draft.js';

interface PairsFieldProps {
  readonly field: 'env' | 'headers';
  readonly pairs: readonly Pair[];
  readonly errors: FieldErrors;
  readonly onChange: (pairs: readonly Pair[]) => void;
}

/** Headers or variables: names and values, most of which are secrets. */
export function PairsField({ field, pairs, errors, onChange }: PairsFieldProps) {
  const t = texts.servers.form[field];
  const change = (id: number, part: Partial<Pair>): void =>
    onChange(pairs.map((pair) => (pair.id === id ? { ...pair, ...part } : pair)));
  const add = (): void =>
    onChange([
      ...pairs,
      { id: Math.max(-1, ...pairs.map(({ id }) => id)) + 1, name: '', value: '' },
    ]);
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 text-small font-medium">{t.label}</legend>
      <div className="grid gap-2">
        {pairs.map((pair) => (
          <div key={pair.id}>
            <div className="flex gap-2">
              <Input
                mono
                aria-label={t.name}
                placeholder={t.example}
                value={pair.name}
                className="!w-2/5 shrink-0"
                onChange={(event) => change(pair.id, { name: event.target.value })}
              />
              <SecretInput
                aria-label={t.value(pair.name)}
                placeholder={texts.servers.form.value}
                value={pair.value}
                className="grow"
                onChange={(event) => change(pair.id, { value: event.target.value })}
              />
              <Button
                kind="ghost"
                icon={X}
                aria-label={`${texts.common.remove} ${pair.name}`}
                onClick={() => onChange(pairs.filter(({ id }) => id !== pair.id))}
              />
            </div>
            <Problem text={pair.name && errors.at(configPath(field, pair.name))} />
          </div>
        ))}
      </div>
      <Button kind="ghost" small icon={Plus} className="mt-1 -ml-2" onClick={add}>
        {t.add}
      </Button>
    </fieldset>
  );
}

function Problem({ text }: { readonly text: string | undefined }) {
  if (text === undefined || text === '') return null;
  return <p className="text-bad mt-1 text-label">{text}</p>;
}
