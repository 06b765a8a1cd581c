import type { TokenView } from '@app/api-client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Ellipsis, RefreshCw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { toast } from 'sonner';
import { grantsQuery, tokensQuery } from '../../api/queries.js';
import { ask } from '../../api/service.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { ConfirmDialog } from '../../ui/dialog.js';
import { Menu } from '../../ui/menu.js';
import { RotateToken } from './rotate-token.js';

const { access: t } = texts;

interface TokenActionsProps {
  readonly token: TokenView;
  readonly id: string;
}

export function TokenActions({ token, id }: TokenActionsProps) {
  const [doing, setDoing] = useState<'rotate' | 'revoke'>();
  const close = (): void => setDoing(undefined);
  return (
    <>
      <Menu
        trigger={
          <Button
            kind="ghost"
            small
            icon={Ellipsis}
            aria-label={`${texts.views.moreActions}: ${token.name}`}
          />
        }
        items={[
          { label: t.rotate, icon: RefreshCw, onSelect: () => setDoing('rotate') },
          { label: t.revoke, icon: Trash2, isDangerous: true, onSelect: () => setDoing('revoke') },
        ]}
      />
      {doing === 'rotate' && <RotateToken id={id} name={token.name} onClose={close} />}
      {doing === 'revoke' && <RevokeToken id={id} name={token.name} onClose={close} />}
    </>
  );
}

interface RevokeTokenProps {
  readonly id: string;
  readonly name: string;
  readonly onClose: () => void;
}

/** It leaves the list at once, and comes back with the reason if that is refused. */
function RevokeToken({ id, name, onClose }: RevokeTokenProps) {
  const client = useQueryClient();
  const { data: grants = [] } = useQuery(grantsQuery);
  const key = tokensQuery.queryKey;
  const revoke = useMutation({
    mutationFn: () => ask((api) => api.revokeToken({ path: { id } })),
    onMutate: async () => {
      await client.cancelQueries({ queryKey: key });
      const before = client.getQueryData(key);
      client.setQueryData(key, (all) => all?.filter((token) => token.id !== id));
      return { before };
    },
    onError: (_error, _given, saved) => client.setQueryData(key, saved?.before),
    onSuccess: () => toast.success(t.revoked(name)),
    onSettled: () => client.invalidateQueries({ queryKey: key }),
  });
  const own = grants.filter(
    ({ subject_kind: kind, subject }) => kind === 'token' && subject === name,
  );
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={t.revokeTitle(name)}
      confirmLabel={t.revokeDo(name)}
      onConfirm={() => revoke.mutate()}
    >
      {t.revokeEffect(own.length)}
    </ConfirmDialog>
  );
}
