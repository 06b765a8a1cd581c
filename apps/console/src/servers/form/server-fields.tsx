import { useState } from 'react';
import { texts } from '../../texts/index.js';
import { Checkbox, Field, Input, Select } from '../../ui/field.js';
import { Segmented } from '../../ui/segmented.js';
import { ConnectionFields } from './connection-fields.js';
import { ExchangeFields } from './exchange-fields.js';
import { configPath, type FieldErrors } from './field-errors.js';
import type { Credentials, ServerDraft, Transport, Trust } from './server-draft.js';

const t = texts.servers.form;
const transports: readonly Transport[] = ['STDIO', 'HTTP', 'SSE'];
const modes: readonly Credentials[] = ['shared', 'per_user', 'exchange'];
const trusts: readonly Trust[] = ['auto', 'pinned', 'review', 'locked'];

const exchangePaths = [
  configPath('exchange'),
  ...['token_url', 'client_id', 'client_secret', 'audience', 'scope'].map((field) =>
    configPath('exchange', field),
  ),
];

export interface ServerFieldsProps {
  readonly draft: ServerDraft;
  readonly errors: FieldErrors;
  /** A registered server keeps its transport. */
  readonly isNew: boolean;
  readonly onChange: (part: Partial<ServerDraft>) => void;
}

/** What registering a server knows; the same for a new one and a change. */
export function ServerFields({ draft, errors, isNew, onChange }: ServerFieldsProps) {
  return (
    <div className="grid gap-4">
      {isNew && (
        <div>
          <Segmented
            label={t.transport}
            value={draft.transport}
            options={transports.map((value) => ({ value, label: t.transports[value] }))}
            onChange={(transport) => onChange({ transport })}
          />
        </div>
      )}
      <Field label={t.name} hint={isNew ? t.nameHint : t.renameHint} error={errors.at('name')}>
        <Input
          mono
          required
          value={draft.name}
          onChange={(event) => onChange({ name: event.target.value })}
        />
      </Field>
      <ConnectionFields draft={draft} errors={errors} onChange={onChange} />
      <More draft={draft} errors={errors} isNew={isNew} onChange={onChange} />
    </div>
  );
}

function More({ draft, errors, isNew, onChange }: ServerFieldsProps) {
  const [isOpen, setOpen] = useState(!isNew);
  const hasError =
    errors.at('description', 'health_check_url', 'trust', 'credentials') !== undefined ||
    errors.at(...exchangePaths) !== undefined;
  return (
    <details open={isOpen || hasError} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="text-text-2 text-small font-medium">{t.more}</summary>
      <div className="mt-3 grid gap-4">
        <Field label={t.description} error={errors.at('description')}>
          <Input
            value={draft.description}
            onChange={(event) => onChange({ description: event.target.value })}
          />
        </Field>
        <Field
          label={t.credentials}
          hint={t.credentialHints[draft.credentials]}
          error={errors.at('credentials')}
        >
          <Select
            value={draft.credentials}
            onChange={({ target: { value } }) =>
              onChange({ credentials: modes.find((mode) => mode === value) ?? 'shared' })
            }
          >
            {modes.map((value) => (
              <option key={value} value={value}>
                {t.credentialModes[value]}
              </option>
            ))}
          </Select>
        </Field>
        {draft.credentials === 'exchange' && draft.transport !== 'STDIO' && (
          <ExchangeFields
            exchange={draft.exchange}
            errors={errors}
            onChange={(exchange) => onChange({ exchange })}
          />
        )}
        <Field label={t.trust} hint={t.trustHints[draft.trust]} error={errors.at('trust')}>
          <Select
            value={draft.trust}
            onChange={({ target: { value } }) =>
              onChange({ trust: trusts.find((trust) => trust === value) ?? '' })
            }
          >
            <option value="">{t.trusts['']}</option>
            {trusts.map((value) => (
              <option key={value} value={value}>
                {t.trusts[value]}
              </option>
            ))}
          </Select>
        </Field>
        <Field label={t.healthUrl} hint={t.healthUrlHint} error={errors.at('health_check_url')}>
          <Input
            mono
            value={draft.healthCheckUrl}
            onChange={(event) => onChange({ healthCheckUrl: event.target.value })}
          />
        </Field>
        {isNew && (
          <label className="flex items-center gap-2">
            <Checkbox
              checked={draft.autoConnect}
              onChange={(event) => onChange({ autoConnect: event.target.checked })}
            />
            {t.autoConnect}
          </label>
        )}
      </div>
    </details>
  );
}
