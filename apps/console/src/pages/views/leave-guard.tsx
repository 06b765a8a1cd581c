import { useBlocker } from '@tanstack/react-router';
import { texts } from '../../texts/index.js';
import { ConfirmDialog } from '../../ui/dialog.js';

const { views: t } = texts;

/** Asks before changes that are not saved are lost; moving within the page loses nothing. */
export function LeaveGuard({ isChanged }: { readonly isChanged: boolean }) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isChanged && current.pathname !== next.pathname,
    enableBeforeUnload: isChanged,
    withResolver: true,
  });
  return (
    <ConfirmDialog
      isOpen={blocker.status === 'blocked'}
      onClose={() => blocker.reset?.()}
      title={t.leaveTitle}
      confirmLabel={t.leave}
      onConfirm={() => blocker.proceed?.()}
    >
      {t.leaveEffect}
    </ConfirmDialog>
  );
}
