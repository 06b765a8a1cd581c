import { useMutation, useQueryClient } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import type { IssueTokenDto, SecretTokenView } from '@app/api-client';
import { ask } from '../../api/service.js';
import { fieldErrors } from '../../servers/form/field-errors.js';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Banner } from '../../ui/banner.js';
import { Button } from '../../ui/button.js';
import { CodeBlock } from '../../ui/code-block.js';
import { Checkbox, Field, Input, Select } from '../../ui/field.js';
import { Segmented } from '../../ui/segmented.js';
import { useAddressState } from '../../ui/tabs.js';
import { PLACEHOLDER } from './snippets.js';

const t = texts.connect.token;
const roles = ['caller', 'viewer'] as const;
const DAY_S = 86_400;

interface TokenStepProps {
  /** Empty: no view. */
  readonly view: string;
  /** The token that the snippets hold. */
  readonly onToken: (token: string) => void;
}

/** Only a token that was made here can be shown, and only until the page is left. */
export function TokenStep({ view, onToken }: TokenStepProps) {
  const [kind, setKind] = useAddressState('token', 'known');
  const [made, setMade] = useState<SecretTokenView>();
  const mayMake = useMay('admin');
  if (!mayMake) return <p className="text-text-2 text-small">{`${t.known} ${t.mayNot}`}</p>;
  if (made) {
    const again = (): void => {
      setMade(undefined);
      onToken(PLACEHOLDER);
    };
    return (
      <>
        <Banner kind="warn" icon={KeyRound} action={<Button onClick={again}>{t.another}</Button>}>
          <strong>{t.made(made.name)}</strong> {t.isIn}
        </Banner>
        <CodeBlock code={made.token} wrap className="mt-2" />
      </>
    );
  }
  return (
    <>
      <Segmented
        label={t.kind}
        value={kind === 'new' ? 'new' : 'known'}
        options={[
          { value: 'known', label: t.kinds.known },
          { value: 'new', label: t.kinds.new },
        ]}
        onChange={setKind}
      />
      {kind === 'new' ? (
        <TokenForm
          view={view}
          onMade={(token) => {
            setMade(token);
            onToken(token.token);
          }}
        />
      ) : (
        <p className="text-text-2 mt-2 text-small">{t.known}</p>
      )}
    </>
  );
}

interface TokenFormProps {
  readonly view: string;
  readonly onMade: (token: SecretTokenView) => void;
}

function TokenForm({ view, onMade }: TokenFormProps) {
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [role, setRole] = useState<(typeof roles)[number]>('caller');
  const [days, setDays] = useState('90');
  const [isPinned, setPinned] = useState(view !== '');
  const making = useMutation({
    mutationFn: (body: IssueTokenDto) => ask((api) => api.issueToken({ body })),
    meta: { showsError: true },
    onSuccess: async (token) => {
      onMade(token);
      await client.invalidateQueries({ queryKey: ['tokens'] });
    },
  });
  const errors = fieldErrors(making.error);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    making.mutate({
      name: name.trim(),
      role,
      ...(days !== '' && { expires_in_seconds: Number(days) * DAY_S }),
      ...(isPinned && view !== '' && { view }),
    });
  };
  return (
    <form onSubmit={submit} noValidate className="mt-3 grid max-w-130 gap-3 tab:grid-cols-3">
      <Field
        label={t.name}
        hint={t.nameHint}
        error={errors.at('name') ?? (errors.count === 0 ? making.error?.message : undefined)}
        className="tab:col-span-3"
      >
        <Input mono value={name} onChange={(event) => setName(event.target.value)} />
      </Field>
      <Field label={t.role} className="tab:col-span-2">
        <Select
          value={role}
          onChange={({ target: { value } }) =>
            setRole(roles.find((one) => one === value) ?? 'caller')
          }
        >
          {roles.map((value) => (
            <option key={value} value={value}>
              {t.roles[value]}
            </option>
          ))}
        </Select>
      </Field>
      <Field label={t.expires}>
        <Select value={days} onChange={(event) => setDays(event.target.value)}>
          {Object.entries(t.expiries).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </Select>
      </Field>
      {view !== '' && (
        <label className="flex items-center gap-2 tab:col-span-3">
          <Checkbox checked={isPinned} onChange={(event) => setPinned(event.target.checked)} />
          {t.onlyView(view)}
        </label>
      )}
      <div className="tab:col-span-3">
        <Button type="submit" kind="primary" busy={making.isPending} disabled={name.trim() === ''}>
          {t.make}
        </Button>
      </div>
    </form>
  );
}
