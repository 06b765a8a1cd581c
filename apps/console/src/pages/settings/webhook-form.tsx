import type { CreateWebhookDto } from '@app/api-client';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { serversQuery } from '../../api/queries.js';
import { texts } from '../../texts/index.js';
import { Checkbox, Field, Input, Select } from '../../ui/field.js';

const { settings: t } = texts;

const topics = ['server', 'health', 'approval', 'catalogue', 'policy', 'session'] as const;
type Topic = (typeof topics)[number];

interface WebhookFormProps {
  readonly id: string;
  readonly onSubmit: (webhook: CreateWebhookDto) => void;
}

export function WebhookForm({ id, onSubmit }: WebhookFormProps) {
  const [url, setUrl] = useState('');
  const [description, setDescription] = useState('');
  const [server, setServer] = useState('');
  const [chosen, setChosen] = useState<readonly Topic[]>(['server', 'health', 'approval']);
  const { data: servers = [] } = useQuery(serversQuery);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (chosen.length === 0) return;
    onSubmit({
      url: url.trim(),
      topics: [...chosen],
      ...(description.trim() !== '' && { description: description.trim() }),
      ...(server !== '' && { servers: [server] }),
    });
  };
  return (
    <form id={id} onSubmit={submit} className="grid gap-4">
      <Field label={t.webhookUrl} hint={t.webhookUrlHint}>
        <Input
          mono
          type="url"
          required
          placeholder="https://"
          value={url}
          onChange={(event) => setUrl(event.target.value)}
        />
      </Field>
      <Field label={t.webhookWhat}>
        <Input value={description} onChange={(event) => setDescription(event.target.value)} />
      </Field>
      <Topics chosen={chosen} onChange={setChosen} />
      <Field label={t.ofServers}>
        <Select value={server} onChange={(event) => setServer(event.target.value)}>
          <option value="">{t.allServers}</option>
          {servers.map(({ id: serverId, name }) => (
            <option key={serverId}>{name}</option>
          ))}
        </Select>
      </Field>
    </form>
  );
}

interface TopicsProps {
  readonly chosen: readonly Topic[];
  readonly onChange: (chosen: readonly Topic[]) => void;
}

function Topics({ chosen, onChange }: TopicsProps) {
  const toggle = (topic: Topic): void =>
    onChange(chosen.includes(topic) ? chosen.filter((one) => one !== topic) : [...chosen, topic]);
  return (
    <fieldset>
      <legend className="mb-1 text-small font-medium">{t.topics}</legend>
      <div className="grid grid-cols-2">
        {topics.map((topic) => (
          <label key={topic} className="flex min-h-(--row) cursor-pointer items-center gap-2">
            <Checkbox checked={chosen.includes(topic)} onChange={() => toggle(topic)} />
            {t.topicNames[topic]}
          </label>
        ))}
      </div>
      {chosen.length === 0 && <p className="text-bad text-label">{t.topicsMissing}</p>}
    </fieldset>
  );
}
