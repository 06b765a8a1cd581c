import type { GrantView } from '@app/api-client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useState } from 'react';
import { grantsQuery } from '../../api/queries.js';
import { ask } from '../../api/service.js';
import { texts } from '../../texts/index.js';
import { Button } from '../button.js';
import { ConfirmDialog } from '../dialog.js';
import { subjectOf } from './subjects.js';

const { policy: t } = texts;

/** The grant leaves the list at once, and comes back with the reason if that is refused. */
export function WithdrawButton({ grant }: { readonly grant: GrantView }) {
  const client = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const key = grantsQuery.queryKey;
  const withdraw = useMutation({
    mutationFn: () => ask((api) => api.withdrawGrant({ path: { id: grant.id } })),
    onMutate: async () => {
      setAsking(false);
      await client.cancelQueries({ queryKey: key });
      const before = client.getQueryData(key);
      client.setQueryData(key, (all) => all?.filter(({ id }) => id !== grant.id));
      return { before };
    },
    onError: (_error, _given, saved) => client.setQueryData(key, saved?.before),
    onSettled: () => client.invalidateQueries({ queryKey: key }),
  });
  const subject = subjectOf(grant);
  return (
    <>
      <Button
        kind="ghost"
        small
        icon={X}
        aria-label={`${t.withdraw} ${subject}`}
        title={t.withdraw}
        onClick={() => setAsking(true)}
      />
      <ConfirmDialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={t.withdrawTitle(subject, grant.view)}
        confirmLabel={t.withdraw}
        onConfirm={() => withdraw.mutate()}
      >
        {t.withdrawEffect}
      </ConfirmDialog>
    </>
  );
}
