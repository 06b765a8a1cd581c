import { useQuery } from '@tanstack/react-query';
import { Network, RotateCw } from 'lucide-react';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';
import { CopyButton } from '../../ui/copy-button.js';
import { PageHeader } from '../../ui/page-header.js';
import { Empty, NoRight, SkeletonRows } from '../../ui/pane.js';
import { useAddressState } from '../../ui/tabs.js';
import { AnswerPane } from './answer-pane.js';
import { AskForm, maxResultsOf } from './ask-form.js';
import { FailedPane } from './failed-pane.js';
import { FanOutPane } from './fan-out-pane.js';
import { answerQuery, type QueryAnswer } from './query-answer.js';
import { TargetsPane } from './targets-pane.js';
import { TokensPane } from './tokens-pane.js';

const { query: t } = texts;

export function QueryPage() {
  const mayAsk = useMay('call');
  const [text] = useAddressState('q', '');
  const [server] = useAddressState('server', '');
  const [most] = useAddressState('most', '30');
  const answer = useQuery({
    ...answerQuery({ text, server, maxResults: maxResultsOf(most) }),
    ...(!mayAsk && { enabled: false }),
  });
  const isAsked = text.trim() !== '';
  return (
    <>
      <PageHeader title={t.title}>
        {isAsked && (
          <>
            <span className="hidden rail:block">
              <CopyButton text={commandOf(text, server)} label={t.copyCommand} small={false} />
            </span>
            <span className="hidden tab:block">
              <CopyButton text={window.location.href} label={texts.common.copyLink} small={false} />
            </span>
            <Button icon={RotateCw} busy={answer.isFetching} onClick={() => void answer.refetch()}>
              <span className="sr-only tab:not-sr-only">{t.askAgain}</span>
            </Button>
          </>
        )}
      </PageHeader>
      {!mayAsk && <NoRight>{texts.common.noRight('call')}</NoRight>}
      {mayAsk && <AskForm isAsking={answer.isFetching} onAskAgain={() => void answer.refetch()} />}
      {mayAsk && !isAsked && (
        <Empty icon={Network} title={t.emptyTitle}>
          {t.emptyHint}
        </Empty>
      )}
      {answer.isLoading && (
        <>
          <p className="text-text-2 px-5 pt-3" role="status">
            {t.asking}
          </p>
          <SkeletonRows />
        </>
      )}
      {answer.isError && <FailedPane error={answer.error} onRetry={() => void answer.refetch()} />}
      {answer.data && <Answered answer={answer.data} />}
    </>
  );
}

/** The same question on the command line. */
function commandOf(text: string, server: string): string {
  const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;
  return `switchboard query ${quoted(text)}${server === '' ? '' : ` --server ${quoted(server)}`} --explain`;
}

/** The fan-out, what it was merged into, and beside them what that saved and why these tools were asked. */
function Answered({ answer }: { readonly answer: QueryAnswer }) {
  const { explanation } = answer.metadata;
  return (
    <div className="border-line flex flex-col border-t rail:flex-row">
      <div className="min-w-0 grow">
        <FanOutPane answer={answer} />
        <AnswerPane answer={answer} />
      </div>
      <aside className="border-line min-w-0 shrink-0 rail:w-80 rail:border-l">
        {explanation ? (
          <>
            <TokensPane explanation={explanation} />
            <TargetsPane explanation={explanation} />
          </>
        ) : (
          <p className="text-text-2 p-5">{t.explain}</p>
        )}
      </aside>
    </div>
  );
}
