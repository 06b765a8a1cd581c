import { Link } from '@tanstack/react-router';
import { ClipboardPaste, type LucideIcon, PencilLine, SquareTerminal } from 'lucide-react';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { classNames } from '../../ui/class-names.js';
import { CodeBlock } from '../../ui/code-block.js';
import { NoRight } from '../../ui/pane.js';

const { overview: t } = texts;

/** The first visit: one thing to do, and what comes after it. */
export function FirstSteps() {
  const mayAdd = useMay('admin');
  return (
    <div className="mx-auto max-w-200 px-5 py-10">
      <ol className="text-text-2 mb-10 flex flex-wrap items-center gap-x-4 gap-y-2">
        {[t.step1, t.step2, t.step3].map((step, at) => (
          <li key={step} className="flex items-center gap-2">
            <span
              className={classNames(
                'grid size-5 place-items-center rounded-full text-label',
                at === 0 ? 'bg-accent text-on-accent' : 'border-line-2 border',
              )}
            >
              {at + 1}
            </span>
            <span className={at === 0 ? 'text-text font-semibold' : ''}>{step}</span>
          </li>
        ))}
      </ol>
      <h2 className="text-verdict font-semibold">{t.emptyTitle}</h2>
      <p className="text-text-2 mt-1 mb-6">{t.emptyLead}</p>
      {mayAdd ? (
        <div className="grid gap-3 tab:grid-cols-2">
          <Choice add="paste" icon={ClipboardPaste} title={t.paste} hint={t.pasteHint} />
          <Choice add="form" icon={PencilLine} title={t.form} hint={t.formHint} />
          <div className="border-line rounded-3 border p-4 tab:col-span-2">
            <p className="mb-2 flex items-center gap-2 font-semibold">
              <SquareTerminal size={16} aria-hidden /> {t.command}
            </p>
            <CodeBlock code={t.commandHint} />
          </div>
        </div>
      ) : (
        <NoRight>{texts.common.noRight('admin')}</NoRight>
      )}
    </div>
  );
}

interface ChoiceProps {
  readonly add: string;
  readonly icon: LucideIcon;
  readonly title: string;
  readonly hint: string;
}

function Choice({ add, icon: Icon, title, hint }: ChoiceProps) {
  return (
    <Link
      to="/servers"
      search={{ add }}
      className="border-line hover:bg-hover text-text rounded-3 border p-4"
    >
      <span className="flex items-center gap-2 font-semibold">
        <Icon size={16} aria-hidden /> {title}
      </span>
      <span className="text-text-2 mt-1 block">{hint}</span>
    </Link>
  );
}
