import { texts } from '../../texts/index.js';
import { Field, Input, TextArea } from '../../ui/field.js';
import { configPath, type FieldErrors } from './field-errors.js';
import { OAuthFields } from './oauth-fields.js';
import { PairsField } from './pairs-field.js';
import type { ServerDraft } from './server-draft.js';

const t = texts.servers.form;

interface ConnectionFieldsProps {
  readonly draft: ServerDraft;
  readonly errors: FieldErrors;
  readonly onChange: (part: Partial<ServerDraft>) => void;
}

export function ConnectionFields(props: ConnectionFieldsProps) {
  return props.draft.transport === 'STDIO' ? (
    <ProgramFields {...props} />
  ) : (
    <AddressFields {...props} />
  );
}

function ProgramFields({ draft, errors, onChange }: ConnectionFieldsProps) {
  return (
    <>
      <Field label={t.command} hint={t.commandHint} error={errors.at(configPath('command'))}>
        <Input
          mono
          value={draft.command}
          placeholder="npx"
          onChange={(event) => onChange({ command: event.target.value })}
        />
      </Field>
      <Field label={t.args} aside={t.argsAside} error={errors.at(configPath('args'))}>
        <TextArea
          mono
          rows={Math.min(8, Math.max(3, draft.args.split('\n').length))}
          value={draft.args}
          placeholder={'-y\n@modelcontextprotocol/server-memory'}
          onChange={(event) => onChange({ args: event.target.value })}
        />
      </Field>
      <PairsField
        field="env"
        pairs={draft.env}
        errors={errors}
        onChange={(env) => onChange({ env })}
      />
      <Field label={t.cwd} hint={t.cwdHint} error={errors.at(configPath('cwd'))}>
        <Input mono value={draft.cwd} onChange={(event) => onChange({ cwd: event.target.value })} />
      </Field>
    </>
  );
}

function AddressFields({ draft, errors, onChange }: ConnectionFieldsProps) {
  const hasOAuth = draft.oauth.grant !== '' || errors.at(configPath('oauth')) !== undefined;
  return (
    <>
      <Field
        label={t.url}
        hint={t.urlHint}
        error={errors.at(configPath('url'), configPath('base_url'))}
      >
        <Input
          mono
          type="text"
          inputMode="url"
          value={draft.url}
          placeholder={t.urlExample[draft.transport === 'SSE' ? 'SSE' : 'HTTP']}
          onChange={(event) => onChange({ url: event.target.value })}
        />
      </Field>
      <PairsField
        field="headers"
        pairs={draft.headers}
        errors={errors}
        onChange={(headers) => onChange({ headers })}
      />
      <details open={hasOAuth}>
        <summary className="text-text-2 text-small font-medium">{t.oauth.title}</summary>
        <div className="mt-3">
          <OAuthFields
            oauth={draft.oauth}
            errors={errors}
            onChange={(oauth) => onChange({ oauth })}
          />
        </div>
      </details>
    </>
  );
}
