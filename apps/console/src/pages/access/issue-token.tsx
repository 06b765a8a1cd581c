import type { IssueTokenDto } from '@app/api-client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useId } from 'react';
import { reasonOf } from '../../api/refused.js';
import { ask } from '../../api/service.js';
import { texts } from '../../texts/index.js';
import { Banner } from '../../ui/banner.js';
import { Button } from '../../ui/button.js';
import { Drawer } from '../../ui/dialog.js';
import { IssueForm } from './issue-form.js';
import { SecretShown } from './secret-shown.js';

const { access: t } = texts;

interface IssueTokenProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function IssueToken({ isOpen, onClose }: IssueTokenProps) {
  const form = useId();
  const client = useQueryClient();
  const issue = useMutation({
    mutationFn: (body: IssueTokenDto) => ask((api) => api.issueToken({ body })),
    meta: { showsError: true },
    // The secret is held by this dialog only, and goes with it.
    gcTime: 0,
    onSettled: () => client.invalidateQueries({ queryKey: ['tokens'] }),
  });
  const close = (): void => {
    issue.reset();
    onClose();
  };
  if (issue.data) {
    return <SecretShown name={issue.data.name} secret={issue.data.token} onClose={close} />;
  }
  return (
    <Drawer
      isOpen={isOpen}
      onClose={close}
      title={t.issueTitle}
      footer={
        <>
          <Button onClick={close}>{texts.common.cancel}</Button>
          <Button type="submit" form={form} kind="primary" busy={issue.isPending}>
            {t.issueDo}
          </Button>
        </>
      }
    >
      <div className="grid gap-3 p-4">
        {issue.isError && <Banner kind="bad">{reasonOf(issue.error)}</Banner>}
        <IssueForm id={form} onSubmit={(body) => issue.mutate(body)} />
      </div>
    </Drawer>
  );
}
