import type { ViewView } from '@app/api-client';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { Copy, Ellipsis, Layers, Trash2 } from 'lucide-react';
import { viewsQuery } from '../../api/queries.js';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy-button.js';
import { LinkButton } from '../../ui/link-button.js';
import { useMediaQuery } from '../../ui/media-query.js';
import { Menu } from '../../ui/menu.js';
import { ForScope } from '../../ui/for-scope.js';
import { PageHeader } from '../../ui/page-header.js';
import { Empty, ErrorPane, SkeletonRows } from '../../ui/pane.js';
import { ExplainPane } from '../../ui/policy/explain-pane.js';
import { useAddressState } from '../../ui/tabs.js';
import { CreateView } from './create-view.js';
import { PreviewPane } from './preview-pane.js';
import { RemoveView } from './remove-view.js';
import { useViewDraft } from './use-view-draft.js';
import { addressOf } from './view-address.js';
import { ViewEditor } from './view-editor.js';
import { ViewGrants } from './view-grants.js';
import { ViewLinks } from './view-links.js';

const { views: t } = texts;

export function ViewPage() {
  return (
    <ForScope scope="operate" title={t.title}>
      <OneView />
    </ForScope>
  );
}

function OneView() {
  const { slug = '' } = useParams({ strict: false });
  const views = useQuery(viewsQuery);
  const view = views.data?.find((one) => one.slug === slug);
  if (view) return <LoadedView key={view.id} view={view} views={views.data ?? []} />;
  return (
    <>
      <PageHeader title={slug} />
      {views.isPending && <SkeletonRows />}
      {views.isError && (
        <ErrorPane
          title={texts.errors.couldNotBeRead(slug)}
          error={views.error}
          onRetry={() => void views.refetch()}
        />
      )}
      {views.data && (
        <Empty
          icon={Layers}
          title={t.notFound}
          action={<LinkButton to="/views">{t.all}</LinkButton>}
        />
      )}
    </>
  );
}

interface LoadedViewProps {
  readonly view: ViewView;
  readonly views: readonly ViewView[];
}

function LoadedView({ view, views }: LoadedViewProps) {
  const draft = useViewDraft(view);
  return (
    <>
      <ViewHeader view={view} />
      <div className="flex flex-col rail:min-h-full rail:flex-row">
        <div className="border-line order-3 shrink-0 rail:order-1 rail:w-56 rail:border-r">
          <ViewLinks views={views} current={view.slug} />
          <ViewGrants view={view} />
        </div>
        <div className="min-w-0 grow rail:order-2">
          <ViewEditor view={view} edit={draft} />
          <ExplainPane view={view.slug} />
        </div>
        <div className="border-line order-2 min-w-0 shrink-0 rail:order-3 rail:w-80 rail:border-l">
          <PreviewPane slug={view.slug} rules={draft.draft.rules} />
        </div>
      </div>
    </>
  );
}

function ViewHeader({ view: { slug } }: { readonly view: ViewView }) {
  const mayChange = useMay('admin');
  const [asking, setAsking] = useAddressState('do', '');
  const isNarrow = useMediaQuery('(max-width: 639px)');
  const close = (): void => setAsking('');
  return (
    <>
      <PageHeader
        name={slug}
        title={
          <>
            <span className="text-text-2 hidden font-normal tab:inline">{t.title} / </span>
            <span className="font-mono">{slug}</span>
          </>
        }
      >
        <CopyButton
          text={addressOf(slug)}
          small={false}
          {...(!isNarrow && { label: t.copyAddress })}
        />
        {mayChange && (
          <Menu
            trigger={<Button icon={Ellipsis} aria-label={t.moreActions} title={t.moreActions} />}
            items={[
              { label: t.clone, icon: Copy, onSelect: () => setAsking('clone') },
              ...(slug === 'default'
                ? []
                : [
                    {
                      label: t.remove,
                      icon: Trash2,
                      isDangerous: true,
                      onSelect: () => setAsking('remove'),
                    },
                  ]),
            ]}
          />
        )}
      </PageHeader>
      {mayChange && (
        <>
          <CreateView isOpen={asking === 'clone'} onClose={close} from={slug} />
          <RemoveView isOpen={asking === 'remove'} onClose={close} slug={slug} />
        </>
      )}
    </>
  );
}
