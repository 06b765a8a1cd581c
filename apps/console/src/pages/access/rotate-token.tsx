import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { reasonOf } from '../../api/refused.js';
import { ask } from '../../api/service.js';
import { texts } from '../../texts/index.js';
import { Banner } from '../../ui/banner.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { Field, Select } from '../../ui/field.js';
import { SecretShown } from './secret-shown.js';

const { access: t } = texts;

const overlaps = [
  { value: 'hour', label: t.overlaps.hour, seconds: 3_600 },
  { value: 'none', label: t.overlaps.none, seconds: 0 },
  { value: 'day', label: t.overlaps.day, seconds: 86_400 },
  { value: 'week', label: t.overlaps.week, seconds: 604_800 },
] as const;

interface RotateTokenProps {
  readonly id: string;
  readonly name: string;
  readonly onClose: () => void;
}

/** Another secret, while the one before is accepted for some time. */
export function RotateToken({ id, name, onClose }: RotateTokenProps) {
  const client = useQueryClient();
  const [overlap, setOverlap] = useState<string>('hour');
  const rotate = useMutation({
    mutationFn: (seconds: number) =>
      ask((api) => api.rotateToken({ path: { id }, body: { overlap_seconds: seconds } })),
    meta: { showsError: true },
    // The secret is held by this dialog only, and goes with it.
    gcTime: 0,
    onSettled: () => client.invalidateQueries({ queryKey: ['tokens'] }),
  });
  if (rotate.data) return <SecretShown name={name} secret={rotate.data.token} onClose={onClose} />;
  const seconds = overlaps.find(({ value }) => value === overlap)?.seconds ?? 0;
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t.rotateTitle(name)}
      footer={
        <>
          <Button onClick={onClose}>{texts.common.cancel}</Button>
          <Button kind="primary" busy={rotate.isPending} onClick={() => rotate.mutate(seconds)}>
            {t.rotateDo}
          </Button>
        </>
      }
    >
      <p className="text-text-2 mb-3">{t.rotateHint}</p>
      {rotate.isError && (
        <Banner kind="bad" className="mb-3">
          {reasonOf(rotate.error)}
        </Banner>
      )}
      <Field label={t.overlapLabel}>
        <Select value={overlap} onChange={(event) => setOverlap(event.target.value)}>
          {overlaps.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </Select>
      </Field>
    </Dialog>
  );
}
